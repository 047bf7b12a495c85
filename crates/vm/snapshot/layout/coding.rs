//! Codings: how HotSpot encodes an object's address in a reference, and a class in an object's
//! header.
//!
//! Nothing here depends on a version: [`super::calibration`] finds the coding that explains all
//! known objects.

use crate::memory::Memory;
use format::BasicType;

/// `address = base + (code << shift)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Address of code 0.
    pub base: u64,
    /// Low bits that are zero because of alignment.
    pub shift: u32,
}

/// Largest shift that is tried. HotSpot aligns objects to at most 256 bytes, and classes to at most
/// 1024.
const MOST_SHIFT: u32 = 10;

impl Linear {
    /// The coding of uncompressed references.
    pub const PLAIN: Self = Self { base: 0, shift: 0 };

    /// The address for a code.
    #[inline]
    pub fn address(self, code: u64) -> u64 {
        self.base.wrapping_add(code << self.shift)
    }

    /// The address for a code; 0 for code 0, which is null.
    #[inline]
    pub fn address_or_null(self, code: u64) -> u64 {
        if code == 0 {
            0
        } else {
            self.address(code)
        }
    }

    /// The code of an address; `None` if no code of 64 bits encodes it.
    pub fn code(self, address: u64) -> Option<u64> {
        let distance = address.wrapping_sub(self.base);
        let code = distance >> self.shift;
        (self.address(code) == address).then_some(code)
    }

    /// The coding that explains all pairs of code and address. `None` if no coding does, or if
    /// there are fewer than `least` different codes.
    pub fn explaining(pairs: &[(u64, u64)], least: usize) -> Option<Self> {
        let mut codes: Vec<u64> = pairs.iter().map(|&(code, _)| code).collect();
        codes.sort_unstable();
        codes.dedup();
        if codes.len() < least {
            return None;
        }
        (0..=MOST_SHIFT).find_map(|shift| {
            let &(code, address) = pairs.first()?;
            let base = address.wrapping_sub(code << shift);
            let coding = Self { base, shift };
            pairs
                .iter()
                .all(|&(code, address)| coding.address(code) == address)
                .then_some(coding)
        })
    }
}

/// How objects store references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oops {
    /// Eight bytes: the address itself.
    Wide,
    /// Eight bytes, which the memory's [`Colours`](super::Colours) decode.
    Coloured,
    /// Four bytes (`UseCompressedOops`); code 0 is null.
    Narrow(Linear),
}

impl Oops {
    /// Bytes of a reference in the heap.
    #[inline]
    pub fn width_bytes(self) -> u64 {
        match self {
            Self::Wide | Self::Coloured => 8,
            Self::Narrow(_) => 4,
        }
    }

    /// Bytes of a value of this type in the heap.
    pub fn size_bytes(self, basic_type: BasicType) -> u64 {
        match basic_type {
            BasicType::Object => self.width_bytes(),
            primitive => u64::from(primitive.size_bytes(8)),
        }
    }

    /// The address in the reference at `place`; 0 is null.
    #[inline]
    pub fn load(self, memory: impl Memory, place: u64) -> u64 {
        match self {
            Self::Wide => memory.u64(place),
            Self::Coloured => memory.reference(place),
            Self::Narrow(coding) => coding.address_or_null(u64::from(memory.u32(place))),
        }
    }

    /// The coding that turns a narrow reference into an address.
    #[inline]
    pub fn coding(self) -> Linear {
        match self {
            Self::Wide | Self::Coloured => Linear::PLAIN,
            Self::Narrow(coding) => coding,
        }
    }

    /// The address in a reference that is the high end of these eight bytes; 0 is null.
    #[inline]
    pub fn high_end(self, memory: impl Memory, read: u64) -> u64 {
        match self {
            Self::Wide => read,
            Self::Coloured => memory.decoded(read),
            Self::Narrow(coding) => coding.address_or_null(read >> 32),
        }
    }

    /// The value at `place`, zero-extended; for a reference, the object's address.
    #[inline]
    pub fn value(self, memory: impl Memory, place: u64, basic_type: BasicType) -> u64 {
        match basic_type {
            BasicType::Object => self.load(memory, place),
            BasicType::Boolean | BasicType::Byte => u64::from(memory.u8(place)),
            BasicType::Char | BasicType::Short => u64::from(memory.u16(place)),
            BasicType::Float | BasicType::Int => u64::from(memory.u32(place)),
            BasicType::Double | BasicType::Long => memory.u64(place),
        }
    }
}

/// The position of the class word in an object's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassWords {
    /// Eight bytes after the mark word.
    Wide,
    /// Four bytes after the mark word (`UseCompressedClassPointers`).
    Narrow,
    /// The high bits of the mark word, from this bit on (`UseCompactObjectHeaders`).
    Compact(u32),
}

impl ClassWords {
    /// The class word of the object at this address: equal for objects of one class, different
    /// otherwise.
    #[inline]
    pub fn load(self, memory: impl Memory, object: u64) -> u64 {
        match self {
            Self::Wide => memory.u64(object.wrapping_add(8)),
            Self::Narrow => u64::from(memory.u32(object.wrapping_add(8))),
            Self::Compact(shift) => memory.u64(object) >> shift,
        }
    }
}

/// The offset encoded in an instance field's id (HotSpot's `jfieldIDWorkaround`); `None` for other
/// ids. Bit 1 marks an instance field. Bit 0 marks an id with a hash of the class, in which the
/// offset has only seven bits.
pub fn instance_offset(field_id: u64) -> Option<u32> {
    if field_id & 2 == 0 {
        return None;
    }
    let offset = field_id >> 2;
    u32::try_from(if field_id & 1 == 0 {
        offset
    } else {
        offset & 0x7F
    })
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::BufferMemory;

    #[test]
    fn a_coding_is_found_from_what_it_explains() {
        for (base, shift) in [
            (0, 0),
            (0, 3),
            (0x8_0000_0000, 3),
            (0x7F00_1000, 4),
            (1 << 40, 10),
        ] {
            let coding = Linear { base, shift };
            let codes = [5, 9, 1 << 20, 77_777];
            let pairs: Vec<_> = codes.map(|code| (code, coding.address(code))).to_vec();
            assert_eq!(Linear::explaining(&pairs, 3), Some(coding));
            assert_eq!(coding.code(coding.address(9)), Some(9));
        }
    }

    #[test]
    fn a_coding_is_not_made_up() {
        assert_eq!(Linear::explaining(&[(1, 8), (2, 16), (3, 32)], 2), None);
        assert_eq!(Linear::explaining(&[(1, 8), (1, 8)], 2), None);
        assert_eq!(Linear::explaining(&[], 0), None);
        let aligned = Linear { base: 0, shift: 3 };
        assert_eq!(aligned.code(12), None);
    }

    #[test]
    fn null_has_no_base() {
        let words = [0_u32, 2];
        let oops = Oops::Narrow(Linear {
            base: 0x1000,
            shift: 3,
        });
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let memory = BufferMemory::new(0x5000, &bytes);
        let start = 0x5000;
        assert_eq!(oops.load(memory, start), 0);
        assert_eq!(oops.load(memory, start + 4), 0x1010);
    }

    #[test]
    fn offsets_of_fields_stand_in_their_ids() {
        assert_eq!(instance_offset((12 << 2) | 2), Some(12));
        assert_eq!(instance_offset((300 << 2) | 2), Some(300));
        assert_eq!(instance_offset((0xABD << 9) | (24 << 2) | 3), Some(24));
        assert_eq!(instance_offset(0x7F00_1230), None);
    }
}
