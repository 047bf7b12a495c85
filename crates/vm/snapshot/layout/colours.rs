//! Colours: how ZGC encodes an object's address in a reference, and where an object is that it has
//! moved (zAddress.hpp, zForwarding.inline.hpp; up to 21 also xAddress.hpp).
//!
//! Nothing here moves an object or heals a reference. ZGC must not be relocating: then its
//! forwarding tables are complete.
//!
//! With generations, one of four remapped bits is the good one, and the address is shifted; in the
//! other mode the address has one of three view bits. Good references, and those of the remapped
//! view while objects are marked, are current. Stale ones stay until the next marking: the remapped
//! bits say which table of forwardings has their object. Where both tables may, a reference from
//! old to old leads to an old object, and any other to a young one if the young table has its page
//! (`ZBarrier::remap_generation`).

/// Addresses of objects have fewer bits than this. A coloured pointer of generational ZGC has more,
/// unless it is null.
const ADDRESS_BITS: u32 = 47;
/// In a pointer of generational ZGC, the remapped bits: exactly one is set, and the address starts
/// above it. Below are the other colours.
const REMAPPED_SHIFT: u32 = 12;
const REMAPPED_MASK: u64 = 0xF << REMAPPED_SHIFT;
/// The remembered bits. Both are set in a reference from the old generation to itself.
const REMEMBERED_MASK: u64 = 0b11 << 4;
/// Log2 of the bytes that one entry of a granule table stands for.
pub const GRANULE_SHIFT: u32 = 21;
/// An entry of a forwarding table: whether it is used, the new place, the object's number.
const IS_USED: u64 = 1;
const NEW_PLACE_SHIFT: u32 = 1;
const NEW_PLACE_BITS: u32 = 45;
const NUMBER_SHIFT: u32 = 46;

/// A table with one pointer for each granule of the heap's address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GranuleTable {
    /// The address of its entries, and how many there are.
    pub entries: u64,
    /// The number of entries.
    pub length: u64,
}

/// Offsets in a forwarding: what has become of the objects of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForwardingPlaces {
    /// Where the page starts, as an offset in the heap.
    pub start: u64,
    /// Log2 of the alignment of the page's objects.
    pub alignment_shift: u64,
    /// The number of entries, a power of two.
    pub length: u64,
    /// The entries.
    pub entries: u64,
}

/// The colour that references have when their addresses are current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    /// ZGC without generations: these bits of the address. A stale reference has others.
    View {
        /// The bits that the addresses of all objects have.
        good: u64,
        /// The bits that only a stale reference has (`ZAddressWeakBadMask`). One that was remapped
        /// before the current marking is not stale.
        stale: u64,
        /// What was moved.
        moved: GranuleTable,
    },
    /// Generational ZGC: this remapped bit.
    Remapped {
        /// The bit.
        bit: u64,
        /// What was moved in the young and in the old generation.
        moved: [GranuleTable; 2],
    },
}

/// How to decode the references of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The good colour.
    pub good: Good,
    /// The bits of an address that are an offset in the heap.
    pub offset_mask: u64,
    /// How to read a forwarding.
    pub forwarding: ForwardingPlaces,
}

impl Colours {
    /// The address of the object to which this reference leads; 0 for null. An address without a
    /// colour stays as it is. `word` reads eight bytes at an address.
    #[inline]
    pub fn address(&self, word: impl Fn(u64) -> u64 + Copy, reference: u64) -> u64 {
        match self.good {
            // Null has no colour. An object may be at the offset 0.
            Good::View { .. } if reference == 0 => 0,
            Good::View { good, stale, moved } => {
                let offset = reference & self.offset_mask;
                if reference & stale == 0 {
                    return offset | good;
                }
                self.current(word, moved, offset) | good
            }
            Good::Remapped { bit, moved } => {
                if reference >> ADDRESS_BITS == 0 {
                    return plain(reference);
                }
                let address = reference >> shift(reference);
                if reference & REMAPPED_MASK == bit {
                    return address;
                }
                let [young, old] = moved;
                let table = match stale(reference, bit) {
                    Stale::Young => young,
                    Stale::Old => old,
                    Stale::Both if self.has_forwarding(word, young, address) => young,
                    Stale::Both => old,
                };
                let offset = address & self.offset_mask;
                self.current(word, table, offset) | (address & !self.offset_mask)
            }
        }
    }

    /// The reference that has this address and this colour (`ZAddress::color`): a chunk of a stack
    /// that ZGC has not visited has the addresses of its frames, and one colour for all. A word
    /// that has a colour of its own stays as it is, and so does one whose colour is none.
    pub fn reference(&self, word: u64, colour: u64) -> u64 {
        let has_one = (colour & REMAPPED_MASK).is_power_of_two() && colour >> 16 == 0;
        match self.good {
            Good::Remapped { .. } if has_one && word >> ADDRESS_BITS == 0 => {
                word << shift(colour) | colour
            }
            _ => word,
        }
    }

    /// The bits of an object's address that are no offset in the heap, as a reference that is not
    /// null has them now; `None` for null.
    pub fn base(&self, reference: u64) -> Option<u64> {
        let address = match self.good {
            Good::View { good, .. } => good,
            Good::Remapped { .. } if reference >> ADDRESS_BITS == 0 => reference,
            Good::Remapped { .. } => reference >> shift(reference),
        };
        Some(address & !self.offset_mask).filter(|&base| base != 0)
    }

    fn has_forwarding(
        &self,
        word: impl Fn(u64) -> u64 + Copy,
        table: GranuleTable,
        address: u64,
    ) -> bool {
        forwarding(word, table, address & self.offset_mask).is_some()
    }

    /// Where the object is that was at this offset.
    fn current(&self, word: impl Fn(u64) -> u64 + Copy, table: GranuleTable, offset: u64) -> u64 {
        let Some(forwarding) = forwarding(word, table, offset) else {
            return offset;
        };
        let places = &self.forwarding;
        let read = |place: u64| word(forwarding.wrapping_add(place));
        let shift = read(places.alignment_shift).min(u64::from(u64::BITS - 1));
        let number = offset.wrapping_sub(read(places.start)) >> shift;
        let mask = read(places.length).wrapping_sub(1);
        let mut cursor = hash(number);
        for _ in 0..=mask {
            cursor &= mask;
            let entry = read(places.entries.wrapping_add(cursor * 8));
            if entry & IS_USED == 0 {
                break;
            }
            if entry >> NUMBER_SHIFT == number {
                return (entry >> NEW_PLACE_SHIFT) & ((1 << NEW_PLACE_BITS) - 1);
            }
            cursor += 1;
        }
        offset
    }
}

/// The generation in which the target of a stale reference may have moved.
enum Stale {
    Young,
    Old,
    /// That of the target.
    Both,
}

/// `ZBarrier::remap_generation`. Each remapped bit stands for a state of both generations: the low
/// bit of its number is the young one's, the high bit the old one's.
fn stale(reference: u64, good_bit: u64) -> Stale {
    let number = |bit: u64| (bit >> REMAPPED_SHIFT).trailing_zeros();
    let differs = number(reference & REMAPPED_MASK) ^ number(good_bit);
    match differs & 0b11 {
        0b01 => Stale::Young,
        0b10 => Stale::Old,
        _ if reference & REMEMBERED_MASK == REMEMBERED_MASK => Stale::Old,
        _ => Stale::Both,
    }
}

/// How far the address in a coloured pointer is shifted.
fn shift(reference: u64) -> u32 {
    let remapped = reference & REMAPPED_MASK;
    // Zero in a word that is no reference.
    remapped.trailing_zeros().min(u64::BITS - 2) + 1
}

/// A reference without a colour: an address, or null, which has colours, too.
fn plain(reference: u64) -> u64 {
    if reference >> (REMAPPED_SHIFT + 4) == 0 {
        0
    } else {
        reference
    }
}

/// The address of the forwarding of the page that had this offset; `None` if there is none.
fn forwarding(word: impl Fn(u64) -> u64 + Copy, table: GranuleTable, offset: u64) -> Option<u64> {
    let number = offset >> GRANULE_SHIFT;
    let entry = (number < table.length).then(|| word(table.entries + number * 8))?;
    (entry != 0).then_some(entry)
}

/// `ZHash::uint32_to_uint32`: Thomas Wang's hash of 32 bits.
fn hash(number: u64) -> u64 {
    #[allow(clippy::cast_possible_truncation)] // a page has fewer objects
    let mut key = number as u32;
    key = (!key).wrapping_add(key << 15);
    key ^= key >> 12;
    key = key.wrapping_add(key << 2);
    key ^= key >> 4;
    key = key.wrapping_mul(2057);
    key ^= key >> 16;
    key.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{BufferMemory, Memory};

    const OFFSET_MASK: u64 = (1 << 42) - 1;
    const BASE: u64 = 1 << 42;
    /// Where the invented memory starts.
    const START: u64 = 0x5000;
    const PLACES: ForwardingPlaces = ForwardingPlaces {
        start: 0,
        alignment_shift: 8,
        length: 16,
        entries: 24,
    };
    const PAGE: u64 = 1 << GRANULE_SHIFT;

    /// Two granule tables of four entries, the first with a forwarding of the second granule, the
    /// second with one of the third. Of each page the object with this number has moved.
    fn memory(moved: &[(u64, u64); 2]) -> Vec<u8> {
        let mut words = vec![0_u64; 8];
        for (index, &(number, to)) in moved.iter().enumerate() {
            let at = START + words.len() as u64 * 8;
            words[index * 4 + 1 + index] = at;
            let length = 4;
            let mut entries = vec![0; 4];
            let entry = number << NUMBER_SHIFT | to << NEW_PLACE_SHIFT | IS_USED;
            // Another object's entry comes first.
            let cursor = hash(number) % 4;
            entries[usize::try_from(cursor).unwrap()] = (number + 1) << NUMBER_SHIFT | IS_USED;
            entries[usize::try_from((cursor + 1) % 4).unwrap()] = entry;
            words.extend([(1 + index as u64) * PAGE, 3, length]);
            words.extend(entries);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn table(number: u64) -> GranuleTable {
        GranuleTable {
            entries: START + number * 32,
            length: 4,
        }
    }

    #[test]
    fn a_view_is_good_or_remapped_or_stale() {
        let bytes = memory(&[(5, 0x9000), (0, 0)]);
        let [marked0, marked1, remapped] = [BASE, BASE << 1, BASE << 2];
        let colours = |good| Colours {
            good: Good::View {
                good,
                stale: (marked0 | marked1 | remapped) & !(good | remapped),
                moved: table(0),
            },
            offset_mask: OFFSET_MASK,
            forwarding: PLACES,
        };
        let memory = BufferMemory::new(START, &bytes);
        let address = |good, reference| colours(good).address(|place| memory.u64(place), reference);
        let (moved, other) = (PAGE + 5 * 8, PAGE + 6 * 8 + 1024);
        // While objects are marked, a remapped reference leads to where its object is.
        assert_eq!(address(marked1, marked1 | moved), marked1 | moved);
        assert_eq!(address(marked1, remapped | moved), marked1 | moved);
        assert_eq!(address(marked1, marked0 | moved), marked1 | 0x9000);
        assert_eq!(address(marked1, marked0 | other), marked1 | other);
        assert_eq!(address(remapped, marked1 | moved), remapped | 0x9000);
        // Without a forwarding, outside of the table, at the offset 0, with the finalizable bit.
        for offset in [8, 5 * PAGE, 0] {
            assert_eq!(address(marked1, marked0 | offset), marked1 | offset);
        }
        assert_eq!(address(marked1, marked1 | BASE << 3 | 16), marked1 | 16);
        assert_eq!(address(marked1, 0), 0);
    }

    #[test]
    fn a_stale_pointer_is_looked_up_in_its_generation() {
        // Granule 1 is in the young table, granule 2 in the old one.
        let bytes = memory(&[(5, 0x9000), (7, 0xA000)]);
        let bit = |number: u64| 1 << (REMAPPED_SHIFT as u64 + number);
        let colours = Colours {
            good: Good::Remapped {
                bit: bit(0),
                moved: [table(0), table(1)],
            },
            offset_mask: OFFSET_MASK,
            forwarding: PLACES,
        };
        let coloured = |number: u64, offset: u64, more: u64| {
            (BASE | offset) << (REMAPPED_SHIFT as u64 + number + 1) | bit(number) | more
        };
        let memory = BufferMemory::new(START, &bytes);
        let address = |reference| colours.address(|place| memory.u64(place), reference);
        let (young, old) = (PAGE + 5 * 8, 2 * PAGE + 7 * 8);
        let (new_young, new_old) = (BASE | 0x9000, BASE | 0xA000);
        for (number, expected) in [
            (0, [BASE | young, BASE | old]),
            (1, [new_young, BASE | old]),
            (2, [BASE | young, new_old]),
            (3, [new_young, new_old]),
        ] {
            let found = [young, old].map(|offset| address(coloured(number, offset, 0)));
            assert_eq!(found, expected, "{number}");
        }
        // From the old generation to itself: the young table does not matter.
        let remembered = coloured(3, young, REMEMBERED_MASK);
        assert_eq!(address(remembered), BASE | young);
        assert_eq!(colours.base(remembered), Some(BASE));
        // A chunk has the address and the colour apart.
        assert_eq!(
            address(colours.reference(BASE | young, bit(1) | 0x910)),
            new_young
        );
        assert_eq!(colours.reference(BASE | young, 0), BASE | young);
        assert_eq!(colours.reference(remembered, bit(1) | 0x910), remembered);
        // Null has colours, an address has none, and whatever else there is does no harm.
        assert_eq!((address(bit(2) | 0x910), address(0)), (0, 0));
        assert_eq!(address(BASE | 64), BASE | 64);
        assert_eq!(colours.base(bit(1)), None);
        for shift in 0..64 {
            address(u64::MAX << shift);
            address(1 << shift);
        }
    }
}
