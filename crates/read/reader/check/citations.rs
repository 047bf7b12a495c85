//! References to things that are not defined yet.

use std::collections::HashMap;
use std::hash::Hash;

use crate::budget::entries;

/// The first reference to a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Citation {
    /// Offset of the referring record.
    pub(super) offset: u64,
    /// Kind of the referring record.
    pub(super) by: &'static str,
}

/// Keys that are referred to but not yet defined, with the first reference to each.
#[derive(Debug, Default)]
pub(super) struct Citations<K> {
    open: HashMap<K, Citation>,
}

impl<K: Hash + Eq + Ord + Copy> Citations<K> {
    /// Notes a reference to an undefined key.
    pub(super) fn add(&mut self, key: K, offset: u64, by: &'static str) {
        self.open.entry(key).or_insert(Citation { offset, by });
    }

    /// Notes a definition; returns the reference before it, if there was one.
    pub(super) fn resolve(&mut self, key: K) -> Option<Citation> {
        self.open.remove(&key)
    }

    /// Bytes of memory that the citations take.
    pub(super) fn held_bytes(&self) -> u64 {
        entries(2 * self.open.len())
    }

    /// What was never defined.
    pub(super) fn into_missing(self) -> impl Iterator<Item = (K, Citation)> {
        self.open.into_iter()
    }
}
