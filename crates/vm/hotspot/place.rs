//! Places in HotSpot's structures: where a part of a structure, or something that belongs to it,
//! starts.

use super::memory::{Address, Readable};
use super::vm_structs::Table;

/// The fields that hold the place, by their offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A field with the address.
    Address(u64),
    /// A field with the distance from the structure's start.
    Offset(u64),
}

impl Place {
    /// By a field that holds an address if its name ends with `_begin`, and otherwise a distance;
    /// `None` if this JVM does not export it.
    pub(super) fn find(table: Table, of: &str, field: &str) -> Option<Self> {
        let kind = if field.ends_with("_begin") {
            Self::Address
        } else {
            Self::Offset
        };
        table.offset(of, field).map(kind)
    }

    /// Where the part starts, according to this structure.
    ///
    /// # Safety
    /// A structure with these fields is there.
    pub(super) unsafe fn of(self, structure: Address) -> Address {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Address(at) => Address::new(structure.add(at).read()),
                Self::Offset(at) => structure.offset(structure.add(at).read()),
            }
        }
    }

    /// The same in a forked copy, whatever is there; `None` if it cannot be read.
    pub(super) fn read(self, memory: &Readable<'_>, structure: Address) -> Option<Address> {
        Some(match self {
            Self::Address(at) => Address::new(memory.read(structure.add(at))?),
            Self::Offset(at) => structure.offset(memory.read(structure.add(at))?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::own_mappings;

    #[test]
    fn a_place_is_told_in_two_ways() {
        // An address, and a distance of 100.
        let structure = [0x5000_u64, 100];
        let start = structure.as_ptr() as u64;
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        for (place, expected) in [(Place::Address(0), 0x5000), (Place::Offset(8), start + 100)] {
            // SAFETY: both fields are there.
            let found = unsafe { place.of(Address::new(start)) };
            assert_eq!(found.bits(), expected, "{place:?}");
            assert_eq!(place.read(&memory, Address::new(start)), Some(found));
            assert_eq!(place.read(&memory, Address::new(8)), None);
        }
    }
}
