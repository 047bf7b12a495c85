//! The first pass over a file: names, classes, stacks, threads, profiles, and the number of
//! objects.
//!
//! Memory is bounded by classes, strings and stacks; objects are only counted.

use std::collections::HashMap;

use format::{BasicType, ClassName, ObjectSizes};
use reader::{
    thread_names, AllocSite, AllocSites, Budget, CpuSamples, Damage, Directory, DumpReader, Event,
    HeapRecord, Layout, Open, ReadError, Record, RootKind, Stacks, StartThread,
};

use crate::Moment;

/// The most memory for an entry of a list or a map, in bytes.
const ENTRY_BYTES: u64 = 64;

/// Settings that no record contains.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The sizes of objects in the JVM's heap; `None` assumes them, see [`ObjectSizes::assumed`].
    pub sizes: Option<ObjectSizes>,
    /// Seconds that local time is ahead of UTC, negative west of Greenwich.
    pub utc_offset_seconds: i32,
    /// The memory that names, classes and stacks may take.
    pub budget: Budget,
}

/// A line about a thread.
#[derive(Clone, Debug)]
pub(super) enum ThreadLine {
    /// A thread starts, according to a record.
    Start(StartThread),
    /// A thread starts: serial, object, and the name in the object.
    Named(u32, u64, String),
    /// The thread with this serial ends.
    End(u32),
}

/// A record of a profile, whose rows are ranked.
#[derive(Clone, Debug)]
pub(super) enum Profile {
    Sites(AllocSites),
    Samples(CpuSamples),
}

/// The contents of a file except its objects.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// When the file was started.
    pub(super) at: Moment,
    pub(super) sizes: ObjectSizes,
    pub(super) id_bytes: u32,
    pub(super) directory: Directory,
    pub(super) stacks: Stacks,
    /// Starts and ends, in file order.
    pub(super) threads: Vec<ThreadLine>,
    /// Serials in file order.
    pub(super) traces: Vec<u32>,
    pub(super) profiles: Vec<Profile>,
    pub(super) has_heap: bool,
    pub(super) is_ended: bool,
    pub(super) damaged: u64,
    pub(super) first_damage: Option<Damage>,
    pub(super) roots: u64,
    pub(super) classes: u64,
    /// Number of instances and arrays.
    pub(super) objects: u64,
    array_bytes: u64,
    /// Number of instances by class and by the bytes of their values.
    instances: HashMap<(u64, u32), u64>,
    /// Serials and objects of threads that are roots.
    root_threads: Vec<(u32, u64)>,
    has_starts: bool,
    /// Bytes of the rows of profiles.
    profile_bytes: u64,
}

impl Survey {
    /// Reads all records. Errors: I/O, no HPROF file, more than the budget allows.
    pub(super) fn take(open: &mut Open<'_, '_>, settings: &Settings) -> Result<Self, ReadError> {
        let mut dump = DumpReader::open(open, settings.budget)?;
        let mut survey = Self::new(&dump, settings);
        while let Some(event) = dump.next_event()? {
            survey.event(event);
            settings.budget.allow(survey.held_bytes())?;
            survey.directory.allow(settings.budget)?;
        }
        drop(dump);
        survey.directory.classes.resolve(survey.id_bytes);
        survey.stacks = survey.directory.stacks();
        if !survey.has_starts {
            survey.name_threads(open, settings)?;
        }
        Ok(survey)
    }

    fn new(dump: &DumpReader<'_>, settings: &Settings) -> Self {
        let header = dump.header();
        let id_bytes = header.id_bytes;
        let seconds = header.time_millis / 1000;
        Self {
            at: Moment {
                seconds_since_epoch: i64::try_from(seconds).unwrap_or(0),
                utc_offset_seconds: settings.utc_offset_seconds,
            },
            sizes: settings
                .sizes
                .unwrap_or_else(|| ObjectSizes::assumed(id_bytes)),
            id_bytes,
            ..Self::default()
        }
    }

    /// The string with this id; empty if there is none.
    pub(super) fn string(&self, id: u64) -> &[u8] {
        self.directory.strings.bytes(id).unwrap_or_default()
    }

    /// The name of the class with this object.
    pub(super) fn class_name(&self, object: u64) -> ClassName<'_> {
        let class = self.directory.classes.get(object);
        let name = class.and_then(|class| self.directory.strings.class_name(class.name));
        name.unwrap_or(ClassName::UNKNOWN)
    }

    /// The name of a site's class; without a class, the name by the type of the array.
    pub(super) fn class_of_site(&self, site: &AllocSite) -> ClassName<'_> {
        let name = self.directory.class_name(site.class_serial);
        name.unwrap_or_else(|| match BasicType::from_code(site.array_type) {
            Some(kind) if kind != BasicType::Object => ClassName::array_of(kind),
            _ => ClassName::UNKNOWN,
        })
    }

    /// Objects, arrays and classes together.
    pub(super) fn all_objects(&self) -> u64 {
        self.objects.saturating_add(self.classes)
    }

    /// The bytes of instances and arrays, as on their lines.
    pub(super) fn bytes(&self) -> u64 {
        let sizes = self.instances.iter().map(|(&(class, data_bytes), &count)| {
            self.instance_bytes(class, data_bytes).saturating_mul(count)
        });
        sizes.fold(self.array_bytes, u64::saturating_add)
    }

    /// The size in the heap of an instance of this class with `data_bytes` of values.
    pub(super) fn instance_bytes(&self, class: u64, data_bytes: u32) -> u64 {
        let data_bytes = u64::from(data_bytes);
        let id_bytes = u64::from(self.id_bytes);
        match self.layout(class) {
            Some(Layout::Complete {
                data_bytes: all,
                references,
            }) if all == data_bytes => {
                let primitive = data_bytes.saturating_sub(references.saturating_mul(id_bytes));
                self.sizes.instance_bytes(primitive, references)
            }
            _ => self.sizes.instance_bytes(data_bytes, 0),
        }
    }

    fn layout(&self, class: u64) -> Option<Layout> {
        let classes = &self.directory.classes;
        Some(classes.layout(classes.index(class)?))
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Record(_, record) => self.record(record),
            Event::HeapStart(_) => self.has_heap = true,
            Event::Heap(offset, record) => self.heap_record(offset, &record),
            Event::HeapEnd => {}
            Event::Damage(damage) => {
                self.damaged += 1;
                self.first_damage.get_or_insert(damage);
            }
        }
    }

    fn record(&mut self, record: Record) {
        match &record {
            Record::Trace(trace) => self.traces.push(trace.serial),
            Record::StartThread(thread) => {
                self.has_starts = true;
                self.threads.push(ThreadLine::Start(*thread));
            }
            Record::EndThread(end) => self.threads.push(ThreadLine::End(end.serial)),
            Record::HeapDumpEnd(_) => self.is_ended = true,
            _ => {}
        }
        match record {
            Record::AllocSites(sites) => {
                self.profile_bytes += ENTRY_BYTES * (1 + sites.sites.len() as u64);
                self.profiles.push(Profile::Sites(sites));
            }
            Record::CpuSamples(samples) => {
                self.profile_bytes += ENTRY_BYTES * (1 + samples.rows.len() as u64);
                self.profiles.push(Profile::Samples(samples));
            }
            other => self.directory.add(other),
        }
    }

    fn heap_record(&mut self, offset: u64, record: &HeapRecord) {
        match record {
            HeapRecord::Root(root) => {
                self.roots += 1;
                if let (RootKind::ThreadObject, Some(serial)) = (root.kind, root.thread_serial) {
                    if !self.has_starts {
                        self.root_threads.push((serial, root.object));
                    }
                }
            }
            HeapRecord::Class(class) => {
                self.classes += 1;
                self.directory.classes.add_dump(offset, class);
            }
            HeapRecord::Instance(instance) => {
                let kind = (instance.class, instance.data_bytes);
                *self.instances.entry(kind).or_default() += 1;
                self.objects += 1;
            }
            HeapRecord::ObjectArray(array) => {
                self.add_array(self.sizes.object_array_bytes(array.length));
            }
            HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
                self.add_array(ObjectSizes::primitive_array_bytes(array.length, array.kind));
            }
            HeapRecord::HeapInfo(_) => {}
        }
    }

    fn add_array(&mut self, bytes: u64) {
        self.objects += 1;
        self.array_bytes = self.array_bytes.saturating_add(bytes);
    }

    /// Bytes of memory used in addition to the directory's.
    fn held_bytes(&self) -> u64 {
        let entries = self.traces.len()
            + self.threads.len()
            + 2 * self.instances.len()
            + self.root_threads.len();
        self.profile_bytes
            .saturating_add(ENTRY_BYTES.saturating_mul(entries as u64))
    }

    /// Adds threads that are roots but have no START THREAD, with the names in their objects.
    fn name_threads(
        &mut self,
        open: &mut Open<'_, '_>,
        settings: &Settings,
    ) -> Result<(), ReadError> {
        let objects: Vec<u64> = self
            .root_threads
            .iter()
            .map(|&(_, object)| object)
            .collect();
        let (classes, strings) = (&self.directory.classes, &self.directory.strings);
        let mut names = thread_names(open, classes, strings, &objects, settings.budget)?;
        let named = self.root_threads.drain(..).map(|(serial, object)| {
            let name = names.remove(&object).unwrap_or_default();
            ThreadLine::Named(serial, object, name)
        });
        self.threads.splice(0..0, named);
        Ok(())
    }
}
