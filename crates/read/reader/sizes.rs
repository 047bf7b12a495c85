//! The size of an object in the heap.
//!
//! HPROF does not contain it. Our agent adds it to a dump ([`JvmFacts`]). For other files the rules
//! are Eclipse MAT's: the fields of each class in the superclass chain start at a multiple of a
//! reference's size, so do the elements of an array, and the total is a multiple of the alignment.

use format::{BasicType, JvmFacts, ObjectSizes, UNIT_BYTES};

use crate::classes::{ClassTable, Layout};
use format::sub_record::Static;

/// The layout of a JVM's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes before the first field of an instance.
    pub header_bytes: u64,
    /// Bytes before the first element of an array of references.
    pub array_header_bytes: u64,
    /// Bytes before the first element of an array of values of up to 4 bytes.
    pub value_header_bytes: u64,
    /// Bytes of a reference in a field or an array.
    pub reference_bytes: u64,
    /// Object sizes are rounded up to a multiple of this; at least 8.
    pub alignment_bytes: u64,
    /// Whether the file contains the sizes of its classes; otherwise a rule computes them.
    pub are_told: bool,
}

impl Sizes {
    /// The assumed layout for ids of this size, with references of this width.
    pub fn assumed(id_bytes: u32, references_are_narrow: bool) -> Self {
        let (word, reference) = match (id_bytes, references_are_narrow) {
            (4, _) => (4, 4),
            (_, true) => (8, 4),
            (_, false) => (8, 8),
        };
        let array_header_bytes = rounded(word + reference + 4, reference);
        Self {
            header_bytes: word + reference,
            array_header_bytes,
            value_header_bytes: array_header_bytes,
            reference_bytes: reference,
            alignment_bytes: 8,
            are_told: false,
        }
    }

    /// The layout that the JVM recorded, with or without the sizes of its classes. Invalid values
    /// are replaced by the usual ones.
    pub fn told(sizes: ObjectSizes, are_told: bool) -> Self {
        let alignment = sizes.alignment_bytes;
        let is_alignment = alignment.is_power_of_two() && (8..=1 << 20).contains(&alignment);
        Self {
            header_bytes: sizes.header_bytes,
            array_header_bytes: sizes.array_header_bytes,
            value_header_bytes: sizes.value_header_bytes,
            reference_bytes: if sizes.reference_bytes == 4 { 4 } else { 8 },
            alignment_bytes: if is_alignment { alignment } else { 8 },
            are_told,
        }
    }

    /// The layout in the file's facts; `None` if there is none.
    pub fn of_facts(facts: &JvmFacts) -> Option<Self> {
        facts
            .sizes
            .map(|sizes| Self::told(sizes, !facts.classes.is_empty()))
    }

    /// Bytes of the given fields.
    fn fields(&self, kinds: impl Iterator<Item = BasicType>) -> u64 {
        kinds.map(|kind| self.value(kind)).sum()
    }

    /// Bytes of one value.
    fn value(&self, kind: BasicType) -> u64 {
        match kind {
            BasicType::Object => self.reference_bytes,
            other => u64::from(other.size_bytes(8)),
        }
    }

    /// The size of an object in units of [`UNIT_BYTES`].
    pub fn units(&self, bytes: u64) -> u32 {
        let units = rounded(bytes, self.alignment_bytes) / UNIT_BYTES;
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// The size of an array in units.
    pub fn array_units(&self, length: u32, kind: BasicType) -> u32 {
        let elements = u64::from(length).saturating_mul(self.value(kind));
        let header = match kind {
            BasicType::Object => self.array_header_bytes,
            _ => self.value_header_bytes,
        };
        // If elements of 8 bytes follow a header whose size is not a multiple of 8, HotSpot leaves
        // a gap.
        let header = rounded(header, self.value(kind).min(UNIT_BYTES));
        self.units(header.saturating_add(elements))
    }

    /// The size of an instance of the class with this number, in units: from the facts, otherwise
    /// by the rule.
    pub fn instance_units(&self, table: &ClassTable, number: usize, facts: &JvmFacts) -> u32 {
        let told = facts.units(table.at(number).and_then(|class| class.serial));
        if self.are_told && told.instance > 0 {
            return told.instance;
        }
        if !matches!(table.layout(number), Layout::Complete { .. }) {
            return self.units(self.header_bytes);
        }
        let own = |fields: &[crate::Field]| self.fields(fields.iter().map(|field| field.kind));
        let chain: Vec<u64> = table
            .chain(number)
            .map(|class| own(&class.fields))
            .collect();
        let bytes = chain.iter().rev().fold(self.header_bytes, |supers, own| {
            rounded(supers.saturating_add(*own), self.reference_bytes)
        });
        self.units(bytes)
    }

    /// The size of a class object in units: from the facts by this serial number, otherwise from
    /// its static fields.
    pub fn class_object_units(
        &self,
        serial: Option<u32>,
        statics: &[Static],
        facts: &JvmFacts,
    ) -> u32 {
        let told = self.told_class_object(serial, facts);
        told.unwrap_or_else(|| self.static_units(statics))
    }

    /// The size of a class object in units, if the facts contain it.
    pub(crate) fn told_class_object(&self, serial: Option<u32>, facts: &JvmFacts) -> Option<u32> {
        let told = facts.units(serial).object;
        (self.are_told && told > 0).then_some(told)
    }

    /// The size of a class object with these static fields, in units.
    pub(crate) fn static_units(&self, statics: &[Static]) -> u32 {
        self.units(self.fields(statics.iter().map(|value| value.kind)))
    }
}

fn rounded(bytes: u64, multiple: u64) -> u64 {
    bytes
        .checked_next_multiple_of(multiple.max(1))
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_hotspot() {
        let narrow = Sizes::assumed(8, true);
        let wide = Sizes::assumed(8, false);
        let string = |sizes: &Sizes| {
            let fields = [
                BasicType::Object,
                BasicType::Int,
                BasicType::Byte,
                BasicType::Boolean,
            ];
            let bytes = sizes.fields(fields.into_iter());
            sizes.units(rounded(sizes.header_bytes + bytes, sizes.reference_bytes)) * 8
        };
        assert_eq!((string(&narrow), string(&wide)), (24, 32));
        assert_eq!(narrow.array_units(0, BasicType::Byte) * 8, 16);
        assert_eq!(narrow.array_units(3, BasicType::Object) * 8, 32);
        assert_eq!(wide.array_units(3, BasicType::Object) * 8, 48);
        assert_eq!(wide.array_units(1, BasicType::Int) * 8, 32);
        assert_eq!(narrow.array_units(u32::MAX, BasicType::Long), u32::MAX);
    }

    #[test]
    fn small_ids_mean_a_small_machine() {
        assert_eq!(Sizes::assumed(4, false).header_bytes, 8);
    }
}
