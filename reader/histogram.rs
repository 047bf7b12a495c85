//! The number and the size of a dump's objects, by class.

use std::collections::HashMap;
use std::rc::Rc;

use format::{BasicType, ClassName};

use crate::budget::entries;
use crate::classes::{ClassTable, Layout};
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::heap_record::HeapRecord;
use crate::names::Names;
use crate::record::Record;
use crate::shallow::shallow_bytes;
use crate::sites::compare_names;
use crate::strings::StringTable;

/// Name of the class of all class objects.
const CLASS: &str = "java/lang/Class";

/// One class of a [`Histogram`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// Name in Java's form, for example `java.lang.String` or `int[]`.
    pub class: Rc<str>,
    /// Number of objects.
    pub instances: u64,
    /// Sum of their shallow sizes, see [`crate::shallow_bytes`].
    pub bytes: u64,
}

/// The objects of a dump by class, largest first. Two classes with the same name have two rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The classes with objects: by bytes, then instances, then name.
    pub rows: Vec<HistogramRow>,
    /// Number of damaged places; what they hide is not counted.
    pub damaged: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    instances: u64,
    bytes: u64,
}

impl Count {
    fn add(&mut self, payload_bytes: u64) {
        self.instances += 1;
        self.bytes = self.bytes.saturating_add(shallow_bytes(payload_bytes));
    }
}

#[derive(Debug, Default)]
struct Counts {
    strings: StringTable,
    classes: ClassTable,
    by_class: HashMap<u64, Count>,
    by_type: HashMap<BasicType, Count>,
    class_objects: u64,
    damaged: u64,
}

impl Histogram {
    /// Reads a whole dump once. `java.lang.Class` counts the CLASS DUMPs and its instances (mirrors
    /// of primitive types). Errors: I/O only.
    pub fn read(dump: &mut DumpReader<'_>) -> Result<Self, ReadError> {
        let id_bytes = dump.header().id_bytes;
        let mut counts = Counts::default();
        while let Some(event) = dump.next_event()? {
            counts.event(event, id_bytes);
            dump.budget().allow(counts.held_bytes())?;
        }
        counts.classes.resolve(id_bytes);
        let strings = std::mem::take(&mut counts.strings);
        let mut names = Names::new(&strings);
        let histogram = counts.finish(&mut names);
        dump.budget().allow(names.bytes())?;
        Ok(histogram)
    }

    /// Number of objects in all.
    pub fn instances(&self) -> u64 {
        self.rows.iter().map(|row| row.instances).sum()
    }

    /// Sum of the shallow sizes of all objects.
    pub fn bytes(&self) -> u64 {
        self.rows
            .iter()
            .fold(0, |sum, row| sum.saturating_add(row.bytes))
    }
}

impl Counts {
    fn event(&mut self, event: Event, id_bytes: u32) {
        match event {
            Event::Record(_, Record::Utf8(string)) => {
                self.strings.insert(string);
            }
            Event::Record(_, Record::LoadClass(load)) => {
                self.classes.add_load(&load);
            }
            Event::Heap(offset, record) => self.heap_record(offset, &record, id_bytes),
            Event::Damage(_) => self.damaged += 1,
            _ => {}
        }
    }

    fn heap_record(&mut self, offset: u64, record: &HeapRecord, id_bytes: u32) {
        let payload_bytes = record.data_bytes(id_bytes);
        match record {
            HeapRecord::Class(dump) => {
                self.class_objects += 1;
                self.classes.add_dump(offset, dump);
            }
            HeapRecord::Instance(instance) => self
                .by_class
                .entry(instance.class)
                .or_default()
                .add(payload_bytes),
            HeapRecord::ObjectArray(array) => self
                .by_class
                .entry(array.class)
                .or_default()
                .add(payload_bytes),
            HeapRecord::PrimitiveArray(array) => {
                // Android may omit the elements in the file, but the array has them.
                let element = u64::from(array.kind.size_bytes(id_bytes));
                let payload_bytes = u64::from(array.length) * element;
                self.by_type
                    .entry(array.kind)
                    .or_default()
                    .add(payload_bytes);
            }
            HeapRecord::Root(_) | HeapRecord::HeapInfo { .. } => {}
        }
    }

    fn held_bytes(&self) -> u64 {
        let tables = self.strings.held_bytes() + self.classes.held_bytes();
        tables.saturating_add(entries(3 * self.by_class.len()))
    }

    fn finish(mut self, names: &mut Names<'_>) -> Histogram {
        self.add_class_objects(names);
        let mut rows = Vec::with_capacity(self.by_class.len() + self.by_type.len());
        for (class, count) in &self.by_class {
            rows.push(row(self.classes.shared_name(*class, names), *count));
        }
        for (kind, count) in &self.by_type {
            rows.push(row(ClassName::array_of(*kind).to_java().into(), *count));
        }
        rows.sort_by(|a, b| {
            let numbers = (b.bytes, b.instances).cmp(&(a.bytes, a.instances));
            numbers.then_with(|| compare_names(&a.class, &b.class))
        });
        Histogram {
            rows,
            damaged: self.damaged,
        }
    }

    /// Counts each CLASS DUMP as an instance of java.lang.Class without its static fields.
    fn add_class_objects(&mut self, names: &Names<'_>) {
        let class = self
            .classes
            .iter()
            .find(|class| names.is(class.name, CLASS));
        let Some(class) = class.filter(|_| self.class_objects > 0) else {
            return;
        };
        let layout = self
            .classes
            .index(class.id)
            .map(|index| self.classes.layout(index));
        let payload_bytes = match layout {
            Some(Layout::Complete { data_bytes, .. }) => data_bytes,
            _ => 0,
        };
        let count = self.by_class.entry(class.id).or_default();
        count.instances += self.class_objects;
        let bytes = shallow_bytes(payload_bytes).saturating_mul(self.class_objects);
        count.bytes = count.bytes.saturating_add(bytes);
    }
}

fn row(class: Rc<str>, count: Count) -> HistogramRow {
    HistogramRow {
        class,
        instances: count.instances,
        bytes: count.bytes,
    }
}
