//! The dominator tree by class: objects of one class below objects of one class are one node, so
//! that two heaps can be compared although their objects have moved.

use std::collections::{BTreeMap, HashMap};

use graph::{Heap, Retained};

use crate::answer::object::described;

/// Levels of the tree.
const DEPTH_MAX: usize = 24;

/// A path is listed if it grew by at least the growth of the heap divided by this.
const GROWN_SHARE: u64 = 100;

/// Nodes of the tree.
const NODES_MAX: usize = 4_000;

/// A node has at least the bytes of the heap divided by this; smaller ones are not separated.
const SHARE: u64 = 1_000;

/// Objects of one class, and what they keep alive.
#[derive(Debug, Default)]
pub(crate) struct ClassPaths {
    objects: u64,
    bytes: u64,
    below: BTreeMap<String, ClassPaths>,
}

/// A path whose objects retain more than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrownPath {
    /// The classes, from the top of the tree.
    pub(crate) classes: Vec<String>,
    /// Objects and retained bytes at the end of the path.
    pub(crate) before: (u64, u64),
    pub(crate) after: (u64, u64),
}

impl GrownPath {
    /// Retained bytes that were not there before.
    pub(crate) fn grown_bytes(&self) -> u64 {
        self.after.1.saturating_sub(self.before.1)
    }
}

impl ClassPaths {
    /// The tree of a heap.
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained) -> Self {
        let least_bytes = (retained.total_bytes() / SHARE).max(1);
        let mut tree = Self {
            objects: retained.reachable().into(),
            bytes: retained.total_bytes(),
            below: BTreeMap::new(),
        };
        let mut left = NODES_MAX;
        // Level by level, so that the top of the tree is whole if there are too many nodes.
        let mut level = vec![(Vec::new(), retained.top())];
        for _ in 0..DEPTH_MAX {
            let mut next = Vec::new();
            for (path, objects) in level {
                for (class, members) in groups(heap, objects) {
                    let bytes = members.iter().map(|object| retained.bytes(*object));
                    let bytes = bytes.fold(0, u64::saturating_add);
                    if bytes < least_bytes || left == 0 {
                        continue;
                    }
                    left -= 1;
                    let mut path: Vec<String> = Vec::clone(&path);
                    path.push(class);
                    let node = tree.at(&path);
                    (node.objects, node.bytes) = (members.len() as u64, bytes);
                    let below = members.iter().flat_map(|it| retained.each_dominated(*it));
                    next.push((path, below.collect()));
                }
            }
            level = next;
        }
        tree
    }

    fn at(&mut self, path: &[String]) -> &mut Self {
        let mut node = self;
        for class in path {
            node = node.below.entry(class.clone()).or_default();
        }
        node
    }

    /// The paths that grew by a hundredth of the heap's growth or more, those that grew most first.
    /// Each ends where the growth spreads, or where nodes are no longer separated.
    pub(crate) fn grown_since(&self, before: &Self) -> Vec<GrownPath> {
        let grown_bytes = self.bytes.saturating_sub(before.bytes);
        self.grown_by(before, grown_bytes / GROWN_SHARE)
    }

    fn grown_by(&self, before: &Self, least_bytes: u64) -> Vec<GrownPath> {
        let mut found = Vec::new();
        let none = Self::default();
        let mut open = vec![(Vec::new(), before, self)];
        while let Some((path, before, after)) = open.pop() {
            let grown = after.bytes.saturating_sub(before.bytes);
            let below = after.below.iter().map(|(class, node)| {
                let then = before.below.get(class).unwrap_or(&none);
                (class, then, node, node.bytes.saturating_sub(then.bytes))
            });
            let mut below: Vec<_> = below.collect();
            below.retain(|(.., bytes)| *bytes >= least_bytes.max(1));
            // The top of the tree is no path.
            let leads_on = |(.., bytes): &(_, _, _, u64)| *bytes >= grown / 2;
            if path.is_empty() || below.iter().any(leads_on) {
                for (class, then, node, _) in below {
                    let mut path: Vec<String> = Vec::clone(&path);
                    path.push(class.clone());
                    open.push((path, then, node));
                }
            } else {
                found.push(GrownPath {
                    classes: path,
                    before: (before.objects, before.bytes),
                    after: (after.objects, after.bytes),
                });
            }
        }
        found.sort_by(|a, b| {
            let bytes = b.grown_bytes().cmp(&a.grown_bytes());
            bytes.then_with(|| a.classes.cmp(&b.classes))
        });
        found
    }
}

/// The objects by the names of their classes; class objects by what they represent.
fn groups(heap: &Heap<'_>, objects: Vec<u32>) -> Vec<(String, Vec<u32>)> {
    let mut by_class: HashMap<(u32, Option<u32>), Vec<u32>> = HashMap::new();
    for object in objects {
        let key = (heap.class(object), heap.class_of_object(object));
        by_class.entry(key).or_default().push(object);
    }
    let mut by_name: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for members in by_class.into_values() {
        if let Some(first) = members.first() {
            let name = described(heap, *first);
            by_name.entry(name).or_default().extend(members);
        }
    }
    by_name.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[(&str, u64, u64)]) -> ClassPaths {
        let mut tree = ClassPaths::default();
        for (path, objects, bytes) in paths {
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            let node = tree.at(&path);
            (node.objects, node.bytes) = (*objects, *bytes);
        }
        tree
    }

    #[test]
    fn a_path_ends_where_its_growth_spreads() {
        let before = tree(&[("Cache", 1, 100), ("Cache/Map", 1, 90), ("Old", 1, 500)]);
        let after = tree(&[
            ("Cache", 1, 1_100),
            ("Cache/Map", 1, 1_090),
            ("Cache/Map/A", 4, 300),
            ("Cache/Map/B", 4, 300),
            ("Cache/Map/C", 4, 300),
            ("New", 2, 50),
            ("Old", 1, 400),
        ]);
        let grown = after.grown_by(&before, 20);
        let path = |classes: &[&str], before, after| GrownPath {
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
            before,
            after,
        };
        let expected = [
            path(&["Cache", "Map"], (1, 90), (1, 1_090)),
            path(&["New"], (0, 0), (2, 50)),
        ];
        assert_eq!(grown, expected);
    }

    #[test]
    fn what_did_not_grow_has_no_path() {
        let heap = tree(&[("Cache", 1, 100)]);
        assert_eq!(heap.grown_since(&heap), []);
    }
}
