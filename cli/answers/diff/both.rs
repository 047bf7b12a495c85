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
    mut after: BTreeMap<K, T>,
) -> Vec<Both<K, T>> {
    let mut rows: Vec<Both<K, T>> = Vec::new();
    for (of, before) in before {
        let after = after.remove(&of).unwrap_or_default();
        rows.push(Both { of, before, after });
    }
    rows.extend(after.into_iter().map(|(of, after)| {
        let before = T::default();
        Both { of, before, after }
    }));
    rows.retain(|row| row.before != row.after);
    rows
}
