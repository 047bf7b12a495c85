//! The references between objects: the targets of all objects, one object after the other.

use crate::error::GraphError;
use crate::numbers::Numbers;

/// Objects whose references share a start.
const BLOCK: usize = 16;

/// The count of an object that has so many references or more.
const MANY: u8 = u8::MAX;

/// Set in the start of a block that has such an object.
const HAS_MANY: u64 = 1 << 63;

/// The references of all objects by number, except those to an object's own class.
///
/// Where an object's references start follows from the start of its block and the counts of the objects before it there:
/// one and a half bytes for each object.
#[derive(Debug)]
pub(crate) struct Edges {
    targets: Numbers<u32>,
    /// Number of references of each object in each block; [`MANY`] where it needs more than a byte.
    counts: Numbers<[u8; BLOCK]>,
    /// Start of the references of each block.
    starts: Numbers<u64>,
    /// The objects with [`MANY`] references or more, ascending, and how many they have.
    many: Vec<(u32, u64)>,
    objects: u32,
}

impl Edges {
    /// No references yet, with capacity for this many objects and references. Errors: there is no memory.
    pub(crate) fn with_room(objects: u32, most_references: usize) -> Result<Self, GraphError> {
        let blocks = (objects as usize).div_ceil(BLOCK);
        Ok(Self {
            targets: Numbers::with_room(most_references)?,
            counts: Numbers::zeroed(blocks)?,
            starts: Numbers::zeroed(blocks)?,
            many: Vec::new(),
            objects: 0,
        })
    }

    /// Appends the references of the next objects: the targets, and the end of each object's references.
    pub(crate) fn append(&mut self, targets: &[u32], ends: &[u64]) {
        let mut start = self.targets.all().len() as u64;
        self.targets.extend(targets);
        let (counts, starts) = (self.counts.all_mut(), self.starts.all_mut());
        let mut last = 0;
        for end in ends {
            let (block, within) = place(self.objects);
            let (Some(counts), Some(of_block)) = (counts.get_mut(block), starts.get_mut(block))
            else {
                return;
            };
            if within == 0 {
                *of_block = start;
            }
            let count = end - last;
            let short = u8::try_from(count).unwrap_or(MANY);
            if let Some(slot) = counts.get_mut(within) {
                *slot = short;
            }
            if short == MANY {
                *of_block |= HAS_MANY;
                self.many.push((self.objects, count));
            }
            (start, last) = (start + count, *end);
            self.objects += 1;
        }
    }

    /// Number of all references.
    pub(crate) fn len(&self) -> usize {
        self.targets.all().len()
    }

    /// Start and end of an object's references.
    #[inline]
    pub(crate) fn range(&self, object: u32) -> (u64, u64) {
        let (block, within) = place(object);
        let (Some(counts), Some(start)) =
            (self.counts.all().get(block), self.starts.all().get(block))
        else {
            return (0, 0);
        };
        if start & HAS_MANY != 0 {
            return self.range_among_many(object, counts, start & !HAS_MANY);
        }
        let from = start + sum_before(counts, within);
        let count = counts.get(within).copied().unwrap_or(0);
        (from, from + u64::from(count))
    }

    /// The same in a block that has an object with many references.
    #[cold]
    fn range_among_many(&self, object: u32, counts: &[u8; BLOCK], start: u64) -> (u64, u64) {
        let (_, within) = place(object);
        let first = object - u32::try_from(within).unwrap_or(0);
        let (mut from, mut to) = (start, start);
        for (other, count) in (first..=object).zip(counts) {
            from = to;
            to += match *count {
                MANY => self.many_of(other),
                few => u64::from(few),
            };
        }
        (from, to)
    }

    fn many_of(&self, object: u32) -> u64 {
        let place = self
            .many
            .binary_search_by_key(&object, |(object, _)| *object);
        let found = place.ok().and_then(|place| self.many.get(place));
        found.map_or(0, |(_, count)| *count)
    }

    /// The targets between two positions.
    #[inline]
    pub(crate) fn slice(&self, from: u64, to: u64) -> &[u32] {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let targets = self.targets.all().get(place(from)..place(to));
        targets.unwrap_or_default()
    }

    /// The objects that an object refers to, in the order of its fields or elements, repetitions included.
    #[inline]
    pub(crate) fn of(&self, object: u32) -> &[u32] {
        let (from, to) = self.range(object);
        self.slice(from, to)
    }
}

/// The block of an object, and its place there.
#[inline]
fn place(object: u32) -> (usize, usize) {
    let object = object as usize;
    (object / BLOCK, object % BLOCK)
}

/// The sum of the first `within` counts.
#[inline]
fn sum_before(counts: &[u8; BLOCK], within: usize) -> u64 {
    const EVEN: u128 = 0x00FF_00FF_00FF_00FF_00FF_00FF_00FF_00FF;
    const ONES: u128 = 0x0001_0001_0001_0001_0001_0001_0001_0001;
    // The first count is the lowest byte.
    let before = u128::from_le_bytes(*counts) & !(u128::MAX << (8 * within));
    // Eight sums of two counts; the product has the sum of all eight in its highest part.
    let pairs = (before & EVEN) + ((before >> 8) & EVEN);
    u64::try_from(pairs.wrapping_mul(ONES) >> 112).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_own() {
        let mut edges = Edges::with_room(9000, 200_000).unwrap();
        let mut expected = Vec::new();
        for chunk in 0..3_u32 {
            let (mut targets, mut ends) = (Vec::new(), Vec::new());
            for object in 0..3000 {
                let count = match object % 401 {
                    5 => 254,
                    6 => 255,
                    7 => 1000 + chunk,
                    _ => object % 4,
                };
                let own: Vec<u32> = (0..count).map(|n| chunk * 7 + object + n).collect();
                targets.extend_from_slice(&own);
                ends.push(targets.len() as u64);
                expected.push(own);
            }
            edges.append(&targets, &ends);
        }
        assert_eq!(edges.objects, 9000);
        assert_eq!(edges.many.len(), 3 * 16);
        for (object, own) in (0..).zip(&expected) {
            assert_eq!(edges.of(object), own.as_slice());
        }
        assert!(edges.of(9000).is_empty() && edges.of(u32::MAX).is_empty());
    }

    #[test]
    fn sums_stop_before_the_place() {
        let counts: [u8; BLOCK] = std::array::from_fn(|at| 254 - u8::try_from(at).unwrap());
        for within in 0..BLOCK {
            let expected = counts
                .iter()
                .take(within)
                .map(|count| u64::from(*count))
                .sum();
            assert_eq!(sum_before(&counts, within), expected);
        }
    }
}
