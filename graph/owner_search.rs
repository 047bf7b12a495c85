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
/// a thread.
#[derive(Debug)]
pub(crate) struct OwnerSearch {
    parents: Vec<u32>,
    missing: FxHashSet<u32>,
}

impl OwnerSearch {
    /// Searches until all `targets` are found, or all objects are visited. Weak references do not
    /// count.
    pub(crate) fn until(heap: &Heap<'_>, targets: &[u32]) -> Self {
        let graph = heap.graph(References::Strong);
        let mut search = Self {
            parents: vec![NONE; heap.objects() as usize],
            missing: targets.iter().copied().collect(),
        };
        let of_threads = |is_thread: bool| {
            let roots = heap.roots().iter();
            roots
                .filter(move |root| (root.kind == RootKind::ThreadObject) == is_thread)
                .map(|root| root.object)
        };
        let threads: FxHashSet<u32> = of_threads(true).collect();
        search.walk(&graph, of_threads(false), &threads);
        search.walk(&graph, of_threads(true), &FxHashSet::default());
        search
    }

    /// Visits what these roots lead to, without passing through `closed`.
    fn walk(
        &mut self,
        graph: &GraphView<'_>,
        roots: impl Iterator<Item = u32>,
        closed: &FxHashSet<u32>,
    ) {
        let (mut wave, mut last): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for root in roots {
            self.reach(root, TOP, &mut wave);
        }
        while !wave.is_empty() && !self.missing.is_empty() {
            swap(&mut wave, &mut last);
            wave.clear();
            for object in &last {
                let (class, referent) = graph.implied(*object);
                let stored = graph.edges.of(*object).iter().copied();
                for target in stored.chain(class).chain(referent) {
                    if closed.is_empty() || !closed.contains(&target) {
                        self.reach(target, *object, &mut wave);
                    }
                }
            }
        }
    }

    #[inline]
    fn reach(&mut self, object: u32, from: u32, wave: &mut Vec<u32>) {
        if let Some(parent @ &mut NONE) = self.parents.get_mut(object as usize) {
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
