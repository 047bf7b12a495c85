//! The references that are not edges of the search tree, by preorder numbers.
//!
//! The search finds them ordered by source. They are needed ordered by target, descending, each
//! once. So they are stored in buckets by target; a bucket is sorted when it is needed, and then
//! freed.
//!
//! If an application's classes can be unloaded, most of these references lead from an object to its
//! own class. They come ordered by source and have few targets: each target has a list of
//! distances, a byte or two for each source.

use std::io;

use rustc_hash::FxHashMap;

use crate::id_list::push_code;
use crate::numbers::Numbers;

/// Number of buckets. Pushes go to all of them at random, so their ends should stay in the cache.
const BUCKETS: usize = 256;

/// Capacity of a bucket's first segment, in references.
const SEGMENT_LEAST: usize = 1 << 13;

/// Ascending numbers, stored as distances in seven bits per byte, the lowest first.
#[derive(Default)]
pub(crate) struct Ascending {
    bytes: Vec<u8>,
    last: u32,
}

impl Ascending {
    fn push(&mut self, number: u32) {
        push_code(&mut self.bytes, number.wrapping_sub(self.last).into());
        self.last = number;
    }

    /// All of them in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let (mut last, mut distance, mut bits) = (0_u32, 0, 0);
        self.bytes.iter().filter_map(move |byte| {
            distance |= u32::from(byte & 0x7F) << bits;
            bits += 7;
            if byte & 0x80 != 0 {
                return None;
            }
            last = last.wrapping_add(distance);
            (distance, bits) = (0, 0);
            Some(last)
        })
    }
}

/// References to the targets of one bucket, by target.
pub(crate) struct Bucket {
    /// The least target.
    pub(crate) first: u32,
    /// The start of each target's sources, and the end of the last ones.
    starts: Vec<usize>,
    sources: Vec<u32>,
}

impl Bucket {
    /// Sorts pairs by target with a counting sort.
    fn new(first: u32, targets: usize, segments: Vec<Numbers<u64>>) -> Self {
        let mut starts = vec![0_usize; targets + 1];
        let slot = |pair: u64| (to(pair) - first) as usize;
        for pair in segments.iter().flat_map(Numbers::all) {
            if let Some(count) = starts.get_mut(slot(*pair)) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut sources = vec![0; sum];
        for segment in segments {
            for pair in segment.all() {
                if let Some(start) = starts.get_mut(slot(*pair)) {
                    *start -= 1;
                    if let Some(source) = sources.get_mut(*start) {
                        *source = from(*pair);
                    }
                }
            }
        }
        Self {
            first,
            starts,
            sources,
        }
    }

    /// Start and end of a target's sources.
    pub(crate) fn range(&self, target: u32) -> std::ops::Range<usize> {
        let place = (target - self.first) as usize;
        let at = |place: usize| self.starts.get(place).copied().unwrap_or(0);
        at(place)..at(place + 1)
    }

    /// The sources of all targets, ascending by target.
    pub(crate) fn sources(&self) -> &[u32] {
        &self.sources
    }
}

/// The target of a pair.
fn to(pair: u64) -> u32 {
    let [b3, b2, b1, b0, ..] = pair.to_be_bytes();
    u32::from_be_bytes([b3, b2, b1, b0])
}

/// The source of a pair.
fn from(pair: u64) -> u32 {
    let [.., b3, b2, b1, b0] = pair.to_be_bytes();
    u32::from_be_bytes([b3, b2, b1, b0])
}

/// All references that are not tree edges.
pub(crate) struct NonTree {
    /// Pairs of the target's number (high half) and the source's. Each bucket is a list of
    /// segments; the last one has free capacity.
    buckets: Vec<Vec<Numbers<u64>>>,
    /// Log2 of the targets of a bucket.
    shift: u32,
    /// Sources of references to classes, by target.
    of_classes: FxHashMap<u32, Ascending>,
    /// The error that lost references.
    fault: Option<io::Error>,
}

impl NonTree {
    /// No references yet; all numbers are below `numbers`.
    pub(crate) fn new(numbers: usize) -> Self {
        let targets = numbers.div_ceil(BUCKETS).next_power_of_two();
        Self {
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            shift: targets.trailing_zeros(),
            of_classes: FxHashMap::default(),
            fault: None,
        }
    }

    /// Adds a reference.
    #[inline]
    pub(crate) fn push(&mut self, to: u32, from: u32) {
        let Some(bucket) = self.buckets.get_mut(to as usize >> self.shift) else {
            return;
        };
        let pair = u64::from(to) << 32 | u64::from(from);
        if bucket.last_mut().is_some_and(|last| last.push(pair)) {
            return;
        }
        // Twice as long as the last one, because the number of memory mappings is limited.
        let room = bucket
            .last()
            .map_or(SEGMENT_LEAST, |last| 2 * last.all().len());
        match Numbers::with_room(room) {
            Ok(mut segment) => {
                segment.push(pair);
                bucket.push(segment);
            }
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// Adds a reference of an object to its class. The sources of each class must ascend.
    #[inline]
    pub(crate) fn push_class(&mut self, to: u32, from: u32) {
        self.of_classes.entry(to).or_default().push(from);
    }

    /// The sources that were added for a class.
    pub(crate) fn take_class(&mut self, to: u32) -> Option<Ascending> {
        self.of_classes.remove(&to)
    }

    /// Takes the bucket with the highest targets that are left; `None` after the lowest. Errors:
    /// there was no memory.
    pub(crate) fn pop(&mut self) -> io::Result<Option<Bucket>> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let Some(bucket) = self.buckets.pop() else {
            return Ok(None);
        };
        let first = u32::try_from(self.buckets.len() << self.shift);
        let first = first.unwrap_or(u32::MAX);
        Ok(Some(Bucket::new(first, 1 << self.shift, bucket)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_a_class_are_kept() {
        let mut all = NonTree::new(10);
        let numbers = [0, 1, 127, 128, 255, 300, 20_000, 3_000_000, u32::MAX - 1];
        for from in numbers {
            all.push_class(7, from);
        }
        let found = all.take_class(7).unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), numbers);
        assert!(all.take_class(7).is_none());
    }

    #[test]
    fn references_come_by_target_from_the_highest() {
        const NUMBERS: u32 = 100_000;
        let mut all = NonTree::new(NUMBERS as usize);
        let mut expected = Vec::new();
        for step in 0..300_000_u32 {
            let (to, from) = (step.wrapping_mul(0x9E37_79B1) % NUMBERS, step % 7);
            all.push(to, from);
            expected.push((to, from));
        }
        let (mut found, mut behind) = (Vec::new(), NUMBERS);
        while let Some(bucket) = all.pop().unwrap() {
            for to in bucket.first..behind {
                let sources = &bucket.sources()[bucket.range(to)];
                found.extend(sources.iter().map(|from| (to, *from)));
            }
            behind = behind.min(bucket.first);
        }
        assert_eq!(behind, 0);
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}
