//! One mark bit for each 8 bytes of heap, set by the thread that reaches the object first.
#![allow(unsafe_code)]

use crate::memory::prefetch;
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Log2 of the heap bytes for each mark: the smallest object alignment.
const GRAIN_SHIFT: u32 = 3;
const WORD_BITS: u64 = 64;

/// Log2 of the heap bytes in a part. Large enough that threads do not contend for part numbers;
/// small enough that all threads finish together, and that the grouped objects of a part take a few
/// megabytes at most.
const PART_SHIFT: u32 = 20;
/// Mark words in each part.
const PART_WORDS: usize = 1 << (PART_SHIFT - GRAIN_SHIFT - 6);

/// Marks for a range of addresses. Uses memory only where marks are set: at most 1/64 of the range.
#[derive(Debug)]
pub struct Marks {
    range: Range<u64>,
    /// Parts with marks, so that a search for marks does not touch the memory of the others.
    touched: Vec<AtomicBool>,
    // Owned. Allocated zeroed, so the kernel provides pages only when they are touched.
    words: NonNull<AtomicU64>,
    layout: Layout,
}

// SAFETY: the words are atomic, and this value owns them.
unsafe impl Send for Marks {}
// SAFETY: the words are atomic, and this value owns them.
unsafe impl Sync for Marks {}

impl Marks {
    /// Nothing is marked yet; `None` if there is no memory.
    pub fn new(range: Range<u64>) -> Option<Self> {
        let grains = range.end.checked_sub(range.start)? >> GRAIN_SHIFT;
        let words = usize::try_from(grains / WORD_BITS + 1).ok()?;
        let layout = Layout::array::<AtomicU64>(words).ok()?;
        // SAFETY: the layout's size is not zero, because there is at least one word; zeros are
        // valid atomics.
        let words = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast();
        let parts = layout.size() / size_of::<AtomicU64>() / PART_WORDS + 1;
        let mut touched = Vec::new();
        touched.try_reserve_exact(parts).ok()?;
        touched.resize_with(parts, || AtomicBool::new(false));
        Some(Self {
            range,
            touched,
            words,
            layout,
        })
    }

    /// The marked addresses of a part of the heap, in order; `None` after the last part.
    pub fn part(&self, number: usize) -> Option<impl Iterator<Item = u64> + '_> {
        let touched = self.touched.get(number)?.load(Ordering::Relaxed);
        let words = self.layout.size() / size_of::<AtomicU64>();
        let first = number * PART_WORDS;
        let words = if touched {
            first..words.min(first + PART_WORDS)
        } else {
            0..0
        };
        Some(words.flat_map(|index| {
            // SAFETY: `index` is below the number of words that `new` made.
            let word = unsafe { self.words.add(index).as_ref() };
            let start = self.range.start + ((index as u64 * WORD_BITS) << GRAIN_SHIFT);
            Bits(word.load(Ordering::Relaxed)).map(move |bit| start + (bit << GRAIN_SHIFT))
        }))
    }

    /// Number of marked objects.
    pub fn count(&self) -> u64 {
        let parts = (0..).map_while(|number| self.part(number));
        parts.map(|marked| marked.count() as u64).sum()
    }

    /// Whether an object can start at this address.
    #[inline]
    pub fn covers(&self, address: u64) -> bool {
        self.range.contains(&address) && address & ((1 << GRAIN_SHIFT) - 1) == 0
    }

    /// Whether the address lies within the range, aligned or not.
    pub fn spans(&self, address: u64) -> bool {
        self.range.contains(&address)
    }

    /// The word and bit of the object's mark; `None` outside the range.
    #[inline]
    fn place(&self, address: u64) -> Option<(&AtomicU64, u64)> {
        if !self.covers(address) {
            return None;
        }
        let grain = (address - self.range.start) >> GRAIN_SHIFT;
        let index = usize::try_from(grain / WORD_BITS).ok()?;
        // SAFETY: `new` allocated words for every grain of the range.
        let word = unsafe { self.words.add(index).as_ref() };
        Some((word, 1 << (grain % WORD_BITS)))
    }

    /// Marks an object. `true` if it was not marked before. `false` if it was, or if the address
    /// cannot be an object.
    #[inline]
    pub fn mark(&self, address: u64) -> bool {
        let Some((word, mark)) = self.place(address) else {
            return false;
        };
        // No data is published through a mark, so relaxed order is enough.
        if word.load(Ordering::Relaxed) & mark != 0 {
            return false;
        }
        let before = word.fetch_or(mark, Ordering::Relaxed);
        if before == 0 {
            self.touch(address);
        }
        before & mark == 0
    }

    /// Whether the object is marked.
    #[inline]
    pub fn has(&self, address: u64) -> bool {
        let place = self.place(address);
        place.is_some_and(|(word, mark)| word.load(Ordering::Relaxed) & mark != 0)
    }

    /// Removes a mark. Not while other threads mark: the order would be undefined.
    pub fn unmark(&self, address: u64) {
        if let Some((word, mark)) = self.place(address) {
            word.fetch_and(!mark, Ordering::Relaxed);
        }
    }

    #[inline]
    fn touch(&self, address: u64) {
        let part = usize::try_from((address - self.range.start) >> PART_SHIFT);
        if let Some(touched) = part.ok().and_then(|part| self.touched.get(part)) {
            if !touched.load(Ordering::Relaxed) {
                touched.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Prefetches the word with the object's mark.
    #[inline]
    pub fn prefetch(&self, address: u64) {
        // Any address is fine: a prefetch never faults.
        let word = address.wrapping_sub(self.range.start) >> (GRAIN_SHIFT + 6) << 3;
        prefetch((self.words.as_ptr() as u64).wrapping_add(word));
    }
}

/// The indexes of the set bits of a word, in ascending order.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.0 == 0 {
            return None;
        }
        let place = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(u64::from(place))
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        // SAFETY: `new` allocated this memory with this layout, and this value owns it.
        unsafe { dealloc(self.words.as_ptr().cast(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_marked_once() {
        let marks = Marks::new(0x1_0000..0x2_0000).expect("memory");
        assert!(marks.mark(0x1_0000));
        assert!(!marks.mark(0x1_0000));
        assert!(marks.mark(0x1_0008) && marks.mark(0x1_FFF8));
        assert!(!marks.mark(0x2_0000) && !marks.mark(0xFFF8) && !marks.mark(0x1_0011));
    }

    #[test]
    fn a_mark_that_is_taken_back_is_gone_alone() {
        let marks = Marks::new(0x1_0000..0x2_0000).expect("memory");
        assert!([0x1_0000, 0x1_0008, 0x1_0010].map(|object| marks.mark(object)) == [true; 3]);
        marks.unmark(0x1_0008);
        marks.unmark(0x2_0000);
        let left: Vec<u64> = marks.part(0).expect("a part").collect();
        assert_eq!(left, [0x1_0000, 0x1_0010]);
    }

    #[test]
    fn marks_are_listed_in_order() {
        let start = 0x7F00_0000_0000;
        let marks = Marks::new(start..start + (40 << PART_SHIFT)).expect("memory");
        let objects = [
            8,
            0x40_0000 - 8,
            0x40_0000,
            9 << PART_SHIFT,
            (40 << PART_SHIFT) - 8,
        ];
        for object in objects.iter().rev() {
            assert!(marks.mark(start + object));
        }
        let mut found = Vec::new();
        let mut number = 0;
        while let Some(part) = marks.part(number) {
            found.extend(part.map(|object| object - start));
            number += 1;
        }
        assert_eq!(found, objects);
    }

    #[test]
    fn of_many_threads_one_is_first() {
        let marks = Marks::new(0..0x10_0000).expect("memory");
        let firsts: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..0x10_0000_u64)
                            .step_by(8)
                            .filter(|&at| marks.mark(at))
                            .count()
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("no panic"))
                .sum()
        });
        assert_eq!(firsts, 0x10_0000 / 8);
    }
}
