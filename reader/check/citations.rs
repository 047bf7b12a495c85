//! Things that were named before they were defined.

use std::collections::HashMap;
use std::hash::Hash;

use crate::budget::entries;

/// The first place that names a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Citation {
    /// Offset of the record that names it.
    pub(super) offset: u64,
    /// What kind of record that is.
    pub(super) by: &'static str,
}

/// Keys named but not defined so far, with their first citation each.
#[derive(Debug)]
pub(super) struct Citations<K> {
    open: HashMap<K, Citation>,
}

impl<K: Hash + Eq + Ord + Copy> Citations<K> {
    pub(super) fn new() -> Self {
        Self {
            open: HashMap::new(),
        }
    }

    /// Notes that a key without definition is named.
    pub(super) fn add(&mut self, key: K, offset: u64, by: &'static str) {
        self.open.entry(key).or_insert(Citation { offset, by });
    }

    /// Notes a definition; gives the citation that came before it, if one did.
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
