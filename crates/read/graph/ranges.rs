//! The ranges of consecutive lists, by number: four bytes for three numbers.

use std::io;

use bytemuck::{Pod, Zeroable};

use crate::numbers::Numbers;

/// Number of lists in a block: with the block's start, their lengths take half of a cache line.
const BLOCK: usize = 24;

/// Marks a list of this many elements or more, whose length is stored elsewhere.
const MANY: u8 = u8::MAX;

/// Flag in the start of a block that contains such a list.
const HAS_MANY: u64 = 1 << 63;

/// The start of the block's first list, and the length of each.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Block {
    start: u64,
    /// [`MANY`] for a length that needs more than a byte.
    lengths: [u8; BLOCK],
}

/// The lists of all numbers from 0, as ranges in one array.
#[derive(Debug)]
pub(crate) struct Ranges {
    blocks: Numbers<Block>,
    /// The numbers of lists with [`MANY`] elements or more, ascending, and their lengths.
    many: Vec<(u32, u64)>,
    /// Number of lists.
    len: u32,
    /// End of the last one.
    end: u64,
}

impl Ranges {
    /// No lists yet, with capacity for `lists`. Errors: there is no memory.
    pub(crate) fn with_room(lists: usize) -> io::Result<Self> {
        Ok(Self {
            blocks: Numbers::zeroed(lists.div_ceil(BLOCK))?,
            many: Vec::new(),
            len: 0,
            end: 0,
        })
    }

    /// Appends a list of this length. Lists beyond the capacity are dropped.
    #[inline]
    pub(crate) fn push(&mut self, length: u64) {
        let (block, within) = place(self.len);
        let Some(block) = self.blocks.all_mut().get_mut(block) else {
            return;
        };
        if within == 0 {
            block.start = self.end;
        }
        let short = u8::try_from(length).unwrap_or(MANY);
        if let Some(slot) = block.lengths.get_mut(within) {
            *slot = short;
        }
        if short == MANY {
            block.start |= HAS_MANY;
            self.many.push((self.len, length));
        }
        self.end += length;
        self.len += 1;
    }

    /// Start and end of a number's list; `(0, 0)` if there is none.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> (u64, u64) {
        let (block, within) = place(number);
        let Some(block) = self.blocks.all().get(block) else {
            return (0, 0);
        };
        if block.start & HAS_MANY != 0 {
            return self.among_many(number, block);
        }
        let start = block.start + sum_before(&block.lengths, within);
        let length = block.lengths.get(within).copied().unwrap_or(0);
        (start, start + u64::from(length))
    }

    /// Like [`Ranges::get`], in a block that contains a list with [`MANY`] elements or more.
    #[cold]
    fn among_many(&self, number: u32, block: &Block) -> (u64, u64) {
        let (_, within) = place(number);
        let first = number - u32::try_from(within).unwrap_or(0);
        let start = block.start & !HAS_MANY;
        let (mut from, mut to) = (start, start);
        for (other, length) in (first..=number).zip(&block.lengths) {
            from = to;
            to += match *length {
                MANY => self.many_of(other),
                few => u64::from(few),
            };
        }
        (from, to)
    }

    fn many_of(&self, number: u32) -> u64 {
        let place = self
            .many
            .binary_search_by_key(&number, |(number, _)| *number);
        let found = place.ok().and_then(|place| self.many.get(place));
        found.map_or(0, |(_, length)| *length)
    }

    /// Prefetches the block of a number.
    #[inline]
    pub(crate) fn prefetch(&self, number: u32) {
        prefetch_index::prefetch_index(self.blocks.all(), place(number).0);
    }
}

/// The block of a number, and the index there.
#[inline]
fn place(number: u32) -> (usize, usize) {
    let number = number as usize;
    (number / BLOCK, number % BLOCK)
}

/// The sum of the first `within` lengths.
#[inline]
fn sum_before(lengths: &[u8; BLOCK], within: usize) -> u64 {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    const ONES: u64 = 0x0001_0001_0001_0001;
    let mut pairs = 0;
    for (at, eight) in (0..).step_by(8).zip(lengths.chunks_exact(8)) {
        let eight = eight
            .first_chunk()
            .map_or(0, |eight| u64::from_le_bytes(*eight));
        // The first length is the lowest byte.
        let kept = match within.saturating_sub(at) {
            0 => 0,
            some @ 1..8 => eight & !(u64::MAX << (8 * some)),
            _ => eight,
        };
        pairs += (kept & EVEN) + ((kept >> 8) & EVEN);
    }
    // Four sums of six lengths; the highest 16 bits of the product are the sum of all.
    pairs.wrapping_mul(ONES) >> 48
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_its_own() {
        let mut ranges = Ranges::with_room(9000).unwrap();
        let (mut expected, mut end) = (Vec::new(), 0);
        for number in 0..9000_u64 {
            let length = match number % 401 {
                5 => 254,
                6 => 255,
                7 => 1000 + number,
                _ => number % 4,
            };
            ranges.push(length);
            expected.push((end, end + length));
            end += length;
        }
        assert_eq!(ranges.many.len(), 2 * 23);
        for (number, range) in (0..).zip(expected) {
            assert_eq!(ranges.get(number), range);
        }
        assert_eq!((ranges.get(u32::MAX), ranges.get(9024)), ((0, 0), (0, 0)));
    }

    #[test]
    fn sums_stop_before_the_place() {
        let lengths: [u8; BLOCK] = std::array::from_fn(|at| 254 - u8::try_from(at).unwrap());
        for within in 0..BLOCK {
            let before = lengths.iter().take(within);
            let expected: u64 = before.map(|length| u64::from(*length)).sum();
            assert_eq!(sum_before(&lengths, within), expected);
        }
    }
}
