//! Loaders that define the same classes, as redeployed applications leave behind.
//!
//! What a loader keeps alive is what it, its classes and their static fields hold. No single object
//! dominates that: an instance of one class that a thread holds keeps the class, which keeps the
//! loader. So the bytes of a group are those that no root leads to without passing a loader or a
//! class of the group.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::heap::Heap;
use crate::loaders::{groups, shared_classes, Loader};
use crate::object_set::ObjectSet;
use crate::retained::Retained;

/// Most groups for which the bytes are computed.
const GROUPS_MAX: usize = 3;

/// So many copies are no chance, even if they retain little.
const MANY: usize = 8;

/// Most dominators of a class among which a loader or class of the group is looked for.
const LEVELS_MAX: usize = 1_000;

/// Loaders of one class that define the same classes.
#[derive(Clone, Debug)]
pub(crate) struct LoaderCopies {
    /// The loaders.
    pub(crate) loaders: Vec<u32>,
    /// The outermost of the loaders and their class objects: no other of them dominates these.
    pub(crate) members: Vec<u32>,
    /// Number of classes that all of them define; at least 1.
    pub(crate) classes: u64,
    /// Bytes that they keep alive together.
    pub(crate) bytes: u64,
    /// A bit for each object: whether it would stay alive without them.
    others: ObjectSet,
}

impl LoaderCopies {
    /// The groups of two or more loaders that retain more than `least` bytes. Of many, a tenth is
    /// enough: most of their memory is outside of the heap.
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained, least: u64) -> Vec<Self> {
        let mut groups = groups(heap, retained);
        groups.retain(|group| group.len() > 1 && shared_classes(group) > 0);
        let classes = |group: &Vec<Loader>| group.iter().map(|it| it.classes.len()).sum::<usize>();
        groups.sort_by_key(|group| Reverse(classes(group)));
        groups.truncate(GROUPS_MAX);
        let copies = groups.iter().map(|group| Self::new(heap, retained, group));
        let is_much = |copies: &Self| match copies.loaders.len() >= MANY {
            true => copies.bytes > least / 10,
            false => copies.bytes > least,
        };
        copies.filter(is_much).collect()
    }

    fn new(heap: &Heap<'_>, retained: &Retained, group: &[Loader]) -> Self {
        let objects = |loader: &Loader| {
            let classes: Vec<u32> = loader.classes.values().copied().collect();
            std::iter::once(loader.object).chain(classes)
        };
        let all: FxHashSet<u32> = group.iter().flat_map(objects).collect();
        let (others, bytes) = reached_without(heap, retained, &all);
        let is_outermost = |object: &u32| {
            retained.is_reachable(*object)
                && !retained
                    .dominators(*object)
                    .take(LEVELS_MAX)
                    .any(|at| all.contains(&at))
        };
        let mut members: Vec<u32> = all.iter().copied().filter(is_outermost).collect();
        members.sort_unstable();
        Self {
            loaders: group.iter().map(|loader| loader.object).collect(),
            members,
            classes: shared_classes(group),
            bytes: retained.total_bytes().saturating_sub(bytes),
            others,
        }
    }

    /// Whether an object is kept alive only by these loaders.
    pub(crate) fn keep(&self, object: u32) -> bool {
        !self.others.contains(object)
    }
}

/// The objects that roots lead to without passing one of these, a bit for each, and their bytes.
fn reached_without(
    heap: &Heap<'_>,
    retained: &Retained,
    without: &FxHashSet<u32>,
) -> (ObjectSet, u64) {
    let graph = heap.graph(retained.rule());
    let mut reached = ObjectSet::with_room(heap.objects());
    let (mut open, mut bytes) = (Vec::new(), 0_u64);
    let mut reach = |object: u32, open: &mut Vec<u32>| {
        if !without.contains(&object) && reached.insert(object) {
            bytes = bytes.saturating_add(heap.shallow_bytes(object));
            open.push(object);
        }
    };
    graph.roots().for_each(|root| reach(root, &mut open));
    while let Some(object) = open.pop() {
        let (class, referent) = graph.implied(object);
        let stored = graph.edges.of(object).iter().copied();
        for target in stored.chain(class).chain(referent) {
            reach(target, &mut open);
        }
    }
    (reached, bytes)
}
