//! Two heaps side by side: what has one name in both.

use std::collections::BTreeMap;

/// What has a name in both heaps.
#[derive(Debug)]
pub(super) struct Both<K, T> {
    pub(super) of: K,
    pub(super) before: T,
    pub(super) after: T,
}

/// What differs between two heaps.
pub(super) fn both<K: Ord, T: Default + PartialEq>(
    before: BTreeMap<K, T>,
    after: BTreeMap<K, T>,
) -> Vec<Both<K, T>> {
    let mut all: BTreeMap<K, (T, T)> = BTreeMap::new();
    for (of, before) in before {
        all.entry(of).or_default().0 = before;
    }
    for (of, after) in after {
        all.entry(of).or_default().1 = after;
    }
    let rows = all
        .into_iter()
        .filter(|(_, (before, after))| before != after);
    let row = |(of, (before, after))| Both { of, before, after };
    rows.map(row).collect()
}
