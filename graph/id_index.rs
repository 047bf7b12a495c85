//! Maps the id of an object to its number.
//!
//! In nearly all dumps an id is an address. So there is one bit for each possible object address of the heap, set if an
//! object starts there. The number of set bits before it is the object's rank: one load and a population count. In a
//! file in address order, the rank is the number.

use std::sync::OnceLock;

use crate::id_list::IdList;

/// Log2 of the words in a page: the unit of the heap that is stored or left out.
const PAGE_SHIFT: u32 = 5;

/// The bits of a word's number that give its position in the page.
const WORD_IN_PAGE: u64 = (1 << PAGE_SHIFT) - 1;

/// No page, or no number.
const NONE: u32 = u32::MAX;

/// 64 possible addresses, and the number of objects before them.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    bits: u64,
    rank: u32,
}

/// How to find a rank.
#[derive(Debug)]
enum Ranks {
    Bits {
        low: u64,
        shift: u32,
        /// First word of each page; [`NONE`] for pages without objects.
        pages: Vec<u32>,
        /// The page of each run of words.
        page_numbers: Vec<u32>,
        words: Vec<Word>,
    },
    /// Ids that are too far apart for bits.
    Sorted(Vec<u64>),
}

/// All ids of a dump.
#[derive(Debug)]
pub(crate) struct IdIndex {
    ranks: Ranks,
    /// Numbers by rank; empty if they are equal.
    numbers: Vec<u32>,
    /// Ranks by number. Made when an id is first requested.
    by_number: OnceLock<Vec<u32>>,
    len: u32,
}

impl IdIndex {
    /// The index of these lists, whose objects are numbered in order from 0.
    pub(crate) fn new(lists: &[IdList]) -> Self {
        let mut ascending = true;
        let (mut low, mut high, mut count, mut last) = (u64::MAX, 0, 0_u64, None);
        for list in lists {
            let Some((list_low, list_high)) = list.bounds else {
                continue;
            };
            ascending &= list.ascending && last.is_none_or(|last| last < list.first);
            last = Some(list.last());
            (low, high) = (low.min(list_low), high.max(list_high));
            count += list.count;
        }
        let ranks = Ranks::new(lists, low, high, count);
        let mut index = Self {
            ranks,
            numbers: Vec::new(),
            by_number: OnceLock::new(),
            len: u32::try_from(count).unwrap_or(u32::MAX),
        };
        if !ascending {
            index.numbers = index.numbered(lists);
        }
        index
    }

    /// If several objects have the same id, it belongs to the first.
    fn numbered(&self, lists: &[IdList]) -> Vec<u32> {
        let mut numbers = vec![NONE; self.ranks.len()];
        let ids = lists.iter().flat_map(IdList::iter);
        for (number, id) in (0..self.len).zip(ids) {
            let rank = self.ranks.of(id);
            if let Some(slot) = rank.and_then(|rank| numbers.get_mut(rank as usize)) {
                *slot = (*slot).min(number);
            }
        }
        numbers
    }

    /// The number of the object with this id; `None` if there is none.
    #[inline]
    pub(crate) fn number(&self, id: u64) -> Option<u32> {
        let rank = self.ranks.of(id)?;
        if self.numbers.is_empty() {
            return Some(rank);
        }
        self.numbers.get(rank as usize).copied()
    }

    /// The id of the object with this number; 0 if there is none.
    pub(crate) fn id(&self, number: u32) -> u64 {
        if self.numbers.is_empty() {
            return self.ranks.id(number);
        }
        let by_number = self.by_number.get_or_init(|| {
            let mut ranks = vec![NONE; self.len as usize];
            for (rank, number) in (0_u32..).zip(&self.numbers) {
                if let Some(slot) = ranks.get_mut(*number as usize) {
                    *slot = rank;
                }
            }
            ranks
        });
        match by_number.get(number as usize) {
            Some(rank) if *rank != NONE => self.ranks.id(*rank),
            _ => 0,
        }
    }
}

impl Ranks {
    fn new(lists: &[IdList], low: u64, high: u64, count: u64) -> Self {
        if count == 0 {
            return Self::Sorted(Vec::new());
        }
        let ids = || lists.iter().flat_map(IdList::iter);
        let used = ids().fold(0, |used, id| used | (id - low));
        let shift = used.trailing_zeros().min(63);
        let pages = ((high - low) >> shift >> 6 >> PAGE_SHIFT) + 1;
        // The directory of pages may use a few bytes per object.
        let most = count.saturating_mul(2).saturating_add(1 << 16);
        match usize::try_from(pages) {
            Ok(pages) if pages as u64 <= most => {
                Self::bits(ids, low, shift, pages).unwrap_or_else(|| Self::sorted(ids(), count))
            }
            _ => Self::sorted(ids(), count),
        }
    }

    fn sorted(ids: impl Iterator<Item = u64>, count: u64) -> Self {
        let mut sorted = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        sorted.extend(ids);
        sorted.sort_unstable();
        sorted.dedup();
        Self::Sorted(sorted)
    }

    fn bits<I: Iterator<Item = u64>>(
        ids: impl Fn() -> I,
        low: u64,
        shift: u32,
        page_count: usize,
    ) -> Option<Self> {
        let mut pages = vec![NONE; page_count];
        let (mut used, mut page_numbers) = (0_u32, Vec::new());
        let page_of = |id: u64| usize::try_from((id - low) >> shift >> 6 >> PAGE_SHIFT);
        for id in ids() {
            let page = pages.get_mut(page_of(id).ok()?)?;
            *page = 0;
        }
        for (number, page) in (0..).zip(&mut pages).filter(|(_, page)| **page == 0) {
            *page = used;
            page_numbers.push(number);
            used = used.checked_add(1 << PAGE_SHIFT)?;
        }
        let mut words = vec![Word::default(); used as usize];
        for id in ids() {
            let slot = (id - low) >> shift;
            let word = word_of(&pages, slot)?;
            words.get_mut(word)?.bits |= 1 << (slot & 63);
        }
        let mut rank = 0_u32;
        for word in &mut words {
            word.rank = rank;
            rank = rank.checked_add(word.bits.count_ones())?;
        }
        Some(Self::Bits {
            low,
            shift,
            pages,
            page_numbers,
            words,
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Bits { words, .. } => words
                .last()
                .map_or(0, |word| (word.rank + word.bits.count_ones()) as usize),
            Self::Sorted(ids) => ids.len(),
        }
    }

    #[inline]
    fn of(&self, id: u64) -> Option<u32> {
        match self {
            Self::Bits {
                low,
                shift,
                pages,
                words,
                ..
            } => {
                let distance = id.wrapping_sub(*low);
                let slot = distance >> shift;
                if slot << shift != distance {
                    return None;
                }
                let word = words.get(word_of(pages, slot)?)?;
                let bit = 1 << (slot & 63);
                if word.bits & bit == 0 {
                    return None;
                }
                Some(word.rank + (word.bits & (bit - 1)).count_ones())
            }
            Self::Sorted(ids) => u32::try_from(ids.binary_search(&id).ok()?).ok(),
        }
    }

    fn id(&self, rank: u32) -> u64 {
        match self {
            Self::Bits {
                low,
                shift,
                page_numbers,
                words,
                ..
            } => {
                // Words without objects have the same rank as the next word; the last of equal ones has the bit.
                let at = words.partition_point(|word| word.rank <= rank);
                let Some((at, word)) = at.checked_sub(1).and_then(|at| Some((at, words.get(at)?)))
                else {
                    return 0;
                };
                let bits = (word.rank..rank).fold(word.bits, |bits, _| bits & bits.wrapping_sub(1));
                let page = page_numbers.get(at >> PAGE_SHIFT).copied().unwrap_or(0);
                let word = (u64::from(page) << PAGE_SHIFT) + (at as u64 & WORD_IN_PAGE);
                low + (((word << 6) + u64::from(bits.trailing_zeros())) << shift)
            }
            Self::Sorted(ids) => ids.get(rank as usize).copied().unwrap_or(0),
        }
    }
}

/// Index of the word for this slot; `None` if its page has no object.
#[inline]
fn word_of(pages: &[u32], slot: u64) -> Option<usize> {
    let page = usize::try_from(slot >> 6 >> PAGE_SHIFT).ok()?;
    let first = *pages.get(page)?;
    if first == NONE {
        return None;
    }
    Some(first as usize + usize::try_from((slot >> 6) & WORD_IN_PAGE).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn index(ids: &[u64], lists: usize) -> IdIndex {
        let lists: Vec<IdList> = ids
            .chunks(ids.len().div_ceil(lists).max(1))
            .map(|chunk| {
                let mut list = IdList::default();
                chunk.iter().for_each(|id| list.push(*id));
                list
            })
            .collect();
        IdIndex::new(&lists)
    }

    fn agrees(ids: &[u64]) {
        for lists in [1, 3] {
            let index = index(ids, lists);
            let mut first = HashMap::new();
            for (number, id) in (0..).zip(ids) {
                let number = *first.entry(*id).or_insert(number);
                assert_eq!(index.number(*id), Some(number));
                assert_eq!(index.id(number), *id);
            }
            for id in ids
                .iter()
                .flat_map(|id| [id ^ 1, id ^ 8, id ^ 0x1000, id ^ (1 << 40)])
            {
                assert_eq!(index.number(id), first.get(&id).copied());
            }
        }
    }

    proptest! {
        #[test]
        fn addresses_in_order_and_not(steps in proptest::collection::vec(1_u64..5000, 1..200), turn in any::<u8>()) {
            let mut ids: Vec<u64> = steps.iter().scan(0x7_0000_0000, |at, step| { *at += step * 8; Some(*at) }).collect();
            agrees(&ids);
            ids.rotate_left(usize::from(turn) % steps.len());
            agrees(&ids);
        }

        #[test]
        fn any_ids(ids in proptest::collection::vec(any::<u64>(), 1..100)) {
            agrees(&ids);
        }

        #[test]
        fn small_ids_with_repetitions(ids in proptest::collection::vec(0_u64..200, 1..100)) {
            agrees(&ids);
        }
    }

    #[test]
    fn nothing_is_in_nothing() {
        let index = index(&[], 1);
        assert_eq!(
            (index.number(0), index.number(8), index.id(0)),
            (None, None, 0)
        );
    }
}
