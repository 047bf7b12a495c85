//! HotSpot's oop maps: which registers and stack slots of a compiled frame hold references
//! (oopMap.hpp).
//!
//! A blob of compiled code has a set of maps, one for each return address at which the collector
//! may look at the frame. A map is a compressed list of numbers. Each names a place and what is
//! there. A place is a register of the frame's callee, or a slot of four bytes above the frame's
//! stack pointer.

use super::code_cache::Returned;
use super::layouts::OopMapLayout;
use super::memory::{Address, Readable, WORD_BYTES};

/// Bytes of a stack slot (`VMRegImpl::stack_slot_size`).
const SLOT_BYTES: u64 = 4;
/// More entries than any map has, and more maps than any method has.
const MOST: u32 = 1 << 20;
/// More names of registers than any processor has.
const MOST_REGISTERS: u64 = 4096;
/// The beginning of HotSpot's name for registers that are none.
const NO_REGISTER: &[u8] = b"NON-";

/// Where the maps are, and how they are written.
#[derive(Clone, Debug)]
pub(super) struct OopMaps {
    at: OopMapLayout,
    /// What a byte of a number is above its value: since JDK 20 no byte is 0.
    excluded: u32,
}

/// A place of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// A register, by HotSpot's number.
    Register(u32),
    /// So many bytes above the stack pointer.
    Stack(u64),
}

/// An entry of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A reference of eight bytes.
    Wide(Spot),
    /// A compressed reference.
    Narrow(Spot),
    /// The kind of value that the caller keeps in this register.
    Saved(u32, Spot),
}

impl Spot {
    fn of(number: u32, first_slot: u32) -> Self {
        match number.checked_sub(first_slot) {
            Some(slot) => Self::Stack(u64::from(slot) * SLOT_BYTES),
            None => Self::Register(number),
        }
    }
}

impl OopMaps {
    /// Looks up the structures; the error names what this JVM does not export. `java` is its
    /// version.
    pub(super) fn find(java: u32) -> Result<Self, &'static str> {
        let mut at = OopMapLayout::find()?;
        at.bits = at.bits.min(u32::BITS - 1);
        let excluded = u32::from(java >= 20);
        Ok(Self { at, excluded })
    }

    /// The entries of the map for a return address; none if its code has no maps. `None` if they
    /// cannot be read, or if there is no map for this address.
    pub(super) fn entries(
        &self,
        memory: &Readable<'_>,
        first_slot: u32,
        code: &Returned,
    ) -> Option<Vec<Entry>> {
        let set = Address::new(memory.read(code.blob.add(self.at.in_blob))?);
        if set == Address::default() {
            return Some(Vec::new());
        }
        let count: u32 = memory.read(set.add(self.at.set_count))?;
        let pair =
            |number: u32| set.add(self.at.set_bytes + u64::from(number) * self.at.pair_bytes);
        let number = (0..count.min(MOST)).find(|&number| {
            memory.read(pair(number).add(self.at.pair_pc)) == Some(code.distance)
        })?;
        let at: u32 = memory.read(pair(number).add(self.at.pair_map))?;
        self.map(memory, first_slot, pair(count).add(at.into()))
    }

    fn map(&self, memory: &Readable<'_>, first_slot: u32, map: Address) -> Option<Vec<Entry>> {
        let count: u32 = memory.read(map.add(self.at.map_count))?;
        let mut from = map.add(self.at.map_bytes);
        let mut entries = Vec::new();
        for _ in 0..count.min(MOST) {
            let value = self.number(memory, &mut from)?;
            let kind = value & ((1 << self.at.bits) - 1);
            let spot = Spot::of(value >> self.at.bits, first_slot);
            if kind == self.at.oop {
                entries.push(Entry::Wide(spot));
            } else if kind == self.at.narrow_oop {
                entries.push(Entry::Narrow(spot));
            } else if kind == self.at.saved {
                entries.push(Entry::Saved(self.number(memory, &mut from)?, spot));
            } else if kind == self.at.derived {
                // An address within the object that another entry names.
                self.number(memory, &mut from)?;
            } else {
                return None;
            }
        }
        Some(entries)
    }

    /// The number of the first stack slot, below which all are registers: how many registers have a
    /// name, up to a multiple of eight (vmreg.cpp). The last of them are none, and share a name
    /// that says so.
    pub(super) fn first_slot(&self, memory: &Readable<'_>) -> Option<u32> {
        let names = Address::new(self.at.register_names);
        let name = |number: u64| memory.read::<u64>(names.add(number * WORD_BYTES));
        let is_none = |name: u64| {
            let begins = memory.text(Address::new(name), NO_REGISTER.len() as u64);
            begins.as_deref() == Some(NO_REGISTER)
        };
        let mut numbers = 0..MOST_REGISTERS;
        let first = numbers.find(|&number| name(number).is_some_and(is_none))?;
        let shared = name(first);
        let behind = numbers.find(|&number| name(number) != shared)?;
        u32::try_from(behind.next_multiple_of(8)).ok()
    }

    fn number(&self, memory: &Readable<'_>, from: &mut Address) -> Option<u32> {
        packed_number(memory, from, self.excluded)
    }
}

/// A number of up to five bytes (`UNSIGNED5`, compressedStream.hpp): the values of the first bytes,
/// six bits each, are so high that another follows. A byte is `excluded` above its value.
pub(super) fn packed_number(
    memory: &Readable<'_>,
    from: &mut Address,
    excluded: u32,
) -> Option<u32> {
    const BITS: u32 = 6;
    const LAST: u32 = 4;
    let most_alone = 256 - excluded - (1 << BITS);
    let mut sum = 0_u32;
    for number in 0..=LAST {
        let byte = u32::from(memory.read::<u8>(*from)?).checked_sub(excluded)?;
        *from = from.add(1);
        sum = sum.wrapping_add(byte << (number * BITS));
        if byte < most_alone {
            break;
        }
    }
    Some(sum)
}

/// Maps in a test's own memory, and tests.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::memory::tests::{only, own_mappings, part};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::ffi::CStr;
    use std::ops::Range;

    /// The names of the registers that are some, and of one that is none.
    static NAMES: [&CStr; 2] = [c"rax", c"NON-GPR"];

    /// Maps, and what they are read from.
    pub(crate) struct FakeMaps {
        pub(crate) maps: OopMaps,
        /// The set of maps.
        pub(crate) set: Box<[u8]>,
        /// The names of registers.
        pub(crate) names: Box<[u64]>,
    }

    impl FakeMaps {
        /// Code has its maps that many bytes behind its start: for each distance, a count of
        /// entries, and their bytes. There are 13 names of registers, so the first stack slot is
        /// number 16.
        pub(crate) fn new(in_blob: u64, maps: [(u8, u8, [u8; 4]); 2]) -> Self {
            let [rax, none] = NAMES.map(|name| name.as_ptr() as u64);
            let mut names = vec![rax; 12];
            names.extend([none, 0]);
            let mut set = vec![2, 0, 0, 0, 99, 0, 0, 0];
            for (offset, (distance, ..)) in [0, 8].into_iter().zip(maps) {
                set.extend([distance, 0, 0, 0, offset, 0, 0, 0]);
            }
            for (_, count, bytes) in maps {
                set.extend([count, 0, 0, 0]);
                set.extend(bytes);
            }
            let maps = OopMaps {
                at: OopMapLayout {
                    in_blob,
                    set_bytes: 8,
                    set_count: 0,
                    pair_bytes: 8,
                    pair_pc: 0,
                    pair_map: 4,
                    map_bytes: 4,
                    map_count: 0,
                    bits: 2,
                    oop: 0,
                    narrow_oop: 1,
                    saved: 2,
                    derived: 3,
                    register_names: names.as_ptr() as u64,
                },
                excluded: 1,
            };
            Self {
                maps,
                set: set.into(),
                names: names.into(),
            }
        }

        /// Its memory.
        pub(crate) fn parts(&self) -> Vec<Range<u64>> {
            let names = NAMES.iter().map(|name| part(name.to_bytes_with_nul()));
            let own = [part(&self.set), part(&self.names)];
            names.chain(own).collect()
        }
    }

    /// No entries for any distance but 9: slot 1, slot 0 narrow, and what the caller has in
    /// register 6, in slot 2.
    fn fake() -> FakeMaps {
        FakeMaps::new(0, [(9, 3, [69, 66, 75, 7]), (20, 0, [0; 4])])
    }

    #[test]
    fn registers_with_a_name_come_before_the_stack() {
        let fake = fake();
        let mappings = own_mappings();
        assert_eq!(fake.maps.first_slot(&Readable::of(&mappings)), Some(16));
    }

    #[test]
    fn a_number_has_as_many_bytes_as_it_needs() {
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        for (excluded, bytes, expected) in [
            (0, [7_u8, 0], Some(7)),
            (0, [224, 34], Some(2400)),
            (1, [225, 35], Some(2400)),
            (1, [8, 0], Some(7)),
            // A byte that is never written.
            (1, [0, 0], None),
        ] {
            let maps = OopMaps {
                excluded,
                ..fake().maps
            };
            let mut from = Address::new(bytes.as_ptr() as u64);
            assert_eq!(maps.number(&memory, &mut from), expected);
        }
    }

    #[test]
    fn every_kind_of_entry_is_read() {
        let fake = fake();
        let blob = [fake.set.as_ptr() as u64, 0];
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let entries = |word: usize, distance| {
            let code = Returned {
                blob: Address::new(blob[word..].as_ptr() as u64),
                distance,
                ..Returned::default()
            };
            fake.maps.entries(&memory, 16, &code)
        };
        let all = [
            Entry::Wide(Spot::Stack(4)),
            Entry::Narrow(Spot::Stack(0)),
            Entry::Saved(6, Spot::Stack(8)),
        ];
        assert_eq!(entries(0, 9), Some(all.to_vec()));
        assert_eq!(entries(0, 20), Some(Vec::new()));
        assert_eq!(entries(0, 10), None);
        // Code without maps.
        assert_eq!(entries(1, 9), Some(Vec::new()));
    }

    /// A count or an offset.
    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![8 => 0..8_u32, 2 => 0..100_u32, 1 => any::<u32>()]
    }

    /// A set of maps, of which nothing needs to be true.
    fn set() -> impl Strategy<Value = Vec<u8>> {
        let pairs = vec((number(), number()), 0..6);
        let maps = (number(), vec(any::<u8>(), 0..60));
        (number(), pairs, maps).prop_map(|(count, pairs, (entries, bytes))| {
            let mut set = vec![count, 0];
            set.extend(pairs.iter().flat_map(|&(distance, at)| [distance, at]));
            set.push(entries);
            let set = set.into_iter().flat_map(u32::to_ne_bytes);
            set.chain(bytes).collect()
        })
    }

    proptest! {
        #[test]
        fn what_lies_behind_the_end_of_hostile_maps_is_not_read(
            set in set(),
            cut in 0..20_usize,
            distance in 0..8_u32,
            excluded in 0..=1_u32,
        ) {
            let maps = OopMaps { excluded, ..fake().maps };
            let end = set.len().saturating_sub(cut);
            let entries = |behind: u8| {
                let mut set = set.clone();
                set[end..].fill(behind);
                let blob = [set.as_ptr() as u64];
                let mappings = only(vec![part(&set[..end]), part(&blob)]);
                let code = Returned {
                    blob: Address::new(blob.as_ptr() as u64),
                    distance,
                    ..Returned::default()
                };
                maps.entries(&Readable::of(&mappings), 16, &code)
            };
            let found = entries(0);
            prop_assert!(found.iter().flatten().count() <= end);
            prop_assert_eq!(entries(7), found);
        }
    }
}
