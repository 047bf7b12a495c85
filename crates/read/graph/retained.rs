//! Immediate dominators, retained sizes, and the objects that each object dominates.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::children::Children;
use crate::class_facts::References;
use crate::dominators::{ByObject, Tree, ROOTS, UNREACHABLE};
use crate::error::GraphError;
use crate::heap::Heap;

/// Objects whose children are fetched into the cache before a walk comes to them.
const AHEAD: usize = 8;

/// The immediate dominator of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dominator {
    /// None: the object is unreachable.
    Unreachable,
    /// No single object: it is a root, or two or more objects keep it alive.
    Roots,
    /// This object.
    Object(u32),
}

/// The dominator tree of a heap and its retained sizes.
#[derive(Debug)]
pub struct Retained {
    tree: ByObject,
    /// The objects that each object immediately dominates; those without a dominator come last.
    /// Created when first requested.
    children: OnceLock<Children>,
    objects: u32,
    rule: References,
}

/// Objects that no root leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreachable {
    /// Number of objects.
    pub objects: u64,
    /// Sum of their own bytes.
    pub bytes: u64,
}

/// Sums over the reachable objects of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Number of objects.
    pub objects: u64,
    /// Sum of their own bytes.
    pub shallow_bytes: u64,
    /// Sum of the retained sizes of those objects that no other object of the group dominates: at
    /// least this much would be freed with the whole group, plus objects that several of its
    /// objects hold together (Eclipse MAT's minimum retained size).
    pub retained_bytes: u64,
}

impl Retained {
    /// Computes everything. Errors: there is no memory.
    pub fn of(heap: &Heap<'_>, rule: References) -> Result<Self, GraphError> {
        let objects = heap.objects();
        Ok(Self {
            tree: Tree::of(&heap.graph(rule), None)?.by_object(objects, heap.units())?,
            children: OnceLock::new(),
            objects,
            rule,
        })
    }

    /// The rule by which references count.
    pub fn rule(&self) -> References {
        self.rule
    }

    /// Number of reachable objects.
    pub fn reachable(&self) -> u32 {
        self.tree.reachable
    }

    /// Bytes of all reachable objects.
    pub fn total_bytes(&self) -> u64 {
        self.tree.sums.get(self.objects)
    }

    /// The bytes that would be freed with an object: its own and those of all objects that it
    /// dominates; 0 if it is unreachable.
    pub fn bytes(&self, object: u32) -> u64 {
        match object < self.objects {
            true => self.tree.sums.get(object),
            false => 0,
        }
    }

    /// Whether a root leads to an object.
    pub fn is_reachable(&self, object: u32) -> bool {
        self.dominator(object) != Dominator::Unreachable
    }

    /// The immediate dominator of an object.
    pub fn dominator(&self, object: u32) -> Dominator {
        match self.tree.dominators.get(object) {
            None | Some(UNREACHABLE) => Dominator::Unreachable,
            Some(ROOTS) => Dominator::Roots,
            Some(above) => Dominator::Object(above),
        }
    }

    /// The objects that dominate an object, innermost first.
    pub(crate) fn dominators(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let above = |at: &u32| match self.dominator(*at) {
            Dominator::Object(above) => Some(above),
            Dominator::Unreachable | Dominator::Roots => None,
        };
        std::iter::successors(above(&object), above)
    }

    /// Number of objects that dominate each object, by number; 0 for unreachable objects and for
    /// those without a dominator.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.objects as usize];
        let mut depth = 0_u32;
        self.walk_tree(|object, _, enters| {
            if !enters {
                depth -= 1;
                return;
            }
            if let Some(slot) = depths.get_mut(object as usize) {
                *slot = depth;
            }
            depth += 1;
        });
        depths
    }

    /// The objects without a dominator, largest retained size first.
    pub fn top(&self) -> Vec<u32> {
        self.largest_first(self.objects)
    }

    /// The objects that an object immediately dominates, largest retained size first.
    pub fn dominated(&self, object: u32) -> Vec<u32> {
        match object < self.objects {
            true => self.largest_first(object),
            false => Vec::new(),
        }
    }

    /// The objects that an object immediately dominates, in no order.
    pub fn each_dominated(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let children = match object < self.objects {
            true => self.children(object),
            false => &[],
        };
        children.iter().copied()
    }

    /// The object with the largest retained size among those that an object immediately dominates.
    pub fn largest_dominated(&self, object: u32) -> Option<u32> {
        let largest = |object: &u32| (self.bytes(*object), Reverse(*object));
        self.each_dominated(object).max_by_key(largest)
    }

    /// Calls `visit` for each reachable object with its retained bytes: with `true` before the
    /// objects that it dominates, with `false` after them.
    pub fn walk_tree(&self, mut visit: impl FnMut(u32, u64, bool)) {
        // An object, and whether it is entered or left.
        let mut open: Vec<(u32, bool)> = Vec::new();
        let enter = |open: &mut Vec<(u32, bool)>, object: u32| {
            open.extend(self.children(object).iter().map(|child| (*child, true)));
        };
        enter(&mut open, self.objects);
        while let Some((object, enters)) = open.pop() {
            visit(object, self.bytes(object), enters);
            if enters {
                open.push((object, false));
                enter(&mut open, object);
            }
        }
    }

    /// The `count` objects with the largest retained sizes, largest first; a dominator comes before
    /// the objects that it dominates.
    pub fn largest(&self, count: usize) -> Vec<u32> {
        self.largest_of(count, |_| true)
    }

    /// The same of those objects that `is_one` selects.
    pub fn largest_of(&self, count: usize, is_one: impl Fn(u32) -> bool) -> Vec<u32> {
        // The greatest entry is the one to drop.
        let mut kept: BinaryHeap<(Reverse<u64>, u32, u32)> = BinaryHeap::new();
        let depths = OnceCell::new();
        for object in (0..self.objects).filter(|object| self.is_reachable(*object)) {
            let bytes = self.bytes(object);
            let is_small = |last: &(Reverse<u64>, u32, u32)| last.0 < Reverse(bytes);
            let is_full = kept.len() >= count;
            if is_full && kept.peek().is_none_or(is_small) {
                continue;
            }
            if !is_one(object) {
                continue;
            }
            let depth = match self.dominator(object) {
                // The sizes are equal: only the depth shows which comes first.
                Dominator::Object(above) if self.bytes(above) == bytes => {
                    let depths: &Vec<u32> = depths.get_or_init(|| self.depths());
                    depths.get(object as usize).copied().unwrap_or(0)
                }
                _ => 0,
            };
            kept.push((Reverse(bytes), depth, object));
            if is_full {
                kept.pop();
            }
        }
        let largest = kept.into_sorted_vec().into_iter();
        largest.map(|(_, _, object)| object).collect()
    }

    /// All objects that an object dominates, including itself, in no order. Computed lazily.
    pub fn subtree(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let mut open = match self.is_reachable(object) {
            true => vec![object],
            false => Vec::new(),
        };
        let all = self.all_children();
        std::iter::from_fn(move || {
            let object = open.pop()?;
            let children = all.of(object);
            open.extend_from_slice(children);
            let next = children.iter().rev().take(AHEAD);
            next.for_each(|child| all.prefetch(*child));
            if let Some(later) = open.len().checked_sub(AHEAD) {
                open.get(later).into_iter().for_each(|it| all.prefetch(*it));
            }
            Some(object)
        })
    }

    /// The objects of this heap that no root leads to.
    pub fn unreachable(&self, heap: &Heap<'_>) -> Unreachable {
        let mut sum = Unreachable::default();
        for object in self.unreachable_objects(heap) {
            sum.objects += 1;
            sum.bytes = sum.bytes.saturating_add(heap.shallow_bytes(object));
        }
        sum
    }

    /// Their numbers, ascending.
    pub fn unreachable_objects<'a>(&'a self, heap: &Heap<'_>) -> impl Iterator<Item = u32> + 'a {
        let all = self.reachable() == heap.objects();
        let objects = if all { 0 } else { heap.objects() };
        (0..objects).filter(|object| !self.is_reachable(*object))
    }

    /// The sums of each group. `group` returns the group's number for an object; numbers of
    /// `groups` and above are left out.
    pub fn totals(&self, heap: &Heap<'_>, groups: u32, group: impl Fn(u32) -> u32) -> Vec<Total> {
        let mut totals = vec![Total::default(); groups as usize];
        // Number of objects of each group on the path from the virtual root.
        let mut above = vec![0_u32; groups as usize];
        self.walk_tree(|object, bytes, enters| {
            let place = group(object) as usize;
            let (Some(total), Some(above)) = (totals.get_mut(place), above.get_mut(place)) else {
                return;
            };
            if !enters {
                *above -= 1;
                return;
            }
            total.objects += 1;
            total.shallow_bytes = total
                .shallow_bytes
                .saturating_add(heap.shallow_bytes(object));
            if *above == 0 {
                total.retained_bytes = total.retained_bytes.saturating_add(bytes);
            }
            *above += 1;
        });
        totals
    }

    fn largest_first(&self, object: u32) -> Vec<u32> {
        let mut children = self.children(object).to_vec();
        children.sort_by_key(|child| (Reverse(self.bytes(*child)), *child));
        children
    }

    /// The objects that an object immediately dominates; for the number after the last object,
    /// those without a dominator.
    fn children(&self, object: u32) -> &[u32] {
        self.all_children().of(object)
    }

    fn all_children(&self) -> &Children {
        let made = || Children::new(self.tree.dominators.all(), self.objects);
        self.children.get_or_init(made)
    }
}
