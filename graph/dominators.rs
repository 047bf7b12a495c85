//! The dominator tree by SEMI-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005), and
//! the retained sizes that follow from it.
//!
//! An object dominates another one if every path from the roots to it leads through the first. What an object dominates
//! would go with it: its retained size. All steps after the search work on the numbers that the search gives (*pre-order*
//! numbers, 0 for the root of all), so that neighbours in the tree are neighbours in memory.

use crate::error::GraphError;
use crate::graph_view::GraphView;

/// The root of all, which refers to every root of the heap.
pub(crate) const ROOT: u32 = 0;

/// Elements of a large object that are looked at before what they lead to.
const BATCH_EDGES: u64 = 64;

/// A reference that the search still has to follow, or the rest of a large object's.
#[derive(Clone, Copy)]
enum Step {
    To { object: u32, from: u32 },
    Rest { from: u32, at: u64, end: u64 },
}

/// A depth-first search from the roots.
struct Search<'g> {
    graph: &'g GraphView<'g>,
    /// Pre-order number of each object; 0 for what is not reached.
    numbers: Vec<u32>,
    /// The object with each pre-order number.
    order: Vec<u32>,
    /// Pre-order number of each one's parent in the search.
    parents: Vec<u32>,
    /// References that are not of the search's tree: to, from.
    others: Vec<(u32, u32)>,
    steps: Vec<Step>,
}

impl<'g> Search<'g> {
    fn run(graph: &'g GraphView<'g>) -> Self {
        let objects = graph.objects() as usize;
        let mut search = Self {
            graph,
            numbers: vec![0; objects],
            order: vec![u32::MAX],
            parents: vec![ROOT],
            others: Vec::new(),
            steps: Vec::new(),
        };
        search.order.reserve_exact(objects);
        search.parents.reserve_exact(objects);
        for root in graph.roots() {
            search.reach(root, ROOT);
            while let Some(step) = search.steps.pop() {
                match step {
                    Step::To { object, from } => search.reach(object, from),
                    Step::Rest { from, at, end } => search.follow(from, at, end),
                }
            }
        }
        search
    }

    #[inline]
    fn number(&self, object: u32) -> u32 {
        self.numbers.get(object as usize).copied().unwrap_or(0)
    }

    /// Comes to an object along a reference.
    #[inline]
    fn reach(&mut self, object: u32, from: u32) {
        let number = self.number(object);
        if number != 0 {
            self.others.push((number, from));
            return;
        }
        // As many numbers as objects: they fit.
        let own = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        if let Some(slot) = self.numbers.get_mut(object as usize) {
            *slot = own;
        }
        self.order.push(object);
        self.parents.push(from);
        let (class, referent) = self.graph.implied(object);
        for implied in class.into_iter().chain(referent) {
            self.meet(implied, own);
        }
        let (at, end) = self.graph.edges.range(object);
        self.follow(own, at, end);
    }

    /// Looks at references of an object: up to so many that their targets are in the cache when it is their turn.
    #[inline]
    fn follow(&mut self, from: u32, at: u64, end: u64) {
        let stop = end.min(at + BATCH_EDGES);
        if stop < end {
            self.steps.push(Step::Rest {
                from,
                at: stop,
                end,
            });
        }
        let graph = self.graph;
        for target in graph.edges.slice(at, stop) {
            self.meet(*target, from);
        }
    }

    #[inline]
    fn meet(&mut self, object: u32, from: u32) {
        if self.graph.roots.is_root(object) {
            // The root of all dominates it, whoever else refers to it.
            return;
        }
        match self.number(object) {
            0 => self.steps.push(Step::To { object, from }),
            number => self.others.push((number, from)),
        }
    }
}

/// The dominator tree of the reachable objects, and their retained sizes, by pre-order numbers.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The object with each number; the root of all has none.
    pub(crate) order: Vec<u32>,
    /// Number of each one's immediate dominator.
    pub(crate) dominators: Vec<u32>,
}

impl Tree {
    /// The tree of this graph.
    ///
    /// Errors: there are 2^32 references or more beside those of the search's tree.
    pub(crate) fn of(graph: &GraphView<'_>) -> Result<Self, GraphError> {
        let Search {
            order,
            mut parents,
            others,
            numbers,
            steps,
            ..
        } = Search::run(graph);
        drop((numbers, steps));
        if u32::try_from(others.len()).is_err() {
            return Err(GraphError::TooManyReferences);
        }
        let predecessors = Predecessors::new(others, order.len());
        let semi = semi_dominators(&parents, &predecessors);
        drop(predecessors);
        nearest_common_ancestors(&mut parents, &semi);
        Ok(Self {
            order,
            dominators: parents,
        })
    }

    /// Sums up what each one dominates; `sizes` gives an object's own.
    pub(crate) fn retained(&self, size: impl Fn(u32) -> u64) -> Vec<u64> {
        let mut retained: Vec<u64> = Vec::with_capacity(self.order.len());
        retained.push(0);
        retained.extend(self.order.iter().skip(1).map(|object| size(*object)));
        for number in (1..self.order.len()).rev() {
            let own = retained.get(number).copied().unwrap_or(0);
            let dominator = self.dominators.get(number).copied().unwrap_or(ROOT);
            if let Some(sum) = retained.get_mut(dominator as usize) {
                *sum = sum.saturating_add(own);
            }
        }
        retained
    }
}

/// The references that are not of the search's tree, by the number that they lead to.
struct Predecessors {
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl Predecessors {
    fn new(others: Vec<(u32, u32)>, numbers: usize) -> Self {
        // A counting sort.
        let mut starts = vec![0_u32; numbers + 1];
        for (to, _) in &others {
            if let Some(count) = starts.get_mut(*to as usize) {
                *count += 1;
            }
        }
        let mut sum = 0_u32;
        for start in &mut starts {
            sum = sum.wrapping_add(*start);
            *start = sum;
        }
        let mut sources = vec![0; others.len()];
        for (to, from) in others {
            if let Some(place) = starts.get_mut(to as usize) {
                *place = place.wrapping_sub(1);
                if let Some(slot) = sources.get_mut(*place as usize) {
                    *slot = from;
                }
            }
        }
        Self { starts, sources }
    }

    #[inline]
    fn of(&self, number: usize) -> &[u32] {
        let start = self.starts.get(number).copied().unwrap_or(0) as usize;
        let end = self.starts.get(number + 1).copied().unwrap_or(0) as usize;
        self.sources.get(start..end).unwrap_or_default()
    }
}

/// The semi-dominator of each number: the first from which a path leads to it through later ones alone.
fn semi_dominators(parents: &[u32], predecessors: &Predecessors) -> Vec<u32> {
    let count = parents.len();
    let mut semi: Vec<u32> = vec![0; count];
    let mut forest = Forest {
        ancestors: parents.to_vec(),
        labels: vec![0; count],
        path: Vec::new(),
    };
    for number in (1..count).rev() {
        let mut least = parents.get(number).copied().unwrap_or(ROOT);
        for source in predecessors.of(number) {
            let found = if *source as usize <= number {
                *source
            } else {
                forest.least_above(*source, number)
            };
            least = least.min(found);
        }
        if let Some(slot) = semi.get_mut(number) {
            *slot = least;
        }
        if let Some(label) = forest.labels.get_mut(number) {
            *label = least;
        }
    }
    semi
}

/// The part of the search's tree that has been worked on, with paths made short as they are walked.
struct Forest {
    /// Parent of each number, or an ancestor further up.
    ancestors: Vec<u32>,
    /// The least semi-dominator from each number up to, not with, its ancestor.
    labels: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The least semi-dominator on the way up from `from` to the last number above `limit`.
    #[inline]
    fn least_above(&mut self, from: u32, limit: usize) -> u32 {
        let mut at = from;
        loop {
            let above = self.ancestors.get(at as usize).copied().unwrap_or(ROOT);
            if above as usize <= limit {
                break;
            }
            self.path.push(at);
            at = above;
        }
        let mut least = self.labels.get(at as usize).copied().unwrap_or(ROOT);
        let top = self.ancestors.get(at as usize).copied().unwrap_or(ROOT);
        while let Some(below) = self.path.pop() {
            let place = below as usize;
            if let (Some(label), Some(ancestor)) =
                (self.labels.get_mut(place), self.ancestors.get_mut(place))
            {
                least = least.min(*label);
                (*label, *ancestor) = (least, top);
            }
        }
        least
    }
}

/// Makes immediate dominators of parents: the nearest ancestor that is not behind the semi-dominator.
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
