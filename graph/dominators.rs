//! The dominator tree by SEMI-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005), and
//! the retained sizes that follow from it.
//!
//! An object dominates another one if every path from the roots to the second leads through the first. Everything that
//! an object dominates would be freed with it: this is its retained size. A virtual root refers to every root of the
//! heap. The steps:
//!
//! 1. [`Search`] walks depth first from the virtual root. It numbers objects in preorder (0 is the virtual root), notes
//!    each number's parent in the search tree, and collects all references that are not tree edges.
//! 2. [`Predecessors`] sorts these references by their target.
//! 3. [`semi_dominators`] goes through the numbers in descending order, and finds for each the least number from which
//!    a path leads to it through higher numbers only. [`Forest`] answers the queries, with path compression.
//! 4. [`nearest_common_ancestors`] goes through the numbers in ascending order: the immediate dominator is the nearest
//!    ancestor whose number is not above the semi-dominator's.
//! 5. [`Tree::retained`] adds, in descending order, each number's sum to its dominator's.
//!
//! All steps after the first use only preorder numbers, so that neighbours in the tree are neighbours in memory.

use crate::error::GraphError;
use crate::graph_view::GraphView;
use crate::numbers::Numbers;
use crate::sums::Sums;

/// The virtual root, which refers to every root of the heap.
pub(crate) const ROOT: u32 = 0;

/// References of a large object that are followed before their targets are searched.
const BATCH_EDGES: u64 = 64;

/// Marks a root that the search has not reached. The virtual root dominates it, whatever else refers to it.
const UNSEEN_ROOT: u32 = u32::MAX;

/// Stands for an object in [`Search::steps`]: the rest of a large object's references.
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
    /// Preorder number of each object; 0 if it is unreachable.
    numbers: &'a mut [u32],
    /// The object with each preorder number.
    order: &'a mut [u32],
    /// Preorder number of each number's parent in the search tree.
    parents: &'a mut [u32],
    /// The next number.
    next: u32,
    /// References that are not tree edges, as (to, from).
    others: Vec<(u32, u32)>,
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
            self.others.push((*number, from));
            return;
        }
        let own = self.next;
        *number = own;
        self.next += 1;
        if let (Some(place), Some(parent)) = (
            self.order.get_mut(own as usize),
            self.parents.get_mut(own as usize),
        ) {
            (*place, *parent) = (object, from);
        }
        let (class, referent) = self.graph.implied(object);
        for implied in class.into_iter().chain(referent) {
            self.meet(implied, own);
        }
        let (at, end) = self.graph.edges.range(object);
        self.follow(own, at, end);
    }

    /// Follows references of an object, at most so many that their targets are still in the cache when they are
    /// searched.
    #[inline]
    fn follow(&mut self, from: u32, at: u64, end: u64) {
        let stop = end.min(at + BATCH_EDGES);
        if stop < end {
            self.steps.push((REST, from));
            self.rests.push(Rest { at: stop, end });
        }
        let graph = self.graph;
        for target in graph.edges.slice(at, stop) {
            self.meet(*target, from);
        }
    }

    #[inline]
    fn meet(&mut self, object: u32, from: u32) {
        match self.numbers.get(object as usize).copied() {
            Some(0) => self.steps.push((object, from)),
            Some(UNSEEN_ROOT) | None => {}
            // The virtual root is a root's only relevant predecessor.
            Some(_) if self.graph.roots.is_root(object) => {}
            Some(number) => self.others.push((number, from)),
        }
    }
}

/// The dominator tree of the reachable objects, by preorder numbers.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The object with each number; the virtual root has none.
    pub(crate) order: Numbers<u32>,
    /// Number of each number's immediate dominator.
    pub(crate) dominators: Numbers<u32>,
}

impl Tree {
    /// The tree of this graph.
    ///
    /// Errors: there is no memory, or 2^32 references or more are not tree edges.
    pub(crate) fn of(graph: &GraphView<'_>) -> Result<Self, GraphError> {
        // One more, for the virtual root.
        let most = graph.objects() as usize + 1;
        let mut order = Numbers::zeroed(most)?;
        let mut parents = Numbers::zeroed(most)?;
        let mut numbers = Numbers::zeroed(most - 1)?;
        let mut search = Search {
            graph,
            numbers: numbers.all_mut(),
            order: order.all_mut(),
            parents: parents.all_mut(),
            next: 1,
            others: Vec::new(),
            steps: Vec::new(),
            rests: Vec::new(),
        };
        search.run();
        let (count, others) = (search.next as usize, std::mem::take(&mut search.others));
        drop(search);
        drop(numbers);
        order.truncate(count);
        parents.truncate(count);
        if u32::try_from(others.len()).is_err() {
            return Err(GraphError::TooManyReferences);
        }
        let predecessors = Predecessors::new(others, count)?;
        let semi = semi_dominators(parents.all(), predecessors)?;
        nearest_common_ancestors(parents.all_mut(), semi.all());
        Ok(Self {
            order,
            dominators: parents,
        })
    }

    /// Number of objects in it, including the virtual root.
    pub(crate) fn len(&self) -> usize {
        self.order.all().len()
    }

    /// The retained size of each number; `units` returns an object's own size. Errors: there is no memory.
    pub(crate) fn retained(&self, units: impl Fn(u32) -> u32) -> Result<Sums, GraphError> {
        let (order, dominators) = (self.order.all(), self.dominators.all());
        let mut sums = Sums::zeroed(order.len())?;
        let mut adder = sums.adder();
        let all = order.iter().zip(dominators).enumerate();
        for (number, (object, dominator)) in all.skip(1).rev() {
            let own = adder.add(number, u64::from(units(*object)));
            adder.add(*dominator as usize, own);
        }
        Ok(sums)
    }
}

/// The references that are not tree edges, by target number.
struct Predecessors {
    starts: Numbers<u32>,
    sources: Numbers<u32>,
}

impl Predecessors {
    fn new(others: Vec<(u32, u32)>, numbers: usize) -> Result<Self, GraphError> {
        // A counting sort.
        let mut start_numbers = Numbers::zeroed(numbers + 1)?;
        let mut source_numbers = Numbers::zeroed(others.len())?;
        let (starts, sources) = (start_numbers.all_mut(), source_numbers.all_mut());
        for (to, _) in &others {
            if let Some(count) = starts.get_mut(*to as usize) {
                *count += 1;
            }
        }
        let mut sum = 0_u32;
        for start in starts.iter_mut() {
            sum = sum.wrapping_add(*start);
            *start = sum;
        }
        for (to, from) in others {
            if let Some(place) = starts.get_mut(to as usize) {
                *place = place.wrapping_sub(1);
                if let Some(slot) = sources.get_mut(*place as usize) {
                    *slot = from;
                }
            }
        }
        Ok(Self {
            starts: start_numbers,
            sources: source_numbers,
        })
    }
}

/// The semi-dominator of each number: the least number from which a path leads to it through higher numbers only.
///
/// It goes through the numbers in descending order. A number's start in the list of predecessors is not needed again once its
/// semi-dominator is known, which takes its place.
fn semi_dominators(
    parents: &[u32],
    predecessors: Predecessors,
) -> Result<Numbers<u32>, GraphError> {
    let Predecessors {
        mut starts,
        sources,
    } = predecessors;
    let count = parents.len();
    let mut steps = Numbers::zeroed(count)?;
    for (step, parent) in steps.all_mut().iter_mut().zip(parents) {
        *step = [*parent, ROOT];
    }
    let mut forest = Forest {
        steps: steps.all_mut(),
        path: Vec::new(),
    };
    let sources = sources.all();
    let semi = starts.all_mut();
    let mut end = semi.get(count).copied().unwrap_or(0);
    for number in (1..count).rev() {
        let start = semi.get(number).copied().unwrap_or(0);
        let own = sources.get(start as usize..end as usize);
        end = start;
        let mut least = parents.get(number).copied().unwrap_or(ROOT);
        for source in own.unwrap_or_default() {
            let found = if *source as usize <= number {
                *source
            } else {
                forest.least_above(*source, number)
            };
            least = least.min(found);
        }
        if let (Some(slot), Some([_, label])) = (semi.get_mut(number), forest.steps.get_mut(number))
        {
            (*slot, *label) = (least, least);
        }
    }
    starts.truncate(count);
    Ok(starts)
}

/// The processed part of the search tree. Paths are compressed as they are walked.
struct Forest<'a> {
    /// For each number: its parent or a more distant ancestor, and the least semi-dominator from the number up to that
    /// ancestor, excluding it. They are paired because a query reads both.
    steps: &'a mut [[u32; 2]],
    path: Vec<u32>,
}

impl Forest<'_> {
    /// The least semi-dominator on the path from `from` up to the last number above `limit`.
    #[inline]
    fn least_above(&mut self, from: u32, limit: usize) -> u32 {
        let mut at = from;
        let [top, mut least] = loop {
            let step = self.steps.get(at as usize).copied().unwrap_or_default();
            if step[0] as usize <= limit {
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

/// Turns parents into immediate dominators: the nearest ancestor that is not above the semi-dominator.
fn nearest_common_ancestors(parents: &mut [u32], semi: &[u32]) {
    for number in 1..parents.len() {
        let bound = semi.get(number).copied().unwrap_or(ROOT);
        let mut at = parents.get(number).copied().unwrap_or(ROOT);
        while at > bound {
            at = parents.get(at as usize).copied().unwrap_or(ROOT);
        }
        if let Some(slot) = parents.get_mut(number) {
            *slot = at;
        }
    }
}
