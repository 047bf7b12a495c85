//! The number and the size of a dump's objects, by class.

use std::rc::Rc;

use format::{ClassName, JvmFacts};

use crate::classes::ClassTable;
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::heap_record::HeapRecord;
use crate::names::Names;
use crate::object_sums::{held_bytes, Kind, Sizing, Sum, Sums};
use crate::record::Record;
use crate::sites::compare_names;
use crate::sizes::Sizes;
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
    /// Sum of their shallow sizes, see [`Sizes`].
    pub bytes: u64,
}

/// The objects of a dump by class, largest first. Two classes with the same name have two rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The classes with objects: by bytes, then instances, then name.
    pub rows: Vec<HistogramRow>,
    /// The layout by which sizes were computed.
    pub sizes: Sizes,
    /// Number of damaged places; what they hide is not counted.
    pub damaged: u64,
}

#[derive(Debug)]
struct Counts {
    strings: StringTable,
    classes: ClassTable,
    sizing: Sizing,
    sums: Sums<Kind>,
    class_objects: Sum,
    damaged: u64,
}

impl Histogram {
    /// Reads a whole dump once. `java.lang.Class` counts the CLASS DUMPs and its instances (mirrors
    /// of primitive types). Errors: I/O, or too many names or fields.
    pub fn read(dump: &mut DumpReader<'_>) -> Result<Self, ReadError> {
        let id_bytes = dump.header().id_bytes;
        let mut counts = Counts::new(id_bytes);
        while let Some(event) = dump.next_event()? {
            counts.event(event);
            dump.budget().allow(counts.held_bytes())?;
        }
        counts.classes.resolve_within(id_bytes, dump.budget())?;
        let strings = std::mem::take(&mut counts.strings);
        let mut names = Names::new(&strings);
        let histogram = counts.finish(&mut names, strings.facts());
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
    fn new(id_bytes: u32) -> Self {
        Self {
            strings: StringTable::default(),
            classes: ClassTable::default(),
            sizing: Sizing::new(id_bytes),
            sums: Sums::default(),
            class_objects: Sum::default(),
            damaged: 0,
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Record(_, Record::Utf8(string)) => {
                self.strings.insert(string);
            }
            Event::Record(_, Record::LoadClass(load)) => {
                self.classes.add_load(&load);
            }
            Event::HeapStart(_) => self.sizing.begin_heap(self.strings.facts()),
            Event::Heap(offset, record) => self.heap_record(offset, &record),
            Event::Damage(_) => self.damaged += 1,
            _ => {}
        }
    }

    fn heap_record(&mut self, offset: u64, record: &HeapRecord) {
        if let Some((kind, sum)) = self.sizing.object(record) {
            self.sums.entry(kind).or_default().add(sum);
        }
        if let HeapRecord::Class(dump) = record {
            self.classes.add_dump(offset, dump);
            let serial = self.classes.get(dump.class).and_then(|class| class.serial);
            let sum = self.sizing.class_object(serial, dump, self.strings.facts());
            self.class_objects.add(sum);
        }
    }

    fn held_bytes(&self) -> u64 {
        let tables = self.strings.held_bytes() + self.classes.held_bytes();
        tables.saturating_add(held_bytes(&self.sums))
    }

    fn finish(mut self, names: &mut Names<'_>, facts: &JvmFacts) -> Histogram {
        self.add_class_objects(names);
        let rows = self.sums.iter().map(|(kind, sum)| {
            let class = match kind {
                Kind::Class(class) => self.classes.shared_name(*class, names),
                Kind::Primitive(kind) => ClassName::array_of(*kind).to_java().into(),
            };
            HistogramRow {
                class,
                instances: sum.objects,
                bytes: self.sizing.bytes(*kind, *sum, &self.classes, facts),
            }
        });
        let mut rows: Vec<HistogramRow> = rows.collect();
        rows.sort_by(|a, b| {
            let numbers = (b.bytes, b.instances).cmp(&(a.bytes, a.instances));
            numbers.then_with(|| compare_names(&a.class, &b.class))
        });
        Histogram {
            rows,
            sizes: self.sizing.sizes(),
            damaged: self.damaged,
        }
    }

    /// Counts each CLASS DUMP as an instance of java.lang.Class.
    fn add_class_objects(&mut self, names: &Names<'_>) {
        let class = self
            .classes
            .iter()
            .find(|class| names.is(class.name, CLASS));
        if let Some(class) = class.filter(|_| self.class_objects != Sum::default()) {
            let sum = self.sums.entry(Kind::Class(class.id)).or_default();
            sum.add(self.class_objects);
        }
    }
}
