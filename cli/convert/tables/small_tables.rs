//! The tables that grow with classes, threads and stacks, not with objects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use graph::{FieldTable, Heap, Local, SiteTotal};
use reader::{Amount, StackFrame, Stacks};

use super::table_file::{Columns, TableFile};
use super::Export;
use crate::answers::path::root_name;
use crate::answers::values::type_name;
use crate::output::outcome::Failure;

/// A site: what the profiler counted, and what its objects retain.
#[derive(Clone, Copy, Debug, Default)]
struct SiteRow {
    live: Option<Amount>,
    allocated: Option<Amount>,
    retained: Option<SiteTotal>,
}

impl Export<'_> {
    /// Writes all small tables; their bytes.
    pub(super) fn write_small(&self, folder: &Path, fields: &FieldTable) -> Result<u64, Failure> {
        let stacks = self.loaded.heap.stacks();
        let write = |name, columns| -> Result<u64, Failure> {
            let mut table = TableFile::new(folder, name, &self.name);
            table.write(columns)?;
            Ok(table.close()?)
        };
        let sites = self.sites();
        let bytes = [
            write("dump", self.dump())?,
            write("class", self.classes())?,
            write("field", field_values(fields))?,
            write("root", self.roots())?,
            write("thread", self.threads()?)?,
            write("frame", self.frames(&stacks, &sites))?,
            write("site", site_values(&sites))?,
        ];
        Ok(bytes.iter().sum())
    }

    fn dump(&self) -> Columns {
        let (heap, retained) = (&self.loaded.heap, &self.loaded.retained);
        let words = &heap.directory().strings.facts().words;
        let word = |name: &str| words.get(name).map(String::as_str);
        let number = |name: &str| word(name).and_then(|word| word.parse::<u64>().ok());
        let made = heap.header().time_millis;
        let time = i64::try_from(made).ok().filter(|made| *made != 0);
        Columns::default()
            .texts("file", [Some(self.loaded.file.short_name())])
            .times("time", [time])
            .longs("file_bytes", [self.loaded.file.bytes])
            .longs("objects", [u64::from(heap.objects())])
            .longs("reachable", [u64::from(retained.reachable())])
            .longs("bytes", [retained.total_bytes()])
            .longs("references", [heap.references()])
            .longs("dangling", [heap.dangling()])
            .longs("damaged", [heap.damaged()])
            .texts("rule", [Some(self.loaded.rule.name())])
            .flags("sizes_are_told", [heap.sizes().are_told])
            .texts("jvm", [word("jvm")])
            .texts("collector", [word("collector")])
            .texts("host", [word("host")])
            .longs("pid", [number("pid")])
            .longs("pause_us", [number("pause_us")])
    }

    fn classes(&self) -> Columns {
        let heap = &self.loaded.heap;
        let retained = &self.loaded.retained;
        let totals = retained.totals(heap, heap.classes(), |object| heap.class(object));
        let table = &heap.directory().classes;
        let classes = || 0..heap.classes();
        let above = |class: u32| {
            let above = table.at(class as usize)?.super_class;
            table.index(above).and_then(|at| u32::try_from(at).ok())
        };
        let loader = |class: u32| {
            let loader = table.at(class as usize)?.loader;
            heap.object(loader).filter(|_| loader != 0)
        };
        Columns::default()
            .ascending("class", classes())
            .texts("name", classes().map(|class| Some(heap.class_name(class))))
            .numbers("n", classes().map(|class| heap.object_of_class(class)))
            .numbers("super", classes().map(above))
            .numbers("loader", classes().map(loader))
            .longs("instances", totals.iter().map(|total| total.objects))
            .longs("shallow", totals.iter().map(|total| total.shallow_bytes))
            .longs("retained", totals.iter().map(|total| total.retained_bytes))
    }

    fn roots(&self) -> Columns {
        let heap = &self.loaded.heap;
        let global = heap.roots().iter();
        let global = global.map(|root| (root.object, root.kind, None, None));
        let held = |thread: u32| {
            let row = move |local: &Local| (local.object, local.kind, Some(thread), local.frame);
            heap.locals(thread).iter().map(row)
        };
        let threads = thread_objects(heap);
        let held = threads.values().flat_map(|thread| held(*thread));
        let rows: Vec<_> = global.chain(held).collect();
        Columns::default()
            .ascending("n", rows.iter().map(|row| row.0))
            .texts("kind", rows.iter().map(|row| Some(root_name(row.1))))
            .numbers("thread", rows.iter().map(|row| row.2))
            .numbers("frame", rows.iter().map(|row| row.3))
    }

    fn threads(&self) -> Result<Columns, Failure> {
        let heap = &self.loaded.heap;
        let threads = thread_objects(heap);
        let objects: Vec<u32> = threads.values().copied().collect();
        let names = self.loaded.check(heap.thread_names(&objects))?;
        let trace = |object: &u32| heap.thread_trace(*object);
        let retained = |object: &u32| self.loaded.retained.bytes(*object);
        Ok(Columns::default()
            .numbers("thread", threads.keys().copied())
            .numbers("n", objects.iter().copied())
            .texts("name", objects.iter().map(|object| names.get(object)))
            .numbers("trace", objects.iter().map(trace))
            .longs("retained", objects.iter().map(retained)))
    }

    /// The frames of all traces that a row of another table has.
    fn frames(&self, stacks: &Stacks, sites: &BTreeMap<(u32, String), SiteRow>) -> Columns {
        let heap = &self.loaded.heap;
        let of_objects = heap.traced().iter().map(|(_, trace)| *trace);
        let of_threads = heap.threads();
        let of_threads = of_threads.filter_map(|(_, object)| heap.thread_trace(object));
        let of_sites = sites.keys().map(|(trace, _)| *trace);
        let traces: BTreeSet<u32> = of_objects.chain(of_threads).chain(of_sites).collect();
        let rows: Vec<(u32, u32, &StackFrame)> = traces
            .iter()
            .flat_map(|trace| {
                let frames = (0..).zip(stacks.frames(*trace));
                frames.map(|(position, frame)| (*trace, position, frame))
            })
            .collect();
        Columns::default()
            .ascending("trace", rows.iter().map(|row| row.0))
            .numbers("position", rows.iter().map(|row| row.1))
            .texts("class", rows.iter().map(|row| Some(&row.2.class)))
            .texts("method", rows.iter().map(|row| Some(&row.2.method)))
            .texts("file", rows.iter().map(|row| row.2.source.as_ref()))
            // The file may have a negative number in place of a line.
            .signed(
                "line",
                rows.iter()
                    .map(|row| Some(row.2.line.into()).filter(|line| *line > 0)),
            )
    }

    fn sites(&self) -> BTreeMap<(u32, String), SiteRow> {
        let heap = &self.loaded.heap;
        let mut rows: BTreeMap<(u32, String), SiteRow> = BTreeMap::new();
        for site in heap.sites().iter().flat_map(|table| &table.rows) {
            let key = (site.trace, site.class.to_string());
            let row = rows.entry(key).or_default();
            (row.live, row.allocated) = (Some(site.live), site.allocated);
        }
        let live = self.loaded.retained.live_sites(heap, &heap.stacks());
        if let Some(live) = &live {
            // The profiler counts garbage, too.
            rows.values_mut()
                .for_each(|row| row.live = row.live.map(|_| Amount::default()));
            for site in &live.rows {
                let key = (site.trace, site.class.to_string());
                rows.entry(key).or_default().live = Some(site.live);
            }
        }
        for total in self.loaded.retained.sites(heap) {
            let key = (total.trace, heap.class_name(total.class));
            let row = rows.entry(key).or_default();
            row.retained.get_or_insert_default().add(&total);
        }
        rows
    }
}

/// The thread objects by their serials.
fn thread_objects(heap: &Heap<'_>) -> BTreeMap<u32, u32> {
    heap.threads().collect()
}

fn field_values(fields: &FieldTable) -> Columns {
    let rows = &fields.rows;
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    Columns::default()
        .ascending("field", 0..count)
        .numbers("class", rows.iter().map(|row| row.class))
        .texts("name", rows.iter().map(|row| Some(&row.name)))
        .texts("type", rows.iter().map(|row| Some(type_name(row.kind))))
        .flags("static", rows.iter().map(|row| row.is_static))
}

fn site_values(sites: &BTreeMap<(u32, String), SiteRow>) -> Columns {
    let rows = || sites.values();
    Columns::default()
        .numbers("trace", sites.keys().map(|key| key.0))
        .texts("class", sites.keys().map(|key| Some(&key.1)))
        .longs("live_bytes", rows().map(|row| Some(row.live?.bytes)))
        .longs("live_objects", rows().map(|row| Some(row.live?.objects)))
        .longs(
            "allocated_bytes",
            rows().map(|row| Some(row.allocated?.bytes)),
        )
        .longs(
            "allocated_objects",
            rows().map(|row| Some(row.allocated?.objects)),
        )
        .reals("objects", rows().map(|row| Some(row.retained?.objects)))
        .reals(
            "retained",
            rows().map(|row| Some(row.retained?.retained_bytes)),
        )
        .reals(
            "retained_error",
            rows().map(|row| Some(row.retained?.error_bytes)),
        )
}
