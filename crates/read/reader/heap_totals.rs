//! The contents of a heap dump: totals of objects, classes, roots and damage, which can be merged.

use std::collections::BTreeMap;

use format::JvmFacts;

use crate::budget::entries;
use crate::classes::ClassTable;
use crate::damage::Damage;
use crate::heap_places::HeapPlaces;
use crate::object_sums::{held_bytes, Kind, Sizing, Sums};
use crate::twins::ClassInstances;
use format::sub_record::HeapRecord;
use format::Root;
use format::RootKind;

/// Most damaged places kept for display.
const DAMAGE_MAX: usize = 10;

/// A file's records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindTotal {
    /// Number of records.
    pub count: u64,
    /// Their bytes in the file, including heads.
    pub bytes: u64,
}

/// A heap's sub-records by their tags.
#[derive(Debug)]
pub(crate) struct RecordTotals([KindTotal; 1 << u8::BITS]);

/// A thread that is a root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadRoot {
    /// Offset of the root.
    offset: u64,
    /// Id of the thread object.
    pub(crate) object: u64,
    /// Serial of its stack trace.
    pub(crate) trace: u32,
}

/// The contents of a heap, or of some of its segments.
#[derive(Debug)]
pub(crate) struct HeapTotals {
    id_bytes: u32,
    pub(crate) sizing: Sizing,
    /// The classes; without names if only segments were read.
    pub(crate) classes: ClassTable,
    /// Where instances and primitive arrays are.
    pub(crate) places: HeapPlaces,
    /// Sums of objects and arrays, by the name of Android's heap and by kind.
    pub(crate) sums: Sums<(Option<u64>, Kind)>,
    /// Sums of class objects, by class.
    pub(crate) class_objects: Sums<u64>,
    /// Instances of `java.lang.Class`.
    pub(crate) class_instances: ClassInstances,
    /// Id of the name of the Android heap that contains the next objects.
    heap: Option<u64>,
    pub(crate) records: RecordTotals,
    /// The last root of each thread, by the thread's serial.
    pub(crate) threads: BTreeMap<u32, ThreadRoot>,
    /// The first damaged places.
    pub(crate) damage: Vec<Damage>,
    /// Number of damaged places.
    pub(crate) damaged: u64,
}

impl KindTotal {
    /// Counts a record of `bytes`.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.add_all(Self { count: 1, bytes });
    }

    /// Adds another total.
    pub(crate) fn add_all(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl RecordTotals {
    fn add(&mut self, tag: u8, total: KindTotal) {
        if let Some(sum) = self.0.get_mut(usize::from(tag)) {
            sum.add_all(total);
        }
    }

    /// Those with records.
    fn found(&self) -> impl Iterator<Item = (u8, KindTotal)> + '_ {
        let all = (0..=u8::MAX).zip(self.0);
        all.filter(|(_, total)| total.count > 0)
    }

    /// Those other than roots by the format text's names.
    pub(crate) fn by_name(&self) -> BTreeMap<&'static str, KindTotal> {
        let found = self.found();
        let others = found.filter(|(tag, _)| RootKind::from_tag(*tag).is_none());
        let named = |(tag, total)| Some((HeapRecord::name_of(tag)?, total));
        others.filter_map(named).collect()
    }

    /// Those of roots.
    pub(crate) fn roots(&self) -> BTreeMap<RootKind, KindTotal> {
        let root = |(tag, total)| Some((RootKind::from_tag(tag)?, total));
        self.found().filter_map(root).collect()
    }
}

impl HeapTotals {
    /// Empty totals for a file with ids of this size.
    pub(crate) fn new(id_bytes: u32) -> Self {
        Self {
            id_bytes,
            sizing: Sizing::new(id_bytes),
            classes: ClassTable::default(),
            places: HeapPlaces::default(),
            sums: Sums::default(),
            class_objects: Sums::default(),
            class_instances: ClassInstances::default(),
            heap: None,
            records: RecordTotals([KindTotal::default(); 1 << u8::BITS]),
            threads: BTreeMap::new(),
            damage: Vec::new(),
            damaged: 0,
        }
    }

    /// Starts a HEAP DUMP or HEAP DUMP SEGMENT at this offset; `facts` come from the records before
    /// it. Android's runtime starts each with objects of no named heap.
    pub(crate) fn begin_heap(&mut self, offset: u64, facts: &JvmFacts) {
        self.places.begin(offset);
        self.sizing.begin_heap(facts);
        self.heap = None;
    }

    /// Counts a sub-record at this offset. `after` is the offset after its decoded part.
    pub(crate) fn record(&mut self, offset: u64, record: &HeapRecord, after: u64) {
        let data_bytes = record.data_bytes(self.id_bytes);
        let bytes = after.saturating_sub(offset).saturating_add(data_bytes);
        if let Some(kind) = self.sizing.kind(record) {
            let sum = self.sums.entry((self.heap, kind)).or_default();
            sum.count(record, &self.sizing);
        }
        match record {
            HeapRecord::Root(root) => self.thread(offset, root),
            HeapRecord::Class(dump) => {
                self.classes.add_dump(offset, dump);
                let sum = self.class_objects.entry(dump.class).or_default();
                sum.count(record, &self.sizing);
            }
            HeapRecord::Instance(instance) => {
                self.class_instances
                    .instance(instance.object, instance.class);
                self.places.note(instance.object);
            }
            HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
                self.places.note(array.object);
            }
            HeapRecord::HeapInfo(info) => self.heap = Some(info.name),
            HeapRecord::ObjectArray(_) => {}
        }
        self.records
            .add(record.tag(), KindTotal { count: 1, bytes });
    }

    fn thread(&mut self, offset: u64, root: &Root) {
        if let (RootKind::ThreadObject, Some(serial)) = (root.kind, root.thread_serial) {
            let (object, trace) = (root.object, root.trace.unwrap_or(0));
            let found = ThreadRoot {
                offset,
                object,
                trace,
            };
            self.threads.insert(serial, found);
        }
    }

    /// Counts a damaged place.
    pub(crate) fn damage(&mut self, damage: Damage) {
        self.damaged += 1;
        if self.damage.len() < DAMAGE_MAX {
            self.damage.push(damage);
        }
    }

    /// Adds the totals of other segments of the heap, before or after these.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sizing.merge(&other.sizing);
        self.classes.merge(other.classes);
        self.places.merge(other.places);
        for (key, sum) in other.sums {
            self.sums.entry(key).or_default().add(sum);
        }
        for (class, sum) in other.class_objects {
            self.class_objects.entry(class).or_default().add(sum);
        }
        self.class_instances.merge(other.class_instances);
        for (tag, total) in other.records.found() {
            self.records.add(tag, total);
        }
        for (serial, root) in other.threads {
            let kept = self.threads.entry(serial).or_insert(root);
            if kept.offset < root.offset {
                *kept = root;
            }
        }
        self.damage.extend(other.damage);
        self.damage.sort_by_key(|damage| damage.offset);
        self.damage.truncate(DAMAGE_MAX);
        self.damaged += other.damaged;
    }

    /// Counts class objects that the file has twice once, with the bytes of both. Call it after the
    /// last segment.
    pub(crate) fn join_twins(&mut self, classes: &ClassTable) {
        let twins = self.class_instances.twins(classes);
        let mut left = twins.len() as u64;
        for ((_, kind), sum) in &mut self.sums {
            if self.class_instances.class().map(Kind::Class) == Some(*kind) {
                left -= sum.take_instances(left);
            }
        }
        for twin in twins {
            self.class_objects.entry(twin).or_default().join_instance();
        }
    }

    /// Bytes of memory that these totals take.
    pub(crate) fn held_bytes(&self) -> u64 {
        let classes = self.classes.held_bytes();
        classes
            .saturating_add(held_bytes(&self.sums))
            .saturating_add(held_bytes(&self.class_objects))
            .saturating_add(self.class_instances.held_bytes())
            .saturating_add(self.places.held_bytes())
            .saturating_add(entries(2 * self.threads.len()))
    }
}
