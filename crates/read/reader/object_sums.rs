//! The sizes of many objects, summed while a file is read once.
//!
//! Two facts are known late: the fields of a class may follow its instances, and the width of
//! references shows only in the addresses of all objects. So instances are only counted, and arrays
//! are summed for both widths.

use std::hash::Hash;

use foldhash::HashMap;
use format::{BasicType, JvmFacts, UNIT_BYTES};

use crate::budget::entries;
use crate::directory::Directory;
use crate::reference_width::ReferenceWidth;
use crate::sizes::Sizes;
use format::sub_record::HeapRecord;

/// The layout of objects as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct Sizing {
    /// The layout with narrow and with wide references. Both are the same if the file contains the
    /// layout.
    either: [Sizes; 2],
    width: ReferenceWidth,
}

/// Objects of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) objects: u64,
    /// Number of objects that are not arrays; or of instances that are class objects, too.
    instances: u64,
    /// Units of the arrays, for each width of references; or units of class objects.
    other_units: [u64; 2],
}

/// The kind of an object, which determines how its size is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// The class with this id. Instances have one size; arrays of references do not.
    Class(u64),
    /// An array of this primitive type.
    Primitive(BasicType),
}

impl Sizing {
    /// A layout for ids of this size, before anything else is known.
    pub(crate) fn new(id_bytes: u32) -> Self {
        Self {
            either: [true, false].map(|is_narrow| Sizes::assumed(id_bytes, is_narrow)),
            width: ReferenceWidth::default(),
        }
    }

    /// Starts a heap; the records before it may contain the layout.
    pub(crate) fn begin_heap(&mut self, facts: &JvmFacts) {
        if let Some(told) = Sizes::of_facts(facts) {
            self.either = [told, told];
        }
        self.width.restart();
    }

    /// Copies the layout of another, which has read the same records outside of heaps.
    pub(crate) fn take_layout(&mut self, other: &Self) {
        self.either = other.either;
    }

    /// Merges what other segments of the heap have shown. The layout stays.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.width.merge(&other.width);
    }

    /// Examines the next record and returns the kind of its object; the caller adds the object to
    /// that kind's sum by [`Sum::count`]. `None` for anything but an instance or an array.
    pub(crate) fn kind(&mut self, record: &HeapRecord) -> Option<Kind> {
        match record {
            HeapRecord::Class(class) => {
                self.width.object(class.class);
                None
            }
            HeapRecord::Instance(instance) => {
                self.width.object(instance.object);
                Some(Kind::Class(instance.class))
            }
            HeapRecord::ObjectArray(array) => {
                self.width.array(array.object, array.length);
                Some(Kind::Class(array.class))
            }
            HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
                self.width.object(array.object);
                Some(Kind::Primitive(array.kind))
            }
            HeapRecord::Root(_) | HeapRecord::HeapInfo(_) => None,
        }
    }

    fn array(&self, length: u32, kind: BasicType) -> [u32; 2] {
        self.either.map(|sizes| sizes.array_units(length, kind))
    }

    /// The value for the width of the heap's references.
    fn chosen<T>(&self, [for_narrow, for_wide]: [T; 2]) -> T {
        match self.width.is_narrow() {
            true => for_narrow,
            false => for_wide,
        }
    }

    /// The layout.
    pub(crate) fn sizes(&self) -> Sizes {
        self.chosen(self.either)
    }

    /// The bytes of all objects of a sum.
    pub(crate) fn bytes(&self, kind: Kind, sum: Sum, directory: &Directory) -> u64 {
        let others = self.chosen(sum.other_units);
        let each = match kind {
            Kind::Class(class) if sum.instances > 0 => {
                let (classes, facts) = (&directory.classes, directory.strings.facts());
                let number = classes.index(class).unwrap_or(usize::MAX);
                self.sizes().instance_units(classes, number, facts)
            }
            _ => 0,
        };
        let instances = sum.instances.saturating_mul(each.into());
        others.saturating_add(instances).saturating_mul(UNIT_BYTES)
    }

    /// The bytes of the class objects of one class with this serial number. Several exist if the
    /// file contains several dumps. `of_classes` is the class of class objects.
    pub(crate) fn class_object_bytes(
        &self,
        serial: Option<u32>,
        sum: Sum,
        of_classes: Kind,
        directory: &Directory,
    ) -> u64 {
        match self
            .sizes()
            .told_class_object(serial, directory.strings.facts())
        {
            Some(each) => sum.objects.saturating_mul(u64::from(each) * UNIT_BYTES),
            None => self.bytes(of_classes, sum, directory),
        }
    }
}

impl Sum {
    /// Counts the object of a record, if it is one.
    pub(crate) fn count(&mut self, record: &HeapRecord, sizing: &Sizing) {
        let units = match record {
            HeapRecord::Class(class) => sizing
                .either
                .map(|sizes| sizes.static_units(&class.statics)),
            HeapRecord::Instance(_) => {
                self.instances += 1;
                [0, 0]
            }
            HeapRecord::ObjectArray(array) => sizing.array(array.length, BasicType::Object),
            HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
                sizing.array(array.length, array.kind)
            }
            HeapRecord::Root(_) | HeapRecord::HeapInfo(_) => return,
        };
        self.objects += 1;
        self.add_units(units.map(u64::from));
    }

    /// Adds another sum.
    pub(crate) fn add(&mut self, other: Self) {
        self.objects += other.objects;
        self.instances += other.instances;
        self.add_units(other.other_units);
    }

    /// Leaves out so many instances, or all if there are fewer. Returns how many.
    pub(crate) fn take_instances(&mut self, count: u64) -> u64 {
        let count = count.min(self.instances);
        self.instances -= count;
        self.objects -= count;
        count
    }

    /// Adds an instance to a class object: together they are one object.
    pub(crate) fn join_instance(&mut self) {
        self.instances += 1;
    }

    fn add_units(&mut self, units: [u64; 2]) {
        for (all, more) in self.other_units.iter_mut().zip(units) {
            *all = all.saturating_add(more);
        }
    }
}

/// Sums by key. The file determines the keys, so the hash function is seeded.
pub(crate) type Sums<K> = HashMap<K, Sum>;

/// Bytes of memory that such sums take.
pub(crate) fn held_bytes<K: Eq + Hash>(sums: &Sums<K>) -> u64 {
    entries(2 * sums.len())
}
