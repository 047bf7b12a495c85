//! The size of an object in the heap.
//!
//! HPROF does not contain it. If the file does not describe the JVM's layout, the rules are Eclipse MAT's: the fields
//! of each class in the superclass chain start at a multiple of a reference's size, so do the elements of an array, and the
//! total is a multiple of the alignment.

use format::BasicType;

/// All sizes are counted in multiples of this.
pub(crate) const UNIT_BYTES: u64 = 8;

/// The layout of a JVM's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes before the first field of an instance.
    pub header_bytes: u64,
    /// Bytes before the first element of an array.
    pub array_header_bytes: u64,
    /// Bytes of a reference in a field or an array.
    pub reference_bytes: u64,
    /// Object sizes are rounded up to a multiple of this; at least 8.
    pub alignment_bytes: u64,
    /// Whether the file contains these numbers; otherwise they are assumed.
    pub are_told: bool,
}

impl Sizes {
    /// The assumed layout for ids of this size. References are narrow (compressed) if some objects are too close
    /// together for wide ones, or if all addresses are below 32 GiB, where HotSpot compresses references by default.
    pub fn assumed(id_bytes: u32, references_are_narrow: bool, highest_id: u64) -> Self {
        let is_narrow = references_are_narrow || highest_id < 32 << 30;
        let (word, reference) = match (id_bytes, is_narrow) {
            (4, _) => (4, 4),
            (_, true) => (8, 4),
            (_, false) => (8, 8),
        };
        Self {
            header_bytes: word + reference,
            array_header_bytes: rounded(word + reference + 4, reference),
            reference_bytes: reference,
            alignment_bytes: 8,
            are_told: false,
        }
    }

    /// The layout that a JVM tells of itself. What cannot be is taken for what is usual.
    pub(crate) fn told(header: u64, array_header: u64, reference: u64, alignment: u64) -> Self {
        let is_alignment = alignment.is_power_of_two() && (8..=1 << 20).contains(&alignment);
        Self {
            header_bytes: header,
            array_header_bytes: array_header,
            reference_bytes: if reference == 4 { 4 } else { 8 },
            alignment_bytes: if is_alignment { alignment } else { 8 },
            are_told: true,
        }
    }

    /// Bytes of the fields that one class declares.
    pub(crate) fn fields(&self, kinds: impl Iterator<Item = BasicType>) -> u64 {
        kinds.map(|kind| self.value(kind)).sum()
    }

    /// Bytes of one value.
    pub(crate) fn value(&self, kind: BasicType) -> u64 {
        match kind {
            BasicType::Object => self.reference_bytes,
            other => u64::from(other.size_bytes(8)),
        }
    }

    /// Bytes of these fields together with those of the superclasses.
    pub(crate) fn with_fields(&self, supers_bytes: u64, fields_bytes: u64) -> u64 {
        rounded(
            supers_bytes.saturating_add(fields_bytes),
            self.reference_bytes,
        )
    }

    /// The size of an object in units of [`UNIT_BYTES`].
    pub(crate) fn units(&self, bytes: u64) -> u32 {
        let units = rounded(bytes, self.alignment_bytes) / UNIT_BYTES;
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// The size of an array in units.
    pub(crate) fn array_units(&self, length: u32, kind: BasicType) -> u32 {
        let elements = u64::from(length).saturating_mul(self.value(kind));
        // If elements of 8 bytes follow a header whose size is not a multiple of 8, HotSpot leaves a gap.
        let header = rounded(self.array_header_bytes, self.value(kind).min(UNIT_BYTES));
        self.units(header.saturating_add(elements))
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
        let narrow = Sizes::assumed(8, true, u64::MAX);
        let wide = Sizes::assumed(8, false, u64::MAX);
        let string = |sizes: &Sizes| {
            let fields = [
                BasicType::Object,
                BasicType::Int,
                BasicType::Byte,
                BasicType::Boolean,
            ];
            let bytes = sizes.fields(fields.into_iter());
            sizes.units(sizes.with_fields(sizes.header_bytes, bytes)) * 8
        };
        assert_eq!((string(&narrow), string(&wide)), (24, 32));
        assert_eq!(narrow.array_units(0, BasicType::Byte) * 8, 16);
        assert_eq!(narrow.array_units(3, BasicType::Object) * 8, 32);
        assert_eq!(wide.array_units(3, BasicType::Object) * 8, 48);
        assert_eq!(wide.array_units(1, BasicType::Int) * 8, 32);
        assert_eq!(narrow.array_units(u32::MAX, BasicType::Long), u32::MAX);
    }

    #[test]
    fn low_addresses_mean_compressed_references() {
        assert_eq!(Sizes::assumed(8, false, 1 << 32).reference_bytes, 4);
        assert_eq!(Sizes::assumed(8, false, 1 << 40).reference_bytes, 8);
        assert_eq!(Sizes::assumed(4, false, 1 << 30).header_bytes, 8);
    }
}
