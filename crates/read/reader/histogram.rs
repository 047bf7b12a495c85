//! The number and the size of a dump's objects, by class.

use std::rc::Rc;

use foldhash::HashMap;
use format::ClassName;

use crate::classes::Class;
use crate::directory::Directory;
use crate::dump::DumpReader;
use crate::error::ReadError;
use crate::gather::gather;
use crate::heap_totals::HeapTotals;
use crate::names::Names;
use crate::object_sums::{Kind, Sum};
use crate::sites::compare_names;
use crate::sizes::Sizes;
use crate::twins::CLASS_OF_CLASSES;

/// One class of a [`Histogram`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// Name in Java's form, for example `java.lang.String` or `int[]`.
    pub class: Rc<str>,
    /// Id of the class's loader, 0 for the bootstrap loader, if other rows have the same name.
    pub loader: Option<u64>,
    /// Number of objects.
    pub instances: u64,
    /// Sum of their shallow sizes, see [`Sizes`].
    pub bytes: u64,
}

impl HistogramRow {
    /// The rows in the order of [`Histogram::rows`], with loaders only where a name is not unique.
    pub fn ranked(mut rows: Vec<Self>) -> Vec<Self> {
        rows.sort_by(|a, b| {
            let numbers = (b.bytes, b.instances).cmp(&(a.bytes, a.instances));
            let names = compare_names(&a.class, &b.class);
            numbers.then(names).then(a.loader.cmp(&b.loader))
        });
        let mut counts: HashMap<Rc<str>, u32> = HashMap::default();
        for row in &rows {
            *counts.entry(Rc::clone(&row.class)).or_default() += 1;
        }
        for row in &mut rows {
            row.loader = row.loader.filter(|_| counts.get(&row.class) > Some(&1));
        }
        rows
    }
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

impl Histogram {
    /// Reads a whole dump once, with several threads if its file allows it. `java.lang.Class`
    /// counts the CLASS DUMPs and its instances (mirrors of primitive types); what is both counts
    /// once. Errors: I/O, or too many names or fields.
    pub fn read(dump: &mut DumpReader<'_>) -> Result<Self, ReadError> {
        let gathered = gather(dump)?;
        let mut names = Names::new(&gathered.directory.strings);
        let heap = &gathered.heap;
        let rows = rows(heap, &mut names, &gathered.directory);
        dump.budget().allow(names.bytes())?;
        Ok(Self {
            rows,
            sizes: heap.sizing.sizes(),
            damaged: heap.damaged,
        })
    }

    /// Number of all objects.
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

/// The classes with objects, in the order of [`Histogram::rows`].
fn rows(heap: &HeapTotals, names: &mut Names<'_>, directory: &Directory) -> Vec<HistogramRow> {
    let classes = &directory.classes;
    let mut totals: HashMap<Kind, (u64, u64)> = HashMap::default();
    let mut add = |kind, sum: &Sum, sum_bytes| {
        let (instances, bytes) = totals.entry(kind).or_default();
        *instances += sum.objects;
        *bytes = bytes.saturating_add(sum_bytes);
    };
    for ((_, kind), sum) in &heap.sums {
        add(*kind, sum, heap.sizing.bytes(*kind, *sum, directory));
    }
    // The class of all class objects.
    let named = |class: &&Class| directory.strings.is_class(class.name, CLASS_OF_CLASSES);
    let class_class = classes.iter().filter(named).map(|class| class.id).min();
    if let Some(class_class) = class_class {
        for (class, sum) in &heap.class_objects {
            let serial = classes.get(*class).and_then(|class| class.serial);
            let kind = Kind::Class(class_class);
            let bytes = heap
                .sizing
                .class_object_bytes(serial, *sum, kind, directory);
            add(kind, sum, bytes);
        }
    }
    let row = |(kind, (instances, bytes))| HistogramRow {
        class: match kind {
            Kind::Primitive(kind) => ClassName::array_of(kind).to_java().into(),
            Kind::Class(class) => classes.shared_name(class, names),
        },
        loader: match kind {
            Kind::Primitive(_) => None,
            Kind::Class(class) => classes.get(class).map(|class| class.loader),
        },
        instances,
        bytes,
    };
    HistogramRow::ranked(totals.into_iter().map(row).collect())
}
