//! The dominator tree by SEMI-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related
//! Problems", 2005), and the retained sizes that follow from it.
//!
//! An object dominates another one if every path from the roots to the second leads through the
//! first. Everything that an object dominates would be freed with it: this is its retained size. A
//! virtual root refers to every root of the heap. The steps:
//!
//! 1. [`Search`] walks depth first from the virtual root. It numbers objects in preorder (0 is the
//!    virtual root), records each number's parent in the search tree, and collects all references
//!    that are not tree edges in [`NonTree`].
//! 2. [`semi_dominators`] goes through the numbers in descending order, and finds for each the
//!    least number from which a path leads to it through higher numbers only. [`Forest`] answers
//!    the queries, with path compression.
//! 3. [`nearest_common_ancestors`] goes through the numbers in ascending order: the immediate
//!    dominator is the nearest ancestor whose number is not above the semi-dominator's.
//! 4. [`Tree::by_object`] adds, in descending order, each number's sum to its dominator's.
//!
//! All steps between use only preorder numbers, so that neighbours in the tree are neighbours in
//! memory. Memory limits the size of a heap: each array is dropped or overwritten as soon as
//! possible.
//!
//! Bytes for each object, with r references of it stored, e of them no tree edges: read 4.6 + 4 r;
//! search 17.6 + 4 r + 8 e, the most; semi-dominators 20.9 + 4 r; results 20.6 + 4 r. That is 27
//! for objects in sequence (r = 1.46) and 34 at random (r = 2); measured are 30 and 38. At random,
//! nearly all the time is waiting for memory, so references, numbers and steps of paths are
//! prefetched; two waits for each object of a path remain.

use prefetch_index::prefetch_index;

use crate::error::GraphError;
use crate::graph_view::GraphView;
use crate::merged::Merged;
use crate::non_tree::{Ascending, NonTree};
use crate::numbers::Numbers;
use crate::sums::Sums;
use crate::tree_shape::TreeShape;

/// The virtual root, which refers to every root of the heap.
pub(crate) const ROOT: u32 = 0;

/// Prefetch distance, in references or objects.
const AHEAD: usize = 16;

/// Steps of a path that are prefetched.
const STEPS_AHEAD: usize = 4;

/// References of a large object that are followed at a time, before their targets are searched.
const BATCH_EDGES: u64 = 64;

/// Marks a root that the search has not reached. The virtual root dominates it, even if other
/// objects refer to it.
const UNSEEN_ROOT: u32 = u32::MAX;

/// Marks, in place of an object in [`Search::steps`], the remaining references of a large object.
const REST: u32 = u32::MAX;

/// The references of a large object that the search has not followed yet.
#[derive(Clone, Copy)]
struct Rest {
    at: u64,
    end: u64,
}

/// A depth-first search from the roots.
struct Search<'a> {
    graph: &'a GraphView<'a>,
    /// Objects that count as one.
    merged: Option<&'a Merged>,
    /// Preorder number of each object; 0 if it is unreachable.
    numbers: &'a mut [u32],
    /// The object with each preorder number.
    order: &'a mut [u32],
    /// Preorder number of each number's parent in the search tree.
    parents: &'a mut [u32],
    /// The next number.
    next: u32,
    others: NonTree,
    /// References to follow: the object or [`REST`], and the number of the referring object.
    steps: Vec<(u32, u32)>,
    rests: Vec<Rest>,
}

impl Search<'_> {
    fn run(&mut self) {
        let graph = self.graph;
        for root in graph.roots() {
            if let Some(number) = self.numbers.get_mut(root as usize) {
                *number = UNSEEN_ROOT;
            }
        }
        for root in graph.roots() {
            self.reach(root, ROOT);
            while let Some((object, from)) = self.steps.pop() {
                match object {
                    REST => {
                        if let Some(rest) = self.rests.pop() {
                            self.follow(from, rest.at, rest.end);
                        }
                    }
                    object => self.reach(object, from),
                }
            }
        }
    }

    /// Reaches an object along a reference.
    #[inline]
    fn reach(&mut self, object: u32, from: u32) {
        let Some(number) = self.numbers.get_mut(object as usize) else {
            return;
        };
        if *number != 0 && *number != UNSEEN_ROOT {
            self.others.push(*number, from);
            return;
        }
        let own = self.next;
        *number = own;
        self.next += 1;
        let mut all: &[u32] = &[];
        if let Some(merged) = self.merged {
            all = merged.with(object);
        }
        if let (Some(place), Some(parent)) = (
            self.order.get_mut(own as usize),
            self.parents.get_mut(own as usize),
        ) {
            (*place, *parent) = (all.first().copied().unwrap_or(object), from);
        }
        if all.is_empty() {
            return self.follow_all(object, own);
        }
        for one in all {
            if let Some(number) = self.numbers.get_mut(*one as usize) {
                *number = own;
            }
        }
        all.iter().for_each(|one| self.follow_all(*one, own));
    }

    /// Follows the references of an object that has just got this number.
    #[inline]
    fn follow_all(&mut self, object: u32, own: u32) {
        let (class, referent) = self.graph.implied(object);
        if let Some(class) = class {
            self.meet_class(class, own);
        }
        if let Some(referent) = referent {
            self.meet(referent, own);
        }
        let (at, end) = self.graph.edges.range(object);
        self.follow(own, at, end);
    }

    /// Follows some references of an object, few enough that their targets are still in the cache
    /// when they are searched.
    #[inline]
    fn follow(&mut self, from: u32, at: u64, end: u64) {
        let stop = end.min(at + BATCH_EDGES);
        if stop < end {
            self.steps.push((REST, from));
            self.rests.push(Rest { at: stop, end });
        }
        let graph = self.graph;
        let targets = graph.edges.slice(at, stop);
        for target in targets {
            prefetch_index(&*self.numbers, *target as usize);
            graph.edges.prefetch(*target);
            graph.kinds.prefetch(*target);
        }
        for target in targets {
            self.meet(*target, from);
        }
    }

    /// Reaches an object's class, unless it is a root.
    #[inline]
    fn meet_class(&mut self, class: u32, from: u32) {
        match self.numbers.get(class as usize).copied() {
            Some(0) => self.steps.push((class, from)),
            Some(number) => self.others.push_class(number, from),
            None => {}
        }
    }

    #[inline]
    fn meet(&mut self, object: u32, from: u32) {
        match self.numbers.get(object as usize).copied() {
            Some(0) => self.steps.push((object, from)),
            Some(UNSEEN_ROOT) | None => {}
            // The virtual root is a root's only relevant predecessor.
            Some(_) if self.graph.roots.is_root(object) => {}
            Some(number) => self.others.push(number, from),
        }
    }
}

/// The dominator tree of the reachable objects, by preorder numbers.
pub(crate) struct Tree {
    /// The object with each number; the virtual root has none.
    order: Numbers<u32>,
    /// Number of each number's immediate dominator.
    dominators: Numbers<u32>,
}

/// The dominator tree by objects.
#[derive(Debug)]
pub(crate) struct ByObject {
    /// The immediate dominator of each object, or [`ROOTS`] or [`UNREACHABLE`].
    pub(crate) dominators: Numbers<u32>,
    /// The sum of the sizes of each object and all that it dominates; last, that of the virtual
    /// root.
    pub(crate) sums: Sums,
    /// Number of reachable objects.
    pub(crate) reachable: u32,
}

/// Stored in place of a dominator if no object dominates this one.
pub(crate) const ROOTS: u32 = u32::MAX - 1;

/// Stored in place of a dominator if the object is unreachable.
pub(crate) const UNREACHABLE: u32 = u32::MAX;

impl Tree {
    /// The tree of this graph, in which the first object of each set of `merged` stands for all of
    /// the set. Errors: there is no memory.
    pub(crate) fn of(graph: &GraphView<'_>, merged: Option<&Merged>) -> Result<Self, GraphError> {
        // One more, for the virtual root.
        let most = graph.objects() as usize + 1;
        let mut order = Numbers::zeroed(most)?;
        let mut numbers = Numbers::zeroed(most - 1)?;
        // The parents take the lower half, until each is widened to a step.
        let mut steps: Numbers<[u32; 2]> = Numbers::zeroed(most)?;
        let mut search = Search {
            graph,
            merged,
            numbers: numbers.all_mut(),
            order: order.all_mut(),
            parents: bytemuck::cast_slice_mut(steps.all_mut()),
            next: 1,
            others: NonTree::new(most),
            steps: Vec::new(),
            rests: Vec::new(),
        };
        search.run();
        let Search { next, others, .. } = search;
        drop(numbers);
        let count = next as usize;
        order.truncate(count);
        let parents: &[u32] = bytemuck::cast_slice(steps.all());
        let shape = TreeShape::new(parents.get(..count).unwrap_or_default())?;
        widen(&mut steps, count);
        let mut semi = semi_dominators(steps, others, count)?;
        nearest_common_ancestors(semi.all_mut(), shape.parents());
        Ok(Self {
            order,
            dominators: semi,
        })
    }

    /// The tree by object; `units` returns an object's own size. Errors: there is no memory.
    pub(crate) fn by_object(
        self,
        objects: u32,
        units: impl Fn(u32) -> u32,
    ) -> Result<ByObject, GraphError> {
        let order = self.order.all();
        let mut dominators = Numbers::zeroed(objects as usize)?;
        dominators.all_mut().fill(UNREACHABLE);
        let mut sums = Sums::zeroed(objects as usize + 1)?;
        let mut adder = sums.adder();
        let all = order.iter().zip(self.dominators.all()).enumerate();
        for (number, (object, dominator)) in all.skip(1).rev() {
            if let Some(ahead) = number.checked_sub(AHEAD).and_then(|at| order.get(at)) {
                prefetch_index(dominators.all(), *ahead as usize);
                adder.prefetch(*ahead);
            }
            let own = adder.add(*object as usize, u64::from(units(*object)));
            let dominator = match (*dominator, order.get(*dominator as usize)) {
                (ROOT, _) | (_, None) => ROOTS,
                (_, Some(above)) => *above,
            };
            adder.add(dominator.min(objects) as usize, own);
            if let Some(slot) = dominators.all_mut().get_mut(*object as usize) {
                *slot = dominator;
            }
        }
        Ok(ByObject {
            dominators,
            sums,
            reachable: u32::try_from(order.len() - 1).unwrap_or(u32::MAX),
        })
    }
}

/// Turns the parents of the first numbers, which take the lower half of the memory, into steps of
/// the [`Forest`].
fn widen(steps: &mut Numbers<[u32; 2]>, count: usize) {
    let halves: &mut [u32] = bytemuck::cast_slice_mut(steps.all_mut());
    for number in (0..count).rev() {
        let parent = halves.get(number).copied().unwrap_or(ROOT);
        let step = halves
            .get_mut(2 * number..)
            .and_then(|rest| rest.first_chunk_mut());
        if let Some(step) = step {
            *step = [parent, ROOT];
        }
    }
    steps.truncate(count);
}

/// The semi-dominator of each number: the least number from which a path leads to it through higher
/// numbers only.
fn semi_dominators(
    mut steps: Numbers<[u32; 2]>,
    mut others: NonTree,
    count: usize,
) -> Result<Numbers<u32>, GraphError> {
    let mut semi = Numbers::zeroed(count)?;
    let mut forest = Forest {
        steps: steps.all_mut(),
        path: Vec::new(),
    };
    let mut behind = u32::try_from(count).unwrap_or(u32::MAX);
    while let Some(bucket) = others.pop()? {
        for number in (bucket.first.max(1)..behind).rev() {
            let step = forest.steps.get(number as usize);
            let mut least = step.map_or(ROOT, |step| step[0]);
            for at in bucket.range(number).rev() {
                forest.prefetch(bucket.sources(), at);
                let source = bucket.sources().get(at).copied().unwrap_or(ROOT);
                least = least.min(forest.least_above(source, number));
            }
            let objects = others.take_class(number);
            for source in objects.iter().flat_map(Ascending::iter) {
                least = least.min(forest.least_above(source, number));
            }
            if let (Some(slot), Some([_, label])) = (
                semi.all_mut().get_mut(number as usize),
                forest.steps.get_mut(number as usize),
            ) {
                (*slot, *label) = (least, least);
            }
        }
        behind = behind.min(bucket.first);
    }
    Ok(semi)
}

/// The processed part of the search tree. Paths are compressed as they are walked.
struct Forest<'a> {
    /// For each number: its parent or a more distant ancestor, and the least semi-dominator from
    /// the number up to that ancestor, excluding it. They are paired because a query reads both.
    steps: &'a mut [[u32; 2]],
    path: Vec<u32>,
}

impl Forest<'_> {
    /// Prefetches the forest entries that the next queries read: the first step from a source far
    /// ahead, the next from a nearer one, and so on. Without it, nearly all the time is spent
    /// waiting for memory.
    #[inline]
    fn prefetch(&self, sources: &[u32], place: usize) {
        for steps in 0..STEPS_AHEAD {
            let ahead = place.checked_sub(AHEAD * (STEPS_AHEAD - steps));
            let Some(source) = ahead.and_then(|at| sources.get(at)) else {
                continue;
            };
            let mut at = *source;
            for _ in 0..steps {
                at = self.steps.get(at as usize).map_or(ROOT, |step| step[0]);
            }
            prefetch_index(&*self.steps, at as usize);
        }
    }

    /// The least semi-dominator on the path from `from` up to the last number above `limit`; `from`
    /// itself if it is not above.
    #[inline]
    fn least_above(&mut self, from: u32, limit: u32) -> u32 {
        if from <= limit {
            return from;
        }
        let mut at = from;
        let [top, mut least] = loop {
            let step = self.steps.get(at as usize).copied().unwrap_or_default();
            if step[0] <= limit {
                break step;
            }
            self.path.push(at);
            at = step[0];
        };
        while let Some(below) = self.path.pop() {
            if let Some([ancestor, label]) = self.steps.get_mut(below as usize) {
                least = least.min(*label);
                (*label, *ancestor) = (least, top);
            }
        }
        least
    }
}

/// Turns semi-dominators into immediate dominators: the nearest ancestor that is not above the
/// semi-dominator. `parents` are those of the numbers from 1.
fn nearest_common_ancestors(semi: &mut [u32], parents: impl Iterator<Item = u32>) {
    for (number, parent) in (1..).zip(parents) {
        let bound = semi.get(number).copied().unwrap_or(ROOT);
        let mut at = parent;
        while at > bound {
            // Lower numbers have been processed, so this entry is already a dominator.
            at = semi.get(at as usize).copied().unwrap_or(ROOT);
        }
        if let Some(slot) = semi.get_mut(number) {
            *slot = at;
        }
    }
}
