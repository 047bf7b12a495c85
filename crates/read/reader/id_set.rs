//! A set of identifiers that takes little memory if they are addresses, and that knows its size.

use foldhash::HashMap;

/// Bits that are zero in an address of a HotSpot object.
const ALIGNMENT_BITS: u32 = 3;

/// Bits of an id, without its alignment, within a page: 512 KiB of heap.
const PAGE_BITS: u32 = 16;

/// 64-bit words in the bitmap of a page.
const WORDS: usize = 1 << (PAGE_BITS - 6);

/// Most ids of a page for which a list takes less memory than a bitmap.
const LIST_MAX: usize = 4096;

/// Bytes of a page in addition to its ids: its entry in the map, including free space of the map.
const PAGE_OVERHEAD_BYTES: u64 = 128;

/// Ids of objects, classes or strings.
#[derive(Debug, Default)]
pub struct IdSet {
    /// Index in `pages` by the upper bits of a page's ids.
    places: HashMap<u64, usize>,
    pages: Vec<Page>,
    /// The page of the last insertion, because objects come in address order.
    last: Option<(u64, usize)>,
    len: u64,
    id_bytes: u64,
}

#[derive(Debug)]
enum Page {
    /// Lower bits of the ids, in order.
    List(Vec<u16>),
    /// One bit for each id.
    Bits(Box<[u64; WORDS]>),
}

impl IdSet {
    /// Adds an id; false if it already existed.
    pub fn insert(&mut self, id: u64) -> bool {
        let (key, low) = split(id);
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => {
                let end = self.pages.len();
                let place = *self.places.entry(key).or_insert(end);
                if place == end {
                    self.pages.push(Page::List(Vec::new()));
                }
                self.last = Some((key, place));
                place
            }
        };
        let Some(page) = self.pages.get_mut(place) else {
            return false;
        };
        let before = page.bytes();
        let new = page.insert(low);
        self.id_bytes = self.id_bytes.saturating_sub(before) + page.bytes();
        self.len += u64::from(new);
        new
    }

    /// Whether the id is in the set.
    pub fn contains(&self, id: u64) -> bool {
        let (key, low) = split(id);
        let page = self
            .places
            .get(&key)
            .and_then(|place| self.pages.get(*place));
        page.is_some_and(|page| page.contains(low))
    }

    /// Number of ids.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that the set takes.
    pub fn held_bytes(&self) -> u64 {
        let pages = self.pages.len() as u64;
        self.id_bytes
            .saturating_add(pages.saturating_mul(PAGE_OVERHEAD_BYTES))
    }
}

impl Page {
    fn insert(&mut self, low: u16) -> bool {
        match self {
            Self::List(list) => {
                let place = match list.last() {
                    Some(last) if *last < low => list.len(),
                    _ => match list.binary_search(&low) {
                        Ok(_) => return false,
                        Err(place) => place,
                    },
                };
                if list.len() < LIST_MAX {
                    list.insert(place, low);
                    return true;
                }
                let mut bits = Box::new([0; WORDS]);
                for low in list.iter() {
                    set(&mut bits, *low);
                }
                let new = set(&mut bits, low);
                *self = Self::Bits(bits);
                new
            }
            Self::Bits(bits) => set(bits, low),
        }
    }

    fn contains(&self, low: u16) -> bool {
        match self {
            Self::List(list) => list.binary_search(&low).is_ok(),
            Self::Bits(bits) => {
                let word = bits.get(usize::from(low) / 64);
                word.is_some_and(|word| word & bit(low) != 0)
            }
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::List(list) => list.capacity() as u64 * 2,
            Self::Bits(_) => WORDS as u64 * 8,
        }
    }
}

/// Sets a bit; false if it was set already.
fn set(bits: &mut [u64; WORDS], low: u16) -> bool {
    let Some(word) = bits.get_mut(usize::from(low) / 64) else {
        return false;
    };
    let new = *word & bit(low) == 0;
    *word |= bit(low);
    new
}

fn bit(low: u16) -> u64 {
    1 << (low % 64)
}

/// The page of an id and its position there. Rotates the low bits to the top, so that aligned ids
/// become dense and unaligned ones stay distinct.
fn split(id: u64) -> (u64, u16) {
    let packed = id.rotate_right(ALIGNMENT_BITS);
    let [.., high, low] = packed.to_be_bytes();
    (packed >> PAGE_BITS, u16::from_be_bytes([high, low]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbours_stay_apart() {
        let mut ids = IdSet::default();
        assert!(ids.is_empty());
        for id in [0, 1, 7, 8, u64::MAX, u64::MAX - 7] {
            assert!(!ids.contains(id));
            assert!(ids.insert(id));
            assert!(!ids.insert(id));
        }
        assert_eq!(ids.len(), 6);
    }

    #[test]
    fn lists_become_bitmaps_and_lose_nothing() {
        // Aligned ids lie in two pages, which become bitmaps; the others in sixteen, which stay
        // lists.
        for mask in [0xF_FFF8, 0xF_FFFF] {
            let (mut ids, mut model) = (IdSet::default(), HashSet::new());
            let mut random = 1_u64;
            for _ in 0..60_000 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let id = (random >> 33) & mask;
                assert_eq!(ids.contains(id), model.contains(&id));
                assert_eq!(ids.insert(id), model.insert(id));
            }
            assert_eq!(ids.len(), model.len() as u64);
            assert!((0..0x10_0000).all(|id| ids.contains(id) == model.contains(&id)));
            let bitmaps = ids.pages.iter();
            let bitmaps = bitmaps.filter(|page| matches!(page, Page::Bits(_)));
            assert_eq!(bitmaps.count(), if mask == 0xF_FFF8 { 2 } else { 0 });
            // Two bitmaps of 65,536 bits each, or two bytes for each id.
            let least = if mask == 0xF_FFF8 {
                2 * 8192
            } else {
                2 * ids.len()
            };
            assert!((least..0x10_0000).contains(&ids.held_bytes()));
        }
    }

    #[test]
    fn scattered_ids_are_counted_for_what_they_cost() {
        let mut ids = IdSet::default();
        for number in 0..1000_u64 {
            ids.insert(number << 40);
        }
        assert!(ids.held_bytes() >= 1000 * PAGE_OVERHEAD_BYTES);
        assert!((0..1000_u64).all(|number| ids.contains(number << 40)));
    }
}
