//! The references between objects: the targets of all objects, one object after the other.

use crate::error::GraphError;
use crate::numbers::Numbers;
use crate::ranges::Ranges;

/// The references of all objects by number, except those to an object's own class. Consecutive
/// references to the same object are stored once.
#[derive(Debug)]
pub(crate) struct Edges {
    targets: Numbers<u32>,
    ranges: Ranges,
}

impl Edges {
    /// No references yet, with capacity for `objects` objects and `most_references` references.
    /// Errors: there is no memory.
    pub(crate) fn with_room(objects: u32, most_references: usize) -> Result<Self, GraphError> {
        Ok(Self {
            targets: Numbers::with_room(most_references)?,
            ranges: Ranges::with_room(objects as usize)?,
        })
    }

    /// Appends the references of the next objects: the targets, and the end of each object's
    /// references.
    pub(crate) fn append(&mut self, targets: &[u32], ends: &[u64]) {
        self.targets.extend(targets);
        let mut last = 0;
        for end in ends {
            self.ranges.push(end - last);
            last = *end;
        }
    }

    /// Number of stored references.
    pub(crate) fn len(&self) -> usize {
        self.targets.all().len()
    }

    /// Start and end of an object's references.
    #[inline]
    pub(crate) fn range(&self, object: u32) -> (u64, u64) {
        self.ranges.get(object)
    }

    /// The targets between two positions.
    #[inline]
    pub(crate) fn slice(&self, from: u64, to: u64) -> &[u32] {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let targets = self.targets.all().get(place(from)..place(to));
        targets.unwrap_or_default()
    }

    /// The objects that an object refers to, in the order of its fields or elements.
    #[inline]
    pub(crate) fn of(&self, object: u32) -> &[u32] {
        let (from, to) = self.range(object);
        self.slice(from, to)
    }

    /// Prefetches the range of an object's references.
    #[inline]
    pub(crate) fn prefetch(&self, object: u32) {
        self.ranges.prefetch(object);
    }

    /// Prefetches the targets at a position.
    #[inline]
    pub(crate) fn prefetch_targets(&self, from: u64) {
        let place = usize::try_from(from).unwrap_or(usize::MAX);
        prefetch_index::prefetch_index(self.targets.all(), place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_own() {
        let mut edges = Edges::with_room(9, 20).unwrap();
        edges.append(&[7, 8, 8], &[2, 2, 3]);
        edges.append(&[], &[]);
        edges.append(&[1, 2], &[0, 2]);
        let all: Vec<&[u32]> = (0..6).map(|object| edges.of(object)).collect();
        assert_eq!(all, [&[7, 8][..], &[], &[8], &[], &[1, 2], &[]]);
        assert_eq!(edges.len(), 5);
    }
}
