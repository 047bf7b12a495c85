//! Facts about classes: what JVMTI and JNI report, as plain numbers that can be read without a JVM.

use crate::memory::Memory;
use tables::ClassId;

/// The address of a slot that holds an object's address. A JNI reference on HotSpot is such an
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u64);

impl Slot {
    /// The slot of a JNI reference. HotSpot uses the low bits of a reference as tags.
    pub fn of_handle(bits: u64) -> Self {
        Self(bits & !7)
    }

    /// The slot's own address.
    pub fn address(self) -> u64 {
        self.0
    }

    /// The address of the object; 0 if there is none. The slot must be mapped.
    pub fn object(self, memory: impl Memory) -> u64 {
        memory.reference(self.0)
    }
}

/// The bits of a JNI field ID. HotSpot encodes the field's offset in them, or they are the address
/// of a structure that contains the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldId(u64);

impl FieldId {
    /// The id with these bits.
    pub fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits.
    pub fn bits(self) -> u64 {
        self.0
    }
}

/// The facts about all classes, in the order of their [`ClassId`]s.
#[derive(Debug)]
pub struct ClassFacts {
    /// `java.lang.Class`.
    pub class_class: ClassId,
    /// The slots of the classes' mirrors.
    pub slots: Vec<Slot>,
    /// Field ids of all classes, one class after the other.
    field_ids: Vec<FieldId>,
    /// End index of each class's run in `field_ids`.
    ends: Vec<usize>,
}

impl ClassFacts {
    /// No classes yet; `class_class` will be `java.lang.Class`.
    pub fn new(class_class: ClassId) -> Self {
        Self {
            class_class,
            slots: Vec::new(),
            field_ids: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Adds the next class: the slot of its mirror, and the ids of its own fields in the order of
    /// its row's fields (none if the class is not linked).
    pub fn push(&mut self, mirror: Slot, field_ids: impl Iterator<Item = FieldId>) {
        self.slots.push(mirror);
        self.field_ids.extend(field_ids);
        self.ends.push(self.field_ids.len());
    }

    /// The ids of a class's own fields, in the order of its row's fields; none if the class is not
    /// linked.
    pub fn field_ids(&self, class: ClassId) -> &[FieldId] {
        let before = class.index().checked_sub(1);
        let start = before.map_or(Some(0), |before| self.ends.get(before).copied());
        let end = self.ends.get(class.index()).copied();
        let ids = start
            .zip(end)
            .and_then(|(start, end)| self.field_ids.get(start..end));
        ids.unwrap_or_default()
    }
}

/// Offsets on the path from a `Klass` to its resolved references (call sites, method handles,
/// strings).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedReferences {
    /// Offset of the constant pool in `InstanceKlass`.
    pub constants: u64,
    /// Offset of the cache in `ConstantPool`. `None` up to JDK 8, where `ConstantPool` itself
    /// contains the resolved references.
    pub cache: Option<u64>,
    /// Offset of the resolved references in `ConstantPoolCache` or `ConstantPool`: the address of a
    /// slot that contains the array's address.
    pub resolved_references: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_own_fields() {
        let class = |index| ClassId::from_index(index).expect("an id");
        let ids = |bits: &[u64]| {
            bits.iter()
                .map(|&bits| FieldId::of_bits(bits))
                .collect::<Vec<_>>()
        };
        let mut facts = ClassFacts::new(class(1));
        for (handle, own) in [(0x101, &[1, 2][..]), (0x10A, &[]), (0x110, &[3])] {
            facts.push(Slot::of_handle(handle), ids(own).into_iter());
        }
        assert_eq!(
            facts
                .slots
                .iter()
                .map(|slot| slot.address())
                .collect::<Vec<_>>(),
            [0x100, 0x108, 0x110]
        );
        assert_eq!(facts.field_ids(class(0)), ids(&[1, 2]));
        assert_eq!(facts.field_ids(class(1)), []);
        assert_eq!(facts.field_ids(class(2)), ids(&[3]));
        assert_eq!(facts.field_ids(class(3)), []);
        assert_eq!(facts.class_class, class(1));
    }
}
