//! Maps ids to the numbers of their objects by a bitmap.
//!
//! There is one bit for each possible object address of the heap, set if an object starts there.
//! Neighbours in the heap are nearly always neighbours in the file: the number of an object is the
//! number of the first object of its word, plus the set bits before its own. This takes one load
//! and a population count. For the other words, the numbers of their objects are listed.

use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};
use prefetch_index::prefetch_index;

use crate::numbers::Numbers;

/// Log2 of the words in a page: the unit of the heap that is stored or left out.
const PAGE_SHIFT: u32 = 5;

/// The bits of a word's number that give its position in the page.
const WORD_IN_PAGE: u64 = (1 << PAGE_SHIFT) - 1;

/// No page, or no number.
const NONE: u32 = u32::MAX;

/// 64 possible addresses, and the numbers of the objects there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Word {
    bits: u64,
    /// Number of the first object, for [`IN_ORDER`]. Index of the first object's number in the
    /// list, for [`LISTED`].
    first: u32,
    /// [`UNSEEN`], [`IN_ORDER`] or [`LISTED`].
    order: u32,
}

/// The word's numbers are not known yet, or no object is in it.
const UNSEEN: u32 = 0;

/// The objects of the word have consecutive numbers.
const IN_ORDER: u32 = 1;

/// The objects of the word have other numbers, which are listed.
const LISTED: u32 = 2;

impl Word {
    /// Number of set bits before a slot.
    #[inline]
    fn before(&self, slot: u64) -> u32 {
        (self.bits & ((1 << (slot & 63)) - 1)).count_ones()
    }

    /// The number or list index that follows those of the word's objects.
    fn behind(&self) -> u32 {
        self.first.wrapping_add(self.bits.count_ones())
    }

    #[inline]
    fn has(&self, slot: u64) -> bool {
        self.bits >> (slot & 63) & 1 == 1
    }

    /// The slot of the word's object that has `before` others before it.
    fn slot_of(&self, before: u32) -> Option<u32> {
        let bits = (0..before).fold(self.bits, |bits, _| bits & bits.wrapping_sub(1));
        (bits != 0).then(|| bits.trailing_zeros())
    }
}

/// Words whose objects have consecutive numbers, or one object of a [`LISTED`] word.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Number of the first object.
    first: u32,
    /// The first word, and the one after the last.
    start: u32,
    end: u32,
}

/// A bit for each possible id.
#[derive(Debug)]
pub(crate) struct Bits {
    low: u64,
    shift: u32,
    /// First word of each page; [`NONE`] for pages without objects.
    pages: Vec<u32>,
    /// The page of each run of words.
    page_numbers: Vec<u32>,
    words: Numbers<Word>,
    /// Numbers of the objects of each [`LISTED`] word.
    listed: Vec<u32>,
    /// All objects by number. Created when an id is first requested.
    spans: OnceLock<Vec<Span>>,
}

impl Bits {
    /// Creates the bitmap for these ids, whose objects are numbered in order from 0. The lowest bit
    /// stands for the lowest id; all ids differ by multiples of 2 to the power of `shift`.
    /// `page_count` pages reach to the highest one.
    ///
    /// `None` if there are too many words, or no memory for them.
    pub(crate) fn new<I: Iterator<Item = u64>>(
        ids: impl Fn() -> I,
        low: u64,
        shift: u32,
        page_count: usize,
    ) -> Option<Self> {
        let mut pages = vec![NONE; page_count];
        let (mut used, mut page_numbers) = (0_u32, Vec::new());
        for id in ids() {
            let page = usize::try_from(page_of(id - low, shift)).ok()?;
            let page = pages.get_mut(page)?;
            *page = 0;
        }
        for (number, page) in (0..).zip(&mut pages).filter(|(_, page)| **page == 0) {
            *page = used;
            page_numbers.push(number);
            used = used.checked_add(1 << PAGE_SHIFT)?;
        }
        let mut bits = Self {
            low,
            shift,
            pages,
            page_numbers,
            words: Numbers::zeroed(used as usize).ok()?,
            listed: Vec::new(),
            spans: OnceLock::new(),
        };
        for id in ids() {
            let (slot, word) = bits.word_mut(id)?;
            word.bits |= 1 << (slot & 63);
        }
        for (number, id) in (0_u32..).zip(ids()) {
            let (slot, word) = bits.word_mut(id)?;
            match (word.order, word.before(slot)) {
                (UNSEEN, 0) => (word.first, word.order) = (number, IN_ORDER),
                (IN_ORDER, before) if word.first.wrapping_add(before) == number => {}
                _ => word.order = LISTED,
            }
        }
        bits.list(ids())?;
        Some(bits)
    }

    /// Lists the numbers of all objects in [`LISTED`] words.
    fn list(&mut self, ids: impl Iterator<Item = u64>) -> Option<()> {
        let (mut count, mut next) = (0_u32, 0);
        for word in self.words.all_mut() {
            match word.order {
                LISTED => {
                    word.first = count;
                    count = count.checked_add(word.bits.count_ones())?;
                }
                IN_ORDER => next = word.behind(),
                // So the numbers of a span of words ascend.
                _ => word.first = next,
            }
        }
        if count == 0 {
            return Some(());
        }
        let mut listed = vec![NONE; count as usize];
        for (number, id) in (0_u32..).zip(ids) {
            let (slot, word) = self.word_mut(id)?;
            if word.order == LISTED {
                let place = word.first.wrapping_add(word.before(slot));
                let known = listed.get_mut(place as usize)?;
                *known = (*known).min(number);
            }
        }
        self.listed = listed;
        Some(())
    }

    /// The slot of an id and its word.
    #[inline]
    fn word_mut(&mut self, id: u64) -> Option<(u64, &mut Word)> {
        let slot = (id - self.low) >> self.shift;
        let at = word_of(&self.pages, slot)?;
        Some((slot, self.words.all_mut().get_mut(at)?))
    }

    /// The number of the object with this id.
    #[inline]
    pub(crate) fn number(&self, id: u64) -> Option<u32> {
        let distance = id.wrapping_sub(self.low);
        let slot = distance >> self.shift;
        if slot << self.shift != distance {
            return None;
        }
        let word = self.words.all().get(word_of(&self.pages, slot)?)?;
        if !word.has(slot) {
            return None;
        }
        let place = word.first.wrapping_add(word.before(slot));
        match word.order {
            IN_ORDER => Some(place),
            _ => self.listed.get(place as usize).copied(),
        }
    }

    /// Prefetches the word of an id.
    #[inline]
    pub(crate) fn prefetch(&self, id: u64) {
        let slot = id.wrapping_sub(self.low) >> self.shift;
        if let Some(at) = word_of(&self.pages, slot) {
            prefetch_index(self.words.all(), at);
        }
    }

    /// The id of the object with this number.
    pub(crate) fn id(&self, number: u32) -> Option<u64> {
        let spans = self.spans.get_or_init(|| self.spans());
        let behind = spans.partition_point(|span| span.first <= number);
        let span = spans.get(behind.checked_sub(1)?)?;
        let words = self
            .words
            .all()
            .get(span.start as usize..span.end as usize)?;
        let (at, before) = match words {
            [word] if word.order == LISTED => {
                let numbers = self.listed_in(word);
                (0, numbers.iter().position(|other| *other == number)?)
            }
            // If several words have the same first number, only the last one has objects.
            _ => {
                let behind = words.partition_point(|word| word.first <= number);
                let at = behind.checked_sub(1)?;
                (at, (number - words.get(at)?.first) as usize)
            }
        };
        let within = words.get(at)?.slot_of(u32::try_from(before).ok()?)?;
        let at = span.start as usize + at;
        let page = self.page_numbers.get(at >> PAGE_SHIFT)?;
        let word = (u64::from(*page) << PAGE_SHIFT) + (at as u64 & WORD_IN_PAGE);
        Some(self.low + (((word << 6) + u64::from(within)) << self.shift))
    }

    /// All objects by number.
    fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        // The number with which the last span continues.
        let mut next = None;
        let objects = (0_u32..).zip(self.words.all());
        for (start, word) in objects.filter(|(_, word)| word.bits != 0) {
            let span = |first| Span {
                first,
                start,
                end: start + 1,
            };
            if word.order == LISTED {
                spans.extend(self.listed_in(word).iter().copied().map(span));
                next = None;
                continue;
            }
            match spans.last_mut() {
                Some(last) if next == Some(word.first) => last.end = start + 1,
                _ => spans.push(span(word.first)),
            }
            next = Some(word.behind());
        }
        spans.sort_unstable_by_key(|span| span.first);
        spans
    }

    /// The numbers of a [`LISTED`] word's objects.
    fn listed_in(&self, word: &Word) -> &[u32] {
        let start = word.first as usize;
        let end = start + word.bits.count_ones() as usize;
        self.listed.get(start..end).unwrap_or_default()
    }
}

/// The page of an id at this distance from the lowest one.
pub(crate) fn page_of(distance: u64, shift: u32) -> u64 {
    distance >> shift >> 6 >> PAGE_SHIFT
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
