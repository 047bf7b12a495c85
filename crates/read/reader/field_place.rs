//! The layout of instances: where the value of each field stands among their bytes.

use std::ops::Range;

use crate::classes::{Class, ClassTable};
use crate::strings::StringTable;
use format::sub_record::Field;

/// A field of an instance, and where its value stands.
#[derive(Clone, Debug)]
pub struct FieldPlace<'c> {
    /// The class that declares it.
    pub class: &'c Class,
    /// Number of this class, for [`ClassTable::at`].
    pub class_number: usize,
    /// Index among the fields that this class declares.
    pub number: u16,
    /// The field itself.
    pub field: Field,
    /// The bytes of its value.
    pub bytes: Range<u32>,
}

/// The unsigned number of these bytes, the highest first, as every number in a file.
pub fn big_endian(bytes: &[u8]) -> u64 {
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    bytes.iter().fold(0, add)
}

impl FieldPlace<'_> {
    /// The value in an instance's data as raw bits; `None` if the data is too short.
    pub fn value(&self, data: &[u8]) -> Option<u64> {
        let bytes = data.get(self.bytes.start as usize..self.bytes.end as usize);
        bytes.map(big_endian)
    }

    /// Whether it is the field of this name, of whatever class.
    pub fn is_named(&self, strings: &StringTable, name: &str) -> bool {
        strings.bytes(self.field.name) == Some(name.as_bytes())
    }
}

impl ClassTable {
    /// The fields of a class's instances in the order of their data: nearest class first. They are
    /// all only if the layout is complete.
    pub fn places(&self, index: usize) -> impl Iterator<Item = FieldPlace<'_>> {
        let (id_bytes, mut at) = (self.id_bytes(), 0_u32);
        let fields = self.numbered_chain(index).flat_map(|(number, class)| {
            let fields = class.fields.iter().zip(0..);
            fields.map(move |(field, place)| (class, number, place, *field))
        });
        fields.map(move |(class, class_number, number, field)| {
            let start = at;
            at = start.saturating_add(field.kind.size_bytes(id_bytes));
            FieldPlace {
                class,
                class_number,
                number,
                field,
                bytes: start..at,
            }
        })
    }
}
