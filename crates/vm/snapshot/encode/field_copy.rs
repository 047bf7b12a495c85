//! Copies the value of a field from an object to the file without branching on its type. A heap has
//! hundreds of millions of fields, and branch prediction cannot guess the next field's type.

use crate::layout::Oops;
use crate::memory::Memory;
use format::BasicType;

/// Bytes that are read and written at a time, whatever the field's type.
pub(crate) const AT_ONCE_BYTES: u32 = 8;

/// The field is the high end of the eight bytes that end with it only on a little-endian processor.
const _: () = assert!(cfg!(target_endian = "little"));

/// One field of an instance: what to read and how to convert it.
///
/// The eight bytes that end with the field are read, so that the field is their high end on a
/// little-endian processor. All three conversions (bits, boolean, reference) are computed, and a
/// mask selects one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldCopy {
    /// Offset in the object of the eight bytes.
    from: u32,
    /// Bytes in the file, and in the heap.
    width_bytes: u8,
    heap_bytes: u8,
    /// All ones if the bits themselves are written.
    as_bits: u64,
    /// All ones for a boolean, written as 1 if any bit is set, else as 0. Readers expect 0 or 1,
    /// but native code may have stored anything.
    as_boolean: u64,
    /// All ones for a reference that is not the address itself, written as the address.
    as_reference: u64,
}

impl FieldCopy {
    /// The field at this offset. Without `values`, all fields but references are zeros in the file.
    ///
    /// `None` if the field ends before the eighth byte, where HotSpot has no fields.
    pub fn new(offset: u32, basic_type: BasicType, oops: Oops, values: bool) -> Option<Self> {
        let is_encoded = basic_type == BasicType::Object && oops != Oops::Wide;
        let heap_bytes = u8::try_from(oops.size_bytes(basic_type)).ok()?;
        let is_boolean = basic_type == BasicType::Boolean;
        let counts = values || basic_type == BasicType::Object;
        let all = |condition: bool| if condition { u64::MAX } else { 0 };
        Some(Self {
            from: (offset + u32::from(heap_bytes)).checked_sub(AT_ONCE_BYTES)?,
            width_bytes: u8::try_from(basic_type.size_bytes(8)).ok()?,
            heap_bytes,
            as_bits: all(counts && !is_boolean && !is_encoded),
            as_boolean: all(counts && is_boolean),
            as_reference: all(counts && is_encoded),
        })
    }

    /// The address of the eight bytes to read, for the object at this address.
    #[inline]
    pub fn place(&self, object: u64) -> u64 {
        object + u64::from(self.from)
    }

    /// Bytes in the file: this many of [`FieldCopy::value`] count.
    #[inline]
    pub fn width_bytes(&self) -> usize {
        self.width_bytes.into()
    }

    /// Bytes in the file, for sums of offsets.
    pub(crate) fn width(&self) -> u32 {
        self.width_bytes.into()
    }

    /// Whether the file contains anything but zeros for the field.
    pub(crate) fn is_kept(&self) -> bool {
        self.as_bits | self.as_boolean | self.as_reference != 0
    }

    /// Offset of the field in the object.
    pub(crate) fn offset(&self) -> u32 {
        self.from + AT_ONCE_BYTES - u32::from(self.heap_bytes)
    }

    /// The value as in the file, followed by meaningless bytes; `oops` decodes references.
    #[inline]
    pub fn value(
        &self,
        memory: impl Memory,
        read: u64,
        oops: Oops,
    ) -> [u8; AT_ONCE_BYTES as usize] {
        let address = oops.high_end(memory, read);
        let boolean = u64::from(read >> 56 != 0) << 56;
        let value = read & self.as_bits | boolean & self.as_boolean | address & self.as_reference;
        value.to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Linear;
    use crate::memory::BufferMemory;

    const CODING: Linear = Linear {
        base: 0x7_0000_0000,
        shift: 3,
    };

    /// The file's bytes for the field at this offset.
    fn copied(offset: u32, basic_type: BasicType, oops: Oops, values: bool) -> Vec<u8> {
        let mut object = [0xEE_u8; 32];
        object[12..16].copy_from_slice(&5_u32.to_le_bytes());
        object[16..24].copy_from_slice(&0x1122_3344_5566_7788_u64.to_le_bytes());
        object[24..28].fill(0);
        let memory = BufferMemory::new(0x1000, &object);
        let copy = FieldCopy::new(offset, basic_type, oops, values).expect("behind the header");
        let read = memory.u64(copy.place(0x1000));
        copy.value(memory, read, oops)[..copy.width_bytes()].to_vec()
    }

    #[test]
    fn values_are_big_endian_in_their_width() {
        let wide = |offset, basic_type| copied(offset, basic_type, Oops::Wide, true);
        assert_eq!(wide(16, BasicType::Byte), [0x88]);
        assert_eq!(wide(18, BasicType::Char), [0x55, 0x66]);
        assert_eq!(wide(18, BasicType::Short), [0x55, 0x66]);
        assert_eq!(wide(12, BasicType::Int), [0, 0, 0, 5]);
        assert_eq!(wide(20, BasicType::Float), [0x11, 0x22, 0x33, 0x44]);
        let whole = 0x1122_3344_5566_7788_u64.to_be_bytes();
        for basic_type in [BasicType::Long, BasicType::Double, BasicType::Object] {
            assert_eq!(wide(16, basic_type), whole);
        }
    }

    #[test]
    fn a_boolean_is_0_or_1() {
        for oops in [Oops::Wide, Oops::Narrow(CODING)] {
            assert_eq!(copied(17, BasicType::Boolean, oops, true), [1]);
            assert_eq!(copied(25, BasicType::Boolean, oops, true), [0]);
        }
    }

    #[test]
    fn a_narrow_reference_is_an_address_and_null_is_0() {
        let oops = Oops::Narrow(CODING);
        let address = 0x7_0000_0028_u64.to_be_bytes();
        assert_eq!(copied(12, BasicType::Object, oops, true), address);
        assert_eq!(copied(24, BasicType::Object, oops, true), [0; 8]);
    }

    #[test]
    fn without_values_references_stay() {
        let oops = Oops::Narrow(CODING);
        let address = 0x7_0000_0028_u64.to_be_bytes();
        assert_eq!(copied(12, BasicType::Object, oops, false), address);
        assert_eq!(copied(12, BasicType::Int, oops, false), [0; 4]);
        assert_eq!(copied(17, BasicType::Boolean, oops, false), [0]);
        assert_eq!(copied(16, BasicType::Long, Oops::Wide, false), [0; 8]);
    }

    #[test]
    fn nothing_before_the_object_is_read() {
        let copy = |offset, basic_type| FieldCopy::new(offset, basic_type, Oops::Wide, true);
        assert_eq!(copy(6, BasicType::Byte), None);
        assert_eq!(copy(7, BasicType::Byte).map(|copy| copy.place(0)), Some(0));
        assert_eq!(copy(8, BasicType::Long).map(|copy| copy.place(0)), Some(8));
    }
}
