//! The references between objects: the targets of all objects, one object after the other.

use crate::error::GraphError;
use crate::numbers::Numbers;

/// Log2 of the number of objects whose references share a base.
const BLOCK_SHIFT: u32 = 12;

/// The references of all objects by number, except those to an object's own class.
#[derive(Debug)]
pub(crate) struct Edges {
    targets: Numbers<u32>,
    /// End of each object's references: the low half of the position.
    ends: Numbers<u32>,
    /// Start of the references of each block of objects.
    bases: Vec<u64>,
}

impl Edges {
    /// No references yet, with capacity for this many objects and references. Errors: there is no memory.
    pub(crate) fn with_room(objects: usize, most_references: usize) -> Result<Self, GraphError> {
        Ok(Self {
            targets: Numbers::with_room(most_references)?,
            ends: Numbers::with_room(objects)?,
            bases: Vec::new(),
        })
    }

    /// Appends the references of the next objects: the targets, and the end of each object's references.
    pub(crate) fn append(&mut self, targets: &[u32], ends: &[u64]) -> Result<(), GraphError> {
        let before = self.targets.all().len() as u64;
        self.targets.extend(targets);
        let mut last = before;
        let mut low_halves = Vec::with_capacity(ends.len());
        for (place, end) in (self.ends.all().len()..).zip(ends) {
            if place % (1 << BLOCK_SHIFT) == 0 {
                self.bases.push(last);
            }
            last = before + end;
            let base = self.bases.last().copied().unwrap_or(0);
            if last - base > u64::from(u32::MAX) {
                return Err(GraphError::TooManyReferences);
            }
            let [.., b3, b2, b1, b0] = last.to_be_bytes();
            low_halves.push(u32::from_be_bytes([b3, b2, b1, b0]));
        }
        self.ends.extend(&low_halves);
        Ok(())
    }

    /// Number of all references.
    pub(crate) fn len(&self) -> usize {
        self.targets.all().len()
    }

    /// Start and end of an object's references.
    #[inline]
    pub(crate) fn range(&self, object: u32) -> (u64, u64) {
        let start = match object.checked_sub(1) {
            Some(before) => self.end(before),
            None => 0,
        };
        (start, self.end(object))
    }

    #[inline]
    fn end(&self, object: u32) -> u64 {
        let base = self.bases.get((object >> BLOCK_SHIFT) as usize);
        let base = base.copied().unwrap_or(0);
        let end = self.ends.get(object).unwrap_or(0);
        let [.., b3, b2, b1, b0] = base.to_be_bytes();
        base + u64::from(end.wrapping_sub(u32::from_be_bytes([b3, b2, b1, b0])))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_own() {
        let mut edges = Edges::with_room(9000, 20_000).unwrap();
        let mut expected = Vec::new();
        for chunk in 0..3_u32 {
            let (mut targets, mut ends) = (Vec::new(), Vec::new());
            for object in 0..3000 {
                let own: Vec<u32> = (0..object % 4).map(|n| chunk * 7 + object + n).collect();
                targets.extend_from_slice(&own);
                ends.push(targets.len() as u64);
                expected.push(own);
            }
            edges.append(&targets, &ends).unwrap();
        }
        assert_eq!(edges.ends.all().len(), 9000);
        for (object, own) in (0..).zip(&expected) {
            assert_eq!(edges.of(object), own.as_slice());
        }
        assert!(edges.of(9000).is_empty());
    }
}
