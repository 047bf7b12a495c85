//! Immediate dominators, retained sizes, and the objects that each object dominates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::class_facts::{References, NONE};
use crate::dominators::{Tree, ROOT};
use crate::error::GraphError;
use crate::heap::Heap;
use crate::sums::Sums;

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
    tree: Tree,
    /// Retained bytes by preorder number.
    bytes: Sums,
    /// Preorder number of each object; 0 for unreachable ones. Made when first requested.
    numbers: OnceLock<Vec<u32>>,
    /// The numbers that each number dominates: the start of each list, and all lists. Made when first
    /// requested.
    children: OnceLock<(Vec<u32>, Vec<u32>)>,
    objects: u32,
    rule: References,
}

impl Retained {
    /// Computes everything. Errors: too many references.
    pub fn of(heap: &Heap<'_>, rule: References) -> Result<Self, GraphError> {
        let tree = Tree::of(&heap.graph(rule))?;
        let bytes = tree.retained(heap.units())?;
        Ok(Self {
            tree,
            bytes,
            numbers: OnceLock::new(),
            children: OnceLock::new(),
            objects: heap.objects(),
            rule,
        })
    }

    /// Which references count.
    pub fn rule(&self) -> References {
        self.rule
    }

    /// Number of reachable objects.
    pub fn reachable(&self) -> u32 {
        // The virtual root is not an object.
        u32::try_from(self.tree.len()).map_or(NONE, |count| count.saturating_sub(1))
    }

    /// Bytes of all reachable objects.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.get(ROOT)
    }

    /// The bytes that would be freed with an object: its own and those of all objects that it dominates; 0 if
    /// it is unreachable.
    pub fn bytes(&self, object: u32) -> u64 {
        match self.number(object) {
            ROOT => 0,
            number => self.bytes.get(number),
        }
    }

    /// Whether a root leads to an object.
    pub fn is_reachable(&self, object: u32) -> bool {
        self.number(object) != ROOT
    }

    /// The immediate dominator of an object.
    pub fn dominator(&self, object: u32) -> Dominator {
        let number = self.number(object);
        if number == ROOT {
            return Dominator::Unreachable;
        }
        match self.dominator_number(number) {
            ROOT => Dominator::Roots,
            above => Dominator::Object(self.object(above)),
        }
    }

    /// Number of objects that dominate each object, by number; 0 for unreachable ones and for those that no other one
    /// dominates.
    pub fn depths(&self) -> Vec<u32> {
        let mut by_number: Vec<u32> = Vec::with_capacity(self.tree.len());
        let mut depths = vec![0; self.objects as usize];
        for (number, object) in (0_u32..).zip(self.tree.order.all()) {
            let depth = match self.dominator_number(number) {
                ROOT => 0,
                // What dominates has the smaller number.
                above => by_number.get(above as usize).map_or(0, |depth| depth + 1),
            };
            by_number.push(depth);
            if let (Some(slot), true) = (depths.get_mut(*object as usize), number != ROOT) {
                *slot = depth;
            }
        }
        depths
    }

    /// The objects without a dominator, largest retained size first.
    pub fn top(&self) -> Vec<u32> {
        self.largest_first(ROOT)
    }

    /// The objects that an object immediately dominates, largest retained size first.
    pub fn dominated(&self, object: u32) -> Vec<u32> {
        match self.number(object) {
            ROOT => Vec::new(),
            number => self.largest_first(number),
        }
    }

    /// The objects that an object immediately dominates, in no order.
    pub fn each_dominated(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let children = match self.number(object) {
            ROOT => &[],
            number => self.children(number),
        };
        children.iter().map(|number| self.object(*number))
    }

    /// Of the objects that an object immediately dominates, the one with the largest retained size.
    pub fn largest_dominated(&self, object: u32) -> Option<u32> {
        let number = self.number(object);
        if number == ROOT {
            return None;
        }
        let children = self.children(number);
        let bytes = |number: &&u32| self.bytes.get(**number);
        children
            .iter()
            .max_by_key(bytes)
            .map(|number| self.object(*number))
    }

    /// Calls `visit` for each reachable object with its retained bytes: with `true` before the objects that it
    /// dominates, with `false` after them.
    pub fn walk_tree(&self, mut visit: impl FnMut(u32, u64, bool)) {
        // A number, and whether its object is entered or left.
        let mut open: Vec<(u32, bool)> = Vec::new();
        let enter = |open: &mut Vec<(u32, bool)>, number: u32| {
            open.extend(self.children(number).iter().map(|child| (*child, true)));
        };
        enter(&mut open, ROOT);
        while let Some((number, enters)) = open.pop() {
            let bytes = self.bytes.get(number);
            visit(self.object(number), bytes, enters);
            if enters {
                open.push((number, false));
                enter(&mut open, number);
            }
        }
    }

    /// The `count` objects with the largest retained sizes, largest first; a dominator comes before the
    /// objects that it dominates.
    pub fn largest(&self, count: usize) -> Vec<u32> {
        // The search reaches a dominator before the objects that it dominates.
        let all = (1..=self.reachable()).map(|number| (Reverse(self.bytes.get(number)), number));
        // The greatest is the one to drop.
        let mut kept: BinaryHeap<(Reverse<u64>, u32)> = BinaryHeap::new();
        for one in all {
            if kept.len() < count {
                kept.push(one);
            } else if let Some(mut last) = kept.peek_mut().filter(|last| one < **last) {
                *last = one;
            }
        }
        let largest = kept.into_sorted_vec().into_iter();
        largest.map(|(_, number)| self.object(number)).collect()
    }

    /// All objects that an object dominates, including itself, in no order. Computed lazily.
    pub fn subtree(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let number = self.number(object);
        let mut open = if number == ROOT {
            Vec::new()
        } else {
            vec![number]
        };
        std::iter::from_fn(move || {
            let number = open.pop()?;
            open.extend_from_slice(self.children(number));
            Some(self.object(number))
        })
    }

    fn largest_first(&self, number: u32) -> Vec<u32> {
        let mut children = self.children(number).to_vec();
        children.sort_by_key(|child| {
            let bytes = self.bytes.get(*child);
            (Reverse(bytes), self.object(*child))
        });
        children
            .into_iter()
            .map(|child| self.object(child))
            .collect()
    }

    fn object(&self, number: u32) -> u32 {
        self.tree.order.get(number).unwrap_or(NONE)
    }

    fn dominator_number(&self, number: u32) -> u32 {
        self.tree.dominators.get(number).unwrap_or(ROOT)
    }

    fn number(&self, object: u32) -> u32 {
        let numbers = self.numbers.get_or_init(|| {
            let mut numbers = vec![ROOT; self.objects as usize];
            for (number, object) in (0_u32..).zip(self.tree.order.all()).skip(1) {
                if let Some(slot) = numbers.get_mut(*object as usize) {
                    *slot = number;
                }
            }
            numbers
        });
        numbers.get(object as usize).copied().unwrap_or(ROOT)
    }

    fn children(&self, number: u32) -> &[u32] {
        let (starts, all) = self
            .children
            .get_or_init(|| lists(self.tree.dominators.all()));
        let start = starts.get(number as usize).copied().unwrap_or(0) as usize;
        let end = starts.get(number as usize + 1).copied().unwrap_or(0) as usize;
        all.get(start..end).unwrap_or_default()
    }
}

/// The numbers that each number immediately dominates, by a counting sort.
fn lists(dominators: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; dominators.len() + 1];
    for dominator in dominators.iter().skip(1) {
        if let Some(count) = starts.get_mut(*dominator as usize) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut all = vec![0; dominators.len().saturating_sub(1)];
    for (number, dominator) in (0_u32..).zip(dominators).skip(1) {
        if let Some(place) = starts.get_mut(*dominator as usize) {
            *place -= 1;
            if let Some(slot) = all.get_mut(*place as usize) {
                *slot = number;
            }
        }
    }
    (starts, all)
}
