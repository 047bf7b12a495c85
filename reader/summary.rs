//! The contents of a dump: its records by kind, its objects, roots, classes and threads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::budget::entries;
use crate::classes::ClassTable;
use crate::damage::Damage;
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::header::Header;
use crate::heap_record::{HeapRecord, Root, RootKind};
use crate::names::Names;
use crate::object_sums::{held_bytes, Kind, Sizing, Sums};
use crate::record::{record_name, Record, RecordHead, StartThread};
use crate::sizes::Sizes;
use crate::stacks::{StackRecords, Stacks};
use crate::strings::StringTable;

/// Most damaged places kept for display.
const DAMAGE_MAX: usize = 10;

/// Bytes of a record's head: tag, time, length.
const HEAD_BYTES: u64 = format::RECORD_HEADER_BYTES as u64;

/// A file's records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindTotal {
    /// Number of records.
    pub count: u64,
    /// Their bytes in the file, including heads.
    pub bytes: u64,
}

/// A thread with a root in the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSummary {
    /// Serial of the thread.
    pub serial: u32,
    /// Id of the thread object.
    pub object: u64,
    /// Name from START THREAD, if there is one; see also [`crate::thread_names`].
    pub name: Option<Rc<str>>,
    /// Serial of its stack trace, see [`Summary::stacks`].
    pub trace: u32,
}

/// The contents of a dump.
#[derive(Debug)]
pub struct Summary {
    /// The file's header.
    pub header: Header,
    /// Bytes of the (uncompressed) file.
    pub bytes: u64,
    /// Top-level records by the format text's names.
    pub records: BTreeMap<&'static str, KindTotal>,
    /// Sub-records other than roots by the format text's names.
    pub heap_records: BTreeMap<&'static str, KindTotal>,
    /// Roots by kind.
    pub roots: BTreeMap<RootKind, KindTotal>,
    /// Android's heaps (app, image, zygote) by the ids of their names: objects, and the sum of their shallow sizes. Objects of
    /// another dump are in no such heap.
    pub heaps: BTreeMap<u64, KindTotal>,
    /// Objects and arrays, without class objects.
    pub objects: u64,
    /// Sum of their shallow sizes, see [`Sizes`].
    pub object_bytes: u64,
    /// The layout by which sizes were computed.
    pub sizes: Sizes,
    /// Number of class loaders of dumped classes, including the bootstrap loader.
    pub loaders: u64,
    /// Threads by serial.
    pub threads: Vec<ThreadSummary>,
    /// The stacks of the threads, among others.
    pub stacks: Stacks,
    /// The classes.
    pub classes: ClassTable,
    /// The strings.
    pub strings: StringTable,
    /// The first damaged places.
    pub damage: Vec<Damage>,
    /// Number of damaged places.
    pub damaged: u64,
}

/// Reads a whole dump once. Errors: I/O only; damaged places are listed.
pub fn summarize(dump: &mut DumpReader<'_>) -> Result<Summary, ReadError> {
    let mut gathered = Gathered::new(dump.header());
    while let Some(event) = dump.next_event()? {
        let offset = dump.offset();
        gathered.event(event, offset);
        dump.budget().allow(gathered.held_bytes())?;
    }
    let classes = &mut gathered.summary.classes;
    classes.resolve_within(dump.header().id_bytes, dump.budget())?;
    let (summary, name_bytes) = gathered.finish(dump.offset());
    dump.budget().allow(name_bytes)?;
    Ok(summary)
}

#[derive(Debug)]
struct Gathered {
    summary: Summary,
    stacks: StackRecords,
    started: HashMap<u32, StartThread>,
    /// Serial to object id and trace serial.
    threads: BTreeMap<u32, (u64, u32)>,
    /// Id of the name of the heap that has the next objects.
    heap: Option<u64>,
    /// Objects and arrays, by heap and kind.
    sums: Sums<(Option<u64>, Kind)>,
    sizing: Sizing,
}

impl Gathered {
    fn new(header: Header) -> Self {
        let sizing = Sizing::new(header.id_bytes);
        Self {
            summary: Summary {
                header,
                sizes: sizing.sizes(),
                bytes: 0,
                records: BTreeMap::new(),
                heap_records: BTreeMap::new(),
                roots: BTreeMap::new(),
                heaps: BTreeMap::new(),
                objects: 0,
                object_bytes: 0,
                loaders: 0,
                threads: Vec::new(),
                stacks: Stacks::default(),
                classes: ClassTable::default(),
                strings: StringTable::default(),
                damage: Vec::new(),
                damaged: 0,
            },
            stacks: StackRecords::default(),
            started: HashMap::new(),
            threads: BTreeMap::new(),
            heap: None,
            sums: Sums::default(),
            sizing,
        }
    }

    /// Handles an event; `after` is the offset after its decoded part.
    fn event(&mut self, event: Event, after: u64) {
        match event {
            Event::Record(head, record) => {
                self.count(&head);
                self.record(record);
            }
            Event::HeapStart(head) => {
                self.count(&head);
                self.sizing.begin_heap(self.summary.strings.facts());
            }
            Event::Heap(offset, record) => {
                let data_bytes = record.data_bytes(self.summary.header.id_bytes);
                let bytes = after.saturating_sub(offset).saturating_add(data_bytes);
                self.heap_record(offset, &record, bytes);
            }
            Event::HeapEnd => {}
            Event::Damage(damage) => {
                self.summary.damaged += 1;
                if self.summary.damage.len() < DAMAGE_MAX {
                    self.summary.damage.push(damage);
                }
            }
        }
    }

    fn count(&mut self, head: &RecordHead) {
        let name = record_name(head.tag).unwrap_or("unknown");
        add(
            self.summary.records.entry(name).or_default(),
            HEAD_BYTES + u64::from(head.length),
        );
    }

    fn record(&mut self, mut record: Record) {
        self.stacks.add(&mut record);
        match record {
            Record::Utf8(string) => {
                self.summary.strings.insert(string);
            }
            Record::LoadClass(load) => {
                self.summary.classes.add_load(&load);
            }
            Record::StartThread(start) => {
                self.started.insert(start.serial, start);
            }
            _ => {}
        }
    }

    fn heap_record(&mut self, offset: u64, record: &HeapRecord, bytes: u64) {
        if let Some((kind, sum)) = self.sizing.object(record) {
            self.sums.entry((self.heap, kind)).or_default().add(sum);
        }
        match record {
            HeapRecord::Root(root) => {
                add(self.summary.roots.entry(root.kind).or_default(), bytes);
                self.thread(root);
                return;
            }
            HeapRecord::Class(dump) => {
                self.summary.classes.add_dump(offset, dump);
            }
            HeapRecord::HeapInfo { name, .. } => self.heap = Some(*name),
            _ => {}
        }
        add(
            self.summary.heap_records.entry(record.name()).or_default(),
            bytes,
        );
    }

    fn thread(&mut self, root: &Root) {
        if let (RootKind::ThreadObject, Some(serial)) = (root.kind, root.thread_serial) {
            self.threads
                .insert(serial, (root.object, root.trace.unwrap_or(0)));
        }
    }

    fn held_bytes(&self) -> u64 {
        let tables = self.summary.strings.held_bytes() + self.summary.classes.held_bytes();
        let threads =
            entries(2 * (self.started.len() + self.threads.len()) + self.summary.heaps.len());
        tables
            .saturating_add(self.stacks.held_bytes())
            .saturating_add(held_bytes(&self.sums))
            .saturating_add(threads)
    }

    /// The summary, and the bytes of memory that its names take.
    fn finish(self, bytes: u64) -> (Summary, u64) {
        let mut summary = self.summary;
        summary.bytes = bytes;
        summary.sizes = self.sizing.sizes();
        let facts = summary.strings.facts();
        for ((heap, kind), sum) in &self.sums {
            let bytes = self.sizing.bytes(*kind, *sum, &summary.classes, facts);
            summary.objects += sum.objects;
            summary.object_bytes = summary.object_bytes.saturating_add(bytes);
            if let Some(heap) = heap {
                let heap = summary.heaps.entry(*heap).or_default();
                heap.count += sum.objects;
                heap.bytes = heap.bytes.saturating_add(bytes);
            }
        }
        let dumped = summary
            .classes
            .iter()
            .filter(|class| class.dump_offset.is_some());
        summary.loaders = dumped
            .map(|class| class.loader)
            .collect::<HashSet<_>>()
            .len() as u64;
        let mut names = Names::new(&summary.strings);
        summary.stacks = self.stacks.resolve(&mut names);
        let threads = self.threads.into_iter();
        summary.threads = threads
            .map(|(serial, (object, trace))| ThreadSummary {
                serial,
                object,
                name: self
                    .started
                    .get(&serial)
                    .and_then(|start| names.text(start.name)),
                trace,
            })
            .collect();
        let name_bytes = names.bytes();
        (summary, name_bytes)
    }
}

fn add(total: &mut KindTotal, bytes: u64) {
    total.count += 1;
    total.bytes = total.bytes.saturating_add(bytes);
}
