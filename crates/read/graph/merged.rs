//! Sets of objects that a search of the graph takes for one object each.

use rustc_hash::FxHashMap;

use crate::class_facts::NONE;

/// The sets; no object is in two of them.
#[derive(Debug)]
pub(crate) struct Merged {
    sets: Vec<Vec<u32>>,
    /// The set of each object that is in one.
    of: FxHashMap<u32, u32>,
}

impl Merged {
    /// These sets.
    pub(crate) fn new(sets: impl Iterator<Item = Vec<u32>>) -> Self {
        let sets: Vec<Vec<u32>> = sets.collect();
        let numbered = (0..).zip(&sets);
        let of = numbered.flat_map(|(number, set)| set.iter().map(move |object| (*object, number)));
        Self {
            of: of.collect(),
            sets,
        }
    }

    /// The object that stands for a set in the result.
    pub(crate) fn first(&self, set: u32) -> Option<u32> {
        self.sets.get(set as usize)?.first().copied()
    }

    /// All objects that are one with this one; none if it is in no set.
    pub(crate) fn with(&self, object: u32) -> &[u32] {
        let set = self.of.get(&object).copied().unwrap_or(NONE);
        self.sets.get(set as usize).map_or(&[], Vec::as_slice)
    }
}
