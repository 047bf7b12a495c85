//! The tables that grow with classes, threads and stacks, not with objects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use format::BasicType;
use graph::{FieldTable, Heap, Local};
use reader::{Amount, StackFrame, Stacks};

use super::table_file::{long, Column, Kind, TableFile, Values};
use super::{Export, Fault};
use crate::answer::path::root_name;

const DUMP: [Column; 16] = [
    ("file", Kind::Text),
    ("time", Kind::Time),
    ("file_bytes", Kind::Long),
    ("objects", Kind::Long),
    ("reachable", Kind::Long),
    ("bytes", Kind::Long),
    ("references", Kind::Long),
    ("dangling", Kind::Long),
    ("damaged", Kind::Long),
    ("rule", Kind::Text),
    ("sizes_are_told", Kind::Flag),
    ("jvm", Kind::Text),
    ("collector", Kind::Text),
    ("host", Kind::Text),
    ("pid", Kind::Long),
    ("pause_us", Kind::Long),
];

const CLASS: [Column; 8] = [
    ("class", Kind::Ascending),
    ("name", Kind::Text),
    ("n", Kind::Number),
    ("super", Kind::Number),
    ("loader", Kind::Number),
    ("instances", Kind::Long),
    ("shallow", Kind::Long),
    ("retained", Kind::Long),
];

const FIELD: [Column; 5] = [
    ("field", Kind::Ascending),
    ("class", Kind::Number),
    ("name", Kind::Text),
    ("type", Kind::Text),
    ("static", Kind::Flag),
];

const ROOT: [Column; 4] = [
    ("n", Kind::Ascending),
    ("kind", Kind::Text),
    ("thread", Kind::Number),
    ("frame", Kind::Number),
];

const THREAD: [Column; 5] = [
    ("thread", Kind::Number),
    ("n", Kind::Number),
    ("name", Kind::Text),
    ("trace", Kind::Number),
    ("retained", Kind::Long),
];

const FRAME: [Column; 6] = [
    ("trace", Kind::Ascending),
    ("position", Kind::Number),
    ("class", Kind::Text),
    ("method", Kind::Text),
    ("file", Kind::Text),
    ("line", Kind::Long),
];

const SITE: [Column; 9] = [
    ("trace", Kind::Number),
    ("class", Kind::Text),
    ("live_bytes", Kind::Long),
    ("live_objects", Kind::Long),
    ("allocated_bytes", Kind::Long),
    ("allocated_objects", Kind::Long),
    ("objects", Kind::Real),
    ("retained", Kind::Real),
    ("retained_error", Kind::Real),
];

/// A site: what the profiler counted, and what its objects retain.
#[derive(Clone, Copy, Debug, Default)]
struct SiteRow {
    live: Option<Amount>,
    allocated: Option<Amount>,
    /// Objects, retained bytes and their standard error.
    retained: Option<(f64, f64, f64)>,
}

impl Export<'_, '_> {
    /// Writes all small tables; their bytes.
    pub(super) fn write_small(&self, folder: &Path, fields: &FieldTable) -> Result<u64, Fault> {
        let stacks = self.heap.stacks();
        let write = |name: &str, columns: &[Column], values: Vec<Values>| -> Result<u64, Fault> {
            let mut table = TableFile::create(folder, name, columns, &self.name)?;
            table.write(values)?;
            Ok(table.close()?)
        };
        let sites = self.sites();
        let bytes = [
            write("dump", &DUMP, self.dump())?,
            write("class", &CLASS, self.classes())?,
            write("field", &FIELD, field_values(fields))?,
            write("root", &ROOT, self.roots())?,
            write("thread", &THREAD, self.threads()?)?,
            write("frame", &FRAME, self.frames(&stacks, &sites))?,
            write("site", &SITE, site_values(&sites))?,
        ];
        Ok(bytes.iter().sum())
    }

    fn dump(&self) -> Vec<Values> {
        let (heap, retained) = (self.heap, self.retained);
        let long = |number: u64| Values::longs([number].into_iter());
        let words = &heap.directory().strings.facts().words;
        let word = |name: &str| words.get(name).map(String::as_str);
        let told = |name: &str| Values::texts([word(name)].into_iter());
        let told_number =
            |name: &str| Values::Longs(vec![word(name).and_then(|word| word.parse().ok())]);
        let made = heap.header().time_millis;
        let time = i64::try_from(made).ok().filter(|made| *made != 0);
        vec![
            Values::texts([Some(self.file.short_name())].into_iter()),
            Values::Longs(vec![time]),
            long(self.file.bytes),
            long(heap.objects().into()),
            long(retained.reachable().into()),
            long(retained.total_bytes()),
            long(heap.references()),
            long(heap.dangling()),
            long(heap.damaged()),
            Values::texts([Some(self.rule)].into_iter()),
            Values::Flags(vec![Some(heap.sizes().are_told)]),
            told("jvm"),
            told("collector"),
            told("host"),
            told_number("pid"),
            told_number("pause_us"),
        ]
    }

    fn classes(&self) -> Vec<Values> {
        let heap = self.heap;
        let totals = self
            .retained
            .totals(heap, heap.classes(), |object| heap.class(object));
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
        vec![
            Values::numbers(classes()),
            Values::texts(classes().map(|class| Some(heap.class_name(class)))),
            Values::Numbers(classes().map(|class| heap.object_of_class(class)).collect()),
            Values::Numbers(classes().map(above).collect()),
            Values::Numbers(classes().map(loader).collect()),
            Values::longs(totals.iter().map(|total| total.objects)),
            Values::longs(totals.iter().map(|total| total.shallow_bytes)),
            Values::longs(totals.iter().map(|total| total.retained_bytes)),
        ]
    }

    fn roots(&self) -> Vec<Values> {
        let heap = self.heap;
        let global = heap
            .roots()
            .iter()
            .map(|root| (root.object, root.kind, None, None));
        let held = |thread: u32| {
            let row = move |local: &Local| (local.object, local.kind, Some(thread), local.frame);
            heap.locals(thread).iter().map(row)
        };
        let threads = thread_objects(heap);
        let held = threads.values().flat_map(|thread| held(*thread));
        let rows: Vec<_> = global.chain(held).collect();
        vec![
            Values::numbers(rows.iter().map(|row| row.0)),
            Values::texts(rows.iter().map(|row| Some(root_name(row.1)))),
            Values::Numbers(rows.iter().map(|row| row.2).collect()),
            Values::Numbers(rows.iter().map(|row| row.3).collect()),
        ]
    }

    fn threads(&self) -> Result<Vec<Values>, Fault> {
        let heap = self.heap;
        let threads = thread_objects(heap);
        let objects: Vec<u32> = threads.values().copied().collect();
        let names = heap.thread_names(&objects)?;
        let trace = |object: &u32| heap.thread_trace(*object);
        Ok(vec![
            Values::numbers(threads.keys().copied()),
            Values::numbers(objects.iter().copied()),
            Values::texts(objects.iter().map(|object| names.get(object))),
            Values::Numbers(objects.iter().map(trace).collect()),
            Values::longs(objects.iter().map(|object| self.retained.bytes(*object))),
        ])
    }

    /// The frames of all traces that a row of another table has.
    fn frames(&self, stacks: &Stacks, sites: &BTreeMap<(u32, String), SiteRow>) -> Vec<Values> {
        let heap = self.heap;
        let of_objects = heap.traced().iter().map(|(_, trace)| *trace);
        let of_threads = heap
            .threads()
            .filter_map(|(_, object)| heap.thread_trace(object));
        let of_sites = sites.keys().map(|(trace, _)| *trace);
        let traces: BTreeSet<u32> = of_objects.chain(of_threads).chain(of_sites).collect();
        let rows: Vec<(u32, u32, &StackFrame)> = traces
            .iter()
            .flat_map(|trace| {
                let frames = (0..).zip(stacks.frames(*trace));
                frames.map(|(position, frame)| (*trace, position, frame))
            })
            .collect();
        vec![
            Values::numbers(rows.iter().map(|row| row.0)),
            Values::numbers(rows.iter().map(|row| row.1)),
            Values::texts(rows.iter().map(|row| Some(&row.2.class))),
            Values::texts(rows.iter().map(|row| Some(&row.2.method))),
            Values::texts(rows.iter().map(|row| row.2.source.as_ref())),
            Values::Longs(rows.iter().map(|row| Some(row.2.line.into())).collect()),
        ]
    }

    fn sites(&self) -> BTreeMap<(u32, String), SiteRow> {
        let heap = self.heap;
        let mut rows: BTreeMap<(u32, String), SiteRow> = BTreeMap::new();
        for site in heap.sites().iter().flat_map(|table| &table.rows) {
            let row = rows
                .entry((site.trace, site.class.to_string()))
                .or_default();
            (row.live, row.allocated) = (Some(site.live), site.allocated);
        }
        let live = self.retained.live_sites(heap, &heap.stacks());
        if let Some(live) = &live {
            // The profiler counts garbage, too.
            rows.values_mut()
                .for_each(|row| row.live = row.live.map(|_| Amount::default()));
            for site in &live.rows {
                let key = (site.trace, site.class.to_string());
                rows.entry(key).or_default().live = Some(site.live);
            }
        }
        for total in self.retained.sites(heap) {
            let key = (total.trace, heap.class_name(total.class));
            let row = rows.entry(key).or_default();
            let (objects, bytes, error) = row.retained.unwrap_or_default();
            row.retained = Some((
                objects + total.objects,
                bytes + total.retained_bytes,
                error.hypot(total.error_bytes),
            ));
        }
        rows
    }
}

/// The thread objects by their serials.
fn thread_objects(heap: &Heap<'_>) -> BTreeMap<u32, u32> {
    heap.threads().collect()
}

fn field_values(fields: &FieldTable) -> Vec<Values> {
    let rows = &fields.rows;
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    vec![
        Values::numbers(0..count),
        Values::numbers(rows.iter().map(|row| row.class)),
        Values::texts(rows.iter().map(|row| Some(&row.name))),
        Values::texts(rows.iter().map(|row| Some(type_name(row.kind)))),
        Values::Flags(rows.iter().map(|row| Some(row.is_static)).collect()),
    ]
}

/// The type of a field in Java's words.
fn type_name(kind: BasicType) -> &'static str {
    match kind {
        BasicType::Object => "object",
        BasicType::Boolean => "boolean",
        BasicType::Char => "char",
        BasicType::Float => "float",
        BasicType::Double => "double",
        BasicType::Byte => "byte",
        BasicType::Short => "short",
        BasicType::Int => "int",
        BasicType::Long => "long",
    }
}

fn site_values(sites: &BTreeMap<(u32, String), SiteRow>) -> Vec<Values> {
    let counted = |pick: fn(&SiteRow) -> Option<u64>| {
        Values::Longs(sites.values().map(|row| pick(row).map(long)).collect())
    };
    let retained = |pick: fn((f64, f64, f64)) -> f64| {
        Values::Reals(sites.values().map(|row| row.retained.map(pick)).collect())
    };
    vec![
        Values::numbers(sites.keys().map(|key| key.0)),
        Values::texts(sites.keys().map(|key| Some(&key.1))),
        counted(|row| Some(row.live?.bytes)),
        counted(|row| Some(row.live?.objects)),
        counted(|row| Some(row.allocated?.bytes)),
        counted(|row| Some(row.allocated?.objects)),
        retained(|it| it.0),
        retained(|it| it.1),
        retained(|it| it.2),
    ]
}
