//! The sizes of objects in a JVM's heap, which no HPROF record contains.

use crate::BasicType;

/// Bytes that objects take in the heap in addition to their values.
///
/// The default is HotSpot's on 64 bits with a heap below 32 GiB: a header of 12 bytes, references
/// of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectSizes {
    /// The header of an object that is not an array.
    pub header_bytes: u64,
    /// The bytes before the elements of an array of references.
    pub array_header_bytes: u64,
    /// The bytes before the elements of an array of values of up to 4 bytes. Elements of 8 bytes
    /// start at the next multiple of 8.
    pub value_header_bytes: u64,
    /// A reference in a field or an element.
    pub reference_bytes: u64,
    /// Each object's size is a multiple of this.
    pub alignment_bytes: u64,
}

impl Default for ObjectSizes {
    fn default() -> Self {
        Self {
            header_bytes: 12,
            array_header_bytes: 16,
            value_header_bytes: 16,
            reference_bytes: 4,
            alignment_bytes: 8,
        }
    }
}

impl ObjectSizes {
    /// The numbers, in the order of the fields.
    pub fn bytes(self) -> [u64; 5] {
        [
            self.header_bytes,
            self.array_header_bytes,
            self.value_header_bytes,
            self.reference_bytes,
            self.alignment_bytes,
        ]
    }

    /// The sizes with these numbers, in the order of the fields.
    pub fn of_bytes(bytes: [u64; 5]) -> Self {
        let [header_bytes, array_header_bytes, value_header_bytes, reference_bytes, alignment_bytes] =
            bytes;
        Self {
            header_bytes,
            array_header_bytes,
            value_header_bytes,
            reference_bytes,
            alignment_bytes,
        }
    }

    /// The sizes assumed for a file with identifiers of `id_bytes`: the default, or HotSpot's on 32
    /// bits.
    pub fn assumed(id_bytes: u32) -> Self {
        match id_bytes {
            4 => Self {
                header_bytes: 8,
                array_header_bytes: 12,
                value_header_bytes: 12,
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    /// The size of an object with `primitive_bytes` of primitive fields and `references`, inherited
    /// ones included.
    ///
    /// An estimate: it assumes that fields are packed. HotSpot does so from JDK 15 on; earlier, the
    /// fields of a subclass start at the next multiple of a reference's size, so an object may be
    /// larger by a word. Fields that HotSpot adds to a few of its own classes, and the padding of
    /// `@Contended`, are not counted.
    pub fn instance_bytes(&self, primitive_bytes: u64, references: u64) -> u64 {
        let references = self.reference_bytes.saturating_mul(references);
        let fields = primitive_bytes.saturating_add(references);
        self.aligned(self.header_bytes.saturating_add(fields))
    }

    /// The size of an array of `elements` references; exact.
    pub fn object_array_bytes(&self, elements: u32) -> u64 {
        let references = self.reference_bytes.saturating_mul(u64::from(elements));
        self.aligned(self.array_header_bytes.saturating_add(references))
    }

    /// The size of the elements of a primitive array, without its header: text output has always
    /// shown this number.
    pub fn primitive_array_bytes(length: u32, element: BasicType) -> u64 {
        u64::from(length) * u64::from(element.size_bytes(0))
    }

    fn aligned(&self, bytes: u64) -> u64 {
        bytes
            .checked_next_multiple_of(self.alignment_bytes)
            .unwrap_or(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_headers_and_fields_aligned() {
        let sizes = ObjectSizes::default();
        assert_eq!(sizes.instance_bytes(0, 0), 16);
        assert_eq!(sizes.instance_bytes(0, 1), 16);
        assert_eq!(sizes.instance_bytes(1, 1), 24);
        assert_eq!(sizes.instance_bytes(12, 0), 24);
        let wide = ObjectSizes {
            header_bytes: 16,
            reference_bytes: 8,
            alignment_bytes: 16,
            ..sizes
        };
        assert_eq!(wide.instance_bytes(0, 1), 32);
        assert_eq!(ObjectSizes::assumed(4).instance_bytes(4, 1), 16);
        assert_eq!(ObjectSizes::assumed(8), sizes);
    }

    #[test]
    fn arrays_are_headers_and_references_aligned() {
        let sizes = ObjectSizes::default();
        assert_eq!(sizes.object_array_bytes(0), 16);
        assert_eq!(sizes.object_array_bytes(3), 32);
        assert_eq!(sizes.object_array_bytes(u32::MAX), 17_179_869_200);
        assert_eq!(ObjectSizes::assumed(4).object_array_bytes(0), 16);
        assert_eq!(ObjectSizes::assumed(4).object_array_bytes(1), 16);
        assert_eq!(ObjectSizes::assumed(4).object_array_bytes(2), 24);
    }

    #[test]
    fn primitive_arrays_are_their_elements() {
        for (element, bytes) in [
            (BasicType::Byte, 3),
            (BasicType::Char, 6),
            (BasicType::Int, 12),
            (BasicType::Double, 24),
        ] {
            assert_eq!(ObjectSizes::primitive_array_bytes(3, element), bytes);
        }
    }

    #[test]
    fn nothing_to_align_to_is_no_fault() {
        let none = ObjectSizes {
            alignment_bytes: 0,
            header_bytes: u64::MAX,
            ..ObjectSizes::default()
        };
        assert_eq!(none.object_array_bytes(1), 20);
        assert_eq!(none.instance_bytes(4, 0), u64::MAX);
    }
}
