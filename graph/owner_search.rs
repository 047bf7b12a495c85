//! A search for what holds objects for long: static fields and other global roots come before
//! threads, whose local variables hold many objects for a moment only.

use std::mem::swap;

use reader::RootKind;
use rustc_hash::FxHashSet;

use crate::class_facts::{References, NONE};
use crate::graph_view::GraphView;
use crate::heap::Heap;

/// The parent of a root.
const TOP: u32 = NONE - 1;

/// The objects before each object on the shortest path from a root that is no thread, or else from
/// a thread, or else through what is the last way.
#[derive(Debug)]
pub(crate) struct OwnerSearch {
    parents: Vec<u32>,
    missing: FxHashSet<u32>,
    /// The objects that are not passed yet.
    closed: FxHashSet<u32>,
    /// References to them: target and source.
    skipped: Vec<(u32, u32)>,
}

impl OwnerSearch {
    /// Searches until all `targets` are found, or all objects are visited. Paths lead through the
    /// objects of `last_ways` only if there is no other. Weak references do not count.
    pub(crate) fn until(heap: &Heap<'_>, targets: &[u32], last_ways: &[u32]) -> Self {
        let graph = heap.graph(References::Strong);
        let roots = |are_threads: bool| {
            let roots = heap.roots().iter();
            roots
                .filter(move |root| (root.kind == RootKind::ThreadObject) == are_threads)
                .map(|root| (root.object, TOP))
        };
        let threads = roots(true).map(|(thread, _)| thread);
        let mut search = Self {
            parents: vec![NONE; heap.objects() as usize],
            missing: targets.iter().copied().collect(),
            closed: threads.chain(last_ways.iter().copied()).collect(),
            skipped: Vec::new(),
        };
        search.walk(&graph, roots(false));
        for (thread, _) in roots(true) {
            search.closed.remove(&thread);
        }
        search.walk(&graph, roots(true));
        search.closed.clear();
        let skipped = std::mem::take(&mut search.skipped);
        search.walk(&graph, skipped.into_iter());
        search
    }

    /// Visits what these objects lead to; each comes with the object before it.
    fn walk(&mut self, graph: &GraphView<'_>, from: impl Iterator<Item = (u32, u32)>) {
        let (mut wave, mut last): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (object, before) in from {
            self.reach(object, before, &mut wave);
        }
        while !wave.is_empty() && !self.missing.is_empty() {
            swap(&mut wave, &mut last);
            wave.clear();
            for object in &last {
                let (class, referent) = graph.implied(*object);
                let stored = graph.edges.of(*object).iter().copied();
                for target in stored.chain(class).chain(referent) {
                    self.reach(target, *object, &mut wave);
                }
            }
        }
    }

    #[inline]
    fn reach(&mut self, object: u32, from: u32, wave: &mut Vec<u32>) {
        if let Some(parent @ &mut NONE) = self.parents.get_mut(object as usize) {
            if self.closed.contains(&object) {
                self.skipped.push((object, from));
                return;
            }
            *parent = from;
            wave.push(object);
            self.missing.remove(&object);
        }
    }

    /// An object and its predecessors up to the root; empty if it was not found.
    pub(crate) fn climb(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = object;
        std::iter::from_fn(move || {
            let at = next;
            let above = self.parents.get(at as usize).copied();
            next = above.filter(|above| *above != NONE)?;
            Some(at)
        })
    }
}
