//! References to things that are not defined yet.

use std::collections::HashMap;
use std::hash::Hash;

use super::fault::Faults;
use super::rule::Rule;
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

    /// Notes a definition. A reference before it breaks this rule.
    pub(super) fn define(
        &mut self,
        key: K,
        rule: Rule,
        faults: &mut Faults,
        found: impl FnOnce() -> String,
    ) {
        if let Some(Citation { offset, by }) = self.resolve(key) {
            faults.add(rule, offset, || format!("{by} names {}", found()));
        }
    }

    /// Bytes of memory that the citations take.
    pub(super) fn held_bytes(&self) -> u64 {
        entries(2 * self.open.len())
    }

    /// Keeps the references to these keys alone.
    pub(super) fn retain(&mut self, is_kept: impl Fn(K) -> bool) {
        self.open.retain(|key, _| is_kept(*key));
    }

    /// What was never defined breaks this rule.
    pub(super) fn judge(self, rule: Rule, faults: &mut Faults, found: impl Fn(K) -> String) {
        for (key, Citation { offset, by }) in self.open {
            faults.add(rule, offset, || format!("{by} names {}", found(key)));
        }
    }
}
