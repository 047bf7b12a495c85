//! Maps the id of an object to its number, and back.
//!
//! In nearly all dumps an id is an address, and [`Bits`] contains the numbers. Other ids are
//! sorted.

use std::sync::OnceLock;

use crate::id_bits::{page_of, Bits};
use crate::id_list::IdList;

/// No number.
const NONE: u32 = u32::MAX;

/// Ids that are too far apart for a bitmap.
#[derive(Debug)]
pub(crate) struct Sorted {
    ids: Vec<u64>,
    /// Numbers by rank.
    numbers: Vec<u32>,
    /// Ranks by number. Created when an id is first requested.
    by_number: OnceLock<Vec<u32>>,
    len: u32,
}

/// All ids of a dump.
#[derive(Debug)]
pub(crate) enum IdIndex {
    Bits(Bits),
    Sorted(Sorted),
}

impl IdIndex {
    /// The index of these lists, whose objects are numbered in order from 0. If several objects
    /// have the same id, it belongs to the first.
    pub(crate) fn new(lists: &[IdList]) -> Self {
        let bounds = || lists.iter().filter_map(|list| list.bounds);
        let count: u64 = lists.iter().map(|list| list.count).sum();
        let low = bounds().map(|(low, _)| low).min().unwrap_or(0);
        let high = bounds().map(|(_, high)| high).max().unwrap_or(0);
        let ids = || lists.iter().flat_map(IdList::iter);
        let used = ids().fold(0, |used, id| used | (id - low));
        let shift = used.trailing_zeros().min(63);
        let pages = page_of(high - low, shift).saturating_add(1);
        // The directory of pages may use a few bytes per object.
        let most = count.saturating_mul(2).saturating_add(1 << 16);
        let bits = match usize::try_from(pages) {
            Ok(pages) if pages as u64 <= most => Bits::new(ids, low, shift, pages),
            _ => None,
        };
        let sorted = || Self::Sorted(Sorted::new(ids, count));
        bits.map_or_else(sorted, Self::Bits)
    }

    /// The number of the object with this id; `None` if there is none.
    #[inline]
    pub(crate) fn number(&self, id: u64) -> Option<u32> {
        match self {
            Self::Bits(bits) => bits.number(id),
            Self::Sorted(sorted) => sorted.number(id),
        }
    }

    /// Prefetches what [`IdIndex::number`] reads.
    #[inline]
    pub(crate) fn prefetch(&self, id: u64) {
        if let Self::Bits(bits) = self {
            bits.prefetch(id);
        }
    }

    /// The id of the object with this number; 0 if there is none.
    pub(crate) fn id(&self, number: u32) -> u64 {
        let id = match self {
            Self::Bits(bits) => bits.id(number),
            Self::Sorted(sorted) => sorted.id(number),
        };
        id.unwrap_or(0)
    }
}

impl Sorted {
    fn new<I: Iterator<Item = u64>>(ids: impl Fn() -> I, count: u64) -> Self {
        let mut sorted = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        sorted.extend(ids());
        sorted.sort_unstable();
        sorted.dedup();
        let mut numbers = vec![NONE; sorted.len()];
        for (number, id) in (0_u32..).zip(ids()) {
            let rank = sorted.binary_search(&id).ok();
            if let Some(slot) = rank.and_then(|rank| numbers.get_mut(rank)) {
                *slot = (*slot).min(number);
            }
        }
        Self {
            ids: sorted,
            numbers,
            by_number: OnceLock::new(),
            len: u32::try_from(count).unwrap_or(u32::MAX),
        }
    }

    fn number(&self, id: u64) -> Option<u32> {
        let rank = self.ids.binary_search(&id).ok()?;
        self.numbers.get(rank).copied()
    }

    fn id(&self, number: u32) -> Option<u64> {
        let by_number = self.by_number.get_or_init(|| {
            let mut ranks = vec![NONE; self.len as usize];
            for (rank, number) in (0_u32..).zip(&self.numbers) {
                if let Some(slot) = ranks.get_mut(*number as usize) {
                    *slot = rank;
                }
            }
            ranks
        });
        let rank = by_number.get(number as usize)?;
        self.ids.get(*rank as usize).copied()
    }
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
        fn addresses_in_runs(steps in proptest::collection::vec(1_u64..12, 1..600), run in 1_usize..100) {
            let ids: Vec<u64> = steps.iter().scan(0x7_0000_0000, |at, step| { *at += step * 8; Some(*at) }).collect();
            let turned: Vec<u64> = ids.chunks(run).rev().flatten().copied().collect();
            agrees(&turned);
            // Two walkers take turns.
            let (one, other) = ids.split_at(ids.len() / 2);
            let both = one.chunks(run).zip(other.chunks(run)).flat_map(|(one, other)| [one, other].concat());
            agrees(&both.collect::<Vec<_>>());
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
