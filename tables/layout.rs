//! Where a field is: turns JVMTI's field numbers into positions in a record.
//!
//! JVMTI numbers the fields of a class C as follows (jvmtiHeapReferenceInfoField): first the fields of
//! all interfaces that C implements, through whatever path, each interface once; then the fields of
//! `java.lang.Object`, and so on down to C's own. HPROF stores an instance the other way round: C's
//! own fields, then its superclass's, and so on up (format text, INSTANCE DUMP).
//!
//! These are pure functions on a [`ClassTable`]. Their results hold no reference to it, so the VM
//! thread may use them at a safepoint. It must not create them, because the table has locks.

use std::collections::HashSet;
use std::sync::Arc;

use crate::{ClassId, ClassRow, ClassTable};
use format::BasicType;

/// Bytes of a reference in a file; all our files have 8.
pub const ID_SIZE_BYTES: u32 = 8;

/// A class, its superclass and so on up to `java.lang.Object`.
///
/// Empty if there is no such class. Stops at a class without a row, and at one that occurred before,
/// so a broken table gives a short chain and not an endless one.
pub fn class_chain(classes: &ClassTable, id: ClassId) -> Vec<ClassId> {
    rows_of_chain(classes, id)
        .into_iter()
        .map(|(id, _)| id)
        .collect()
}

/// The JVMTI number of the first field that a class or an interface declares itself.
///
/// `None` if there is no such class, if the fields of a superclass or an interface are unknown, or if
/// the number does not fit into 32 bits.
pub fn first_field_index(classes: &ClassTable, id: ClassId) -> Option<u32> {
    let chain = rows_of_chain(classes, id);
    // The chain of an interface is just the interface, which has no superclass.
    let supers = chain.get(1..)?;
    let inherited = supers
        .iter()
        .map(|(_, row)| Some(row.fields.as_ref()?.len()))
        .sum::<Option<usize>>()?;
    u32::try_from(interface_fields(classes, &chain)?.checked_add(inherited)?).ok()
}

/// One instance field's position in the data of an INSTANCE DUMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Bytes before the value.
    pub offset_bytes: u32,
    /// The value's type, and so its width.
    pub basic_type: BasicType,
}

/// Where a file stores the fields of one class's instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceLayout {
    data_bytes: u32,
    interface_fields: u32,
    slots: Vec<Option<Slot>>,
}

impl InstanceLayout {
    /// The layout of instances of exactly this class.
    ///
    /// `None` if there is no such class, if the fields of the class, a superclass or an interface are
    /// unknown (a guess would shift every value), or if the data would exceed 4 GiB.
    pub fn of(classes: &ClassTable, id: ClassId) -> Option<Self> {
        let chain = rows_of_chain(classes, id);
        if chain.is_empty() {
            return None;
        }
        let mut data_bytes = 0_u32;
        let mut slots_by_class = Vec::with_capacity(chain.len());
        for (_, row) in &chain {
            let (slots, end) = own_slots(row, data_bytes)?;
            data_bytes = end;
            slots_by_class.push(slots);
        }
        let interface_fields = u32::try_from(interface_fields(classes, &chain)?).ok()?;
        // Offsets grow from the class upwards, field numbers from Object downwards.
        let slots = slots_by_class.into_iter().rev().flatten().collect();
        Some(Self {
            data_bytes,
            interface_fields,
            slots,
        })
    }

    /// Bytes of one instance's data, without a header or padding; 0 for `java.lang.Object`.
    pub fn data_bytes(&self) -> u32 {
        self.data_bytes
    }

    /// The position of the field with this JVMTI number; `None` for fields of interfaces, for static
    /// fields and for numbers that no field has.
    pub fn slot(&self, field_index: u32) -> Option<Slot> {
        let position = field_index.checked_sub(self.interface_fields)?;
        self.slots.get(position as usize).copied().flatten()
    }

    /// All slots in the order of JVMTI's field numbers.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.slots.iter().copied().flatten()
    }
}

/// The JVMTI field numbers of the static fields of one class or interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticLayout {
    first_index: u32,
    is_static: Vec<bool>,
}

impl StaticLayout {
    /// The layout of exactly this class, without the static fields of its superclasses. `None` if
    /// there is no such class.
    pub fn of(classes: &ClassTable, id: ClassId) -> Option<Self> {
        let row = classes.get(id)?;
        let is_static = row
            .own_fields()
            .iter()
            .map(|field| field.is_static)
            .collect();
        Some(Self {
            first_index: first_field_index(classes, id)?,
            is_static,
        })
    }

    /// The position, among the class's own fields, of the static field with this JVMTI number; `None`
    /// if the number belongs to an instance field or to another class.
    pub fn position(&self, field_index: u32) -> Option<usize> {
        let position = field_index.checked_sub(self.first_index)? as usize;
        self.is_static.get(position)?.then_some(position)
    }
}

type Chain = Vec<(ClassId, Arc<ClassRow>)>;

fn rows_of_chain(classes: &ClassTable, id: ClassId) -> Chain {
    let mut chain = Chain::new();
    let mut met = HashSet::new();
    let mut next = Some(id);
    while let Some(id) = next.filter(|&id| met.insert(id)) {
        let Some(row) = classes.get(id) else { break };
        next = row.super_class;
        chain.push((id, row));
    }
    chain
}

/// The number of fields that a chain's interfaces declare, each interface counted once; `None` if
/// unknown.
fn interface_fields(classes: &ClassTable, chain: &Chain) -> Option<usize> {
    // A class is never its own interface. Starting with the chain as visited, a broken table cannot
    // make it so.
    let mut met: HashSet<ClassId> = chain.iter().map(|&(id, _)| id).collect();
    let mut open: Vec<ClassId> = chain
        .iter()
        .flat_map(|(_, row)| row.interfaces.iter().copied())
        .collect();
    let mut count = 0;
    while let Some(id) = open.pop() {
        if !met.insert(id) {
            continue;
        }
        let row = classes.get(id)?;
        count += row.fields.as_ref()?.len();
        open.extend(&row.interfaces);
    }
    Some(count)
}

/// A slot for each own field, the first at `start`, and the offset after the last; `None` if the
/// fields are unknown.
fn own_slots(row: &ClassRow, start: u32) -> Option<(Vec<Option<Slot>>, u32)> {
    let mut offset_bytes = start;
    let fields = row.fields.as_ref()?;
    let mut slots = Vec::with_capacity(fields.len());
    for field in fields {
        if field.is_static {
            slots.push(None);
            continue;
        }
        let basic_type = field.basic_type;
        slots.push(Some(Slot {
            offset_bytes,
            basic_type,
        }));
        offset_bytes = offset_bytes.checked_add(basic_type.size_bytes(ID_SIZE_BYTES))?;
    }
    Some((slots, offset_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, StringId};

    /// A class with one field for each letter: a descriptor, in lower case if the field is static.
    fn add(
        classes: &ClassTable,
        super_class: Option<ClassId>,
        interfaces: &[ClassId],
        fields: &str,
    ) -> ClassId {
        let name = StringId::new(1).unwrap();
        let field = |letter: u8| Field {
            name,
            basic_type: BasicType::from_descriptor(letter.to_ascii_uppercase()).unwrap(),
            is_primitive_array: false,
            is_static: letter.is_ascii_lowercase(),
        };
        classes.add(ClassRow {
            signature: name,
            name,
            loader: None,
            super_class,
            interfaces: interfaces.to_vec(),
            fields: Some(fields.bytes().map(field).collect()),
        })
    }

    fn slot(offset_bytes: u32, basic_type: BasicType) -> Option<Slot> {
        Some(Slot {
            offset_bytes,
            basic_type,
        })
    }

    #[test]
    fn own_fields_come_first_in_the_file_and_last_in_jvmti() {
        let classes = ClassTable::default();
        let object = add(&classes, None, &[], "");
        let parent = add(&classes, Some(object), &[], "IlB");
        let child = add(&classes, Some(parent), &[], "JzL");
        assert_eq!(class_chain(&classes, child), [child, parent, object]);
        let layout = InstanceLayout::of(&classes, child).unwrap();
        assert_eq!(layout.data_bytes(), 8 + 8 + 4 + 1);
        assert_eq!(layout.slot(0), slot(16, BasicType::Int));
        assert_eq!(layout.slot(1), None);
        assert_eq!(layout.slot(2), slot(20, BasicType::Byte));
        assert_eq!(layout.slot(3), slot(0, BasicType::Long));
        assert_eq!(layout.slot(4), None);
        assert_eq!(layout.slot(5), slot(8, BasicType::Object));
        assert_eq!(layout.slot(6), None);
        assert_eq!(layout.slots().count(), 4);
    }

    #[test]
    fn a_diamond_of_interfaces_counts_once() {
        let classes = ClassTable::default();
        let object = add(&classes, None, &[], "");
        let top = add(&classes, None, &[], "ij");
        let left = add(&classes, None, &[top], "l");
        let right = add(&classes, None, &[top], "");
        let parent = add(&classes, Some(object), &[left], "I");
        let child = add(&classes, Some(parent), &[right, left], "zI");
        // top 2 + left 1, whichever way they are reached, then parent's one field.
        assert_eq!(first_field_index(&classes, child), Some(4));
        assert_eq!(first_field_index(&classes, parent), Some(3));
        let layout = InstanceLayout::of(&classes, child).unwrap();
        assert_eq!(layout.slot(2), None);
        assert_eq!(layout.slot(3), slot(4, BasicType::Int));
        assert_eq!(layout.slot(4), None);
        assert_eq!(layout.slot(5), slot(0, BasicType::Int));
    }

    #[test]
    fn an_interface_counts_its_super_interfaces_only() {
        let classes = ClassTable::default();
        let top = add(&classes, None, &[], "iii");
        let middle = add(&classes, None, &[top], "ll");
        let bottom = add(&classes, None, &[middle, top], "j");
        assert_eq!(first_field_index(&classes, top), Some(0));
        assert_eq!(first_field_index(&classes, bottom), Some(5));
        let constants = StaticLayout::of(&classes, bottom).unwrap();
        assert_eq!(constants.position(4), None);
        assert_eq!(constants.position(5), Some(0));
        assert_eq!(constants.position(6), None);
    }

    #[test]
    fn statics_are_found_among_own_fields() {
        let classes = ClassTable::default();
        let constants = add(&classes, None, &[], "ii");
        let object = add(&classes, None, &[], "");
        let parent = add(&classes, Some(object), &[constants], "lI");
        let child = add(&classes, Some(parent), &[], "Ijl");
        let layout = StaticLayout::of(&classes, child).unwrap();
        assert_eq!(layout.position(2), None, "the parent's own static");
        assert_eq!(layout.position(4), None, "an instance field");
        assert_eq!(layout.position(5), Some(1));
        assert_eq!(layout.position(6), Some(2));
    }

    #[test]
    fn a_broken_table_ends() {
        let classes = ClassTable::default();
        let stranger = ClassId::new(99).unwrap();
        let first = add(&classes, ClassId::new(2), &[], "I");
        let second = add(&classes, Some(first), &[first], "J");
        assert_eq!(class_chain(&classes, first), [first, second]);
        assert_eq!(
            InstanceLayout::of(&classes, first).unwrap().data_bytes(),
            12
        );
        assert!(class_chain(&classes, stranger).is_empty());
        assert_eq!(first_field_index(&classes, stranger), None);
        assert!(InstanceLayout::of(&classes, stranger).is_none());
        assert!(StaticLayout::of(&classes, stranger).is_none());
    }

    #[test]
    fn fields_are_not_numbered_where_some_are_unknown() {
        let classes = ClassTable::default();
        let object = add(&classes, None, &[], "");
        let interface = add(&classes, None, &[], "i");
        let parent = add(&classes, Some(object), &[interface], "I");
        let child = add(&classes, Some(parent), &[], "J");
        let stranger = ClassId::new(99).unwrap();
        let orphan = add(&classes, Some(object), &[stranger], "");
        assert!(InstanceLayout::of(&classes, child).is_some());
        assert!(InstanceLayout::of(&classes, orphan).is_none());
        for unprepared in [interface, parent, child] {
            let row = ClassRow::clone(&classes.get(unprepared).unwrap());
            classes.replace(
                unprepared,
                ClassRow {
                    fields: None,
                    ..row.clone()
                },
            );
            assert!(InstanceLayout::of(&classes, child).is_none());
            classes.replace(unprepared, row);
        }
        let row = ClassRow::clone(&classes.get(parent).unwrap());
        classes.replace(
            parent,
            ClassRow {
                fields: None,
                ..row
            },
        );
        assert_eq!(first_field_index(&classes, child), None);
    }
}
