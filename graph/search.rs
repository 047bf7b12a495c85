//! The search from all roots that finds how objects are kept alive.
//!
//! A path through something lasting says more than a shorter one through a method that happens to
//! run. The search thus has four phases: first from all roots but threads, then from the fields of
//! threads, then from what only the threads' frames hold, and last through cleaners, which hold
//! what others made. In each phase it is breadth-first.

use std::mem::{swap, take};

use rustc_hash::FxHashSet;

use crate::class_facts::{References, NONE};
use crate::graph_view::GraphView;
use crate::heap::Heap;
use crate::roots::HeapRoot;

/// The parent of a root in a search.
const TOP: u32 = NONE - 1;

/// The search, stopped when it has found its targets.
#[derive(Debug)]
pub(crate) struct Search {
    parents: Vec<u32>,
}

/// The classes of cleaners and of their actions, which are lists: each leads to all others.
const CLEANERS: [&str; 5] = [
    "java/lang/ref/Cleaner",
    "jdk/internal/ref/Cleaner",
    "jdk/internal/ref/CleanerImpl",
    "jdk/internal/ref/PhantomCleanable",
    "sun/misc/Cleaner",
];

/// A search under way.
struct Walk<'h> {
    graph: GraphView<'h>,
    parents: Vec<u32>,
    /// Number of targets not found yet.
    missing: usize,
    /// Objects found and not yet walked through.
    wave: Vec<u32>,
    /// References to objects that may not be entered yet: from, to.
    pending: Vec<(u32, u32)>,
}

impl Search {
    /// Searches until all `targets` are found, or all objects are visited.
    pub(crate) fn until(heap: &Heap<'_>, targets: &[u32], rule: References) -> Self {
        let mut walk = Walk {
            graph: heap.graph(rule),
            parents: vec![NONE; heap.objects() as usize],
            missing: 0,
            wave: Vec::new(),
            pending: Vec::new(),
        };
        walk.want(targets);
        let threads: FxHashSet<u32> = heap.threads().map(|(_, thread)| thread).collect();
        let is_passing = |root: &&HeapRoot| root.kind.is_passing();
        let (passing, lasting): (Vec<&HeapRoot>, Vec<&HeapRoot>) =
            heap.roots().iter().partition(is_passing);
        let cleaners = cleaners(heap);
        walk.block(&cleaners, BLOCKED);
        // What a live thread holds is described by the thread, not by what refers to the thread.
        walk.block(&threads, RUNS);
        walk.enter(lasting.iter().map(|root| root.object));
        walk.go();
        walk.admit(&threads, targets);
        let mut roots: Vec<u32> = threads.iter().copied().collect();
        roots.sort_unstable();
        walk.enter(roots.iter().copied());
        walk.through_fields(heap);
        walk.go();
        // The frames of a cleaner's own thread hold all that it cleans.
        let cleans = |thread: &u32| {
            let mut locals = heap.locals(*thread).iter();
            locals.any(|local| cleaners.contains(&local.object))
        };
        let (cleaning, running): (Vec<u32>, Vec<u32>) = roots.iter().partition(|it| cleans(it));
        walk.enter(passing.iter().map(|root| root.object));
        walk.through_frames(heap, &running);
        walk.go();
        walk.admit(&cleaners, targets);
        for (from, to) in take(&mut walk.pending) {
            walk.reach(to, from);
        }
        walk.go();
        walk.through_frames(heap, &cleaning);
        walk.go();
        Self {
            parents: walk.parents,
        }
    }

    /// An object and its predecessors up to the root; empty if it was not found.
    pub(crate) fn climb(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = object;
        std::iter::from_fn(move || {
            let at = next;
            let above = self.parents.get(at as usize).copied();
            next = above.filter(|above| ![NONE, WANTED, BLOCKED, RUNS].contains(above))?;
            Some(at)
        })
    }

    /// The objects on the path from a root to `object`; none if it was not found.
    pub(crate) fn to(&self, object: u32) -> Vec<u32> {
        let mut objects: Vec<u32> = self.climb(object).collect();
        objects.reverse();
        objects
    }
}

/// The cleaners of a heap and their actions.
fn cleaners(heap: &Heap<'_>) -> FxHashSet<u32> {
    let extending = CLEANERS.map(|name| heap.extending(name));
    let is_cleaner = |class: &u32| {
        let mut all = extending.iter();
        all.any(|is| is.get(*class as usize).copied().unwrap_or(false))
    };
    let classes: FxHashSet<u32> = (0..heap.classes()).filter(is_cleaner).collect();
    if classes.is_empty() {
        return FxHashSet::default();
    }
    let all = 0..heap.objects();
    all.filter(|object| classes.contains(&heap.class(*object)))
        .collect()
}

/// The parent of an object that may not be entered yet.
const BLOCKED: u32 = NONE - 2;

/// The parent of a thread before its phase.
const RUNS: u32 = NONE - 4;

/// The parent of a target that is not found yet.
const WANTED: u32 = NONE - 3;

/// Objects ahead whose references are fetched into the cache.
const AHEAD: usize = 16;

impl Walk<'_> {
    /// Marks the targets that are not found yet.
    fn want(&mut self, targets: &[u32]) {
        for target in targets {
            if let Some(slot @ &mut NONE) = self.parents.get_mut(*target as usize) {
                *slot = WANTED;
                self.missing += 1;
            }
        }
    }

    fn block(&mut self, objects: &FxHashSet<u32>, mark: u32) {
        for object in objects {
            if let Some(slot) = self.parents.get_mut(*object as usize) {
                if *slot == WANTED {
                    self.missing -= 1;
                }
                *slot = mark;
            }
        }
    }

    fn admit(&mut self, objects: &FxHashSet<u32>, targets: &[u32]) {
        for object in objects {
            if let Some(slot @ &mut (BLOCKED | RUNS)) = self.parents.get_mut(*object as usize) {
                *slot = NONE;
            }
        }
        self.want(targets);
    }

    fn enter(&mut self, roots: impl Iterator<Item = u32>) {
        for root in roots {
            self.reach(root, TOP);
        }
    }

    #[inline]
    fn reach(&mut self, object: u32, from: u32) {
        match self.parents.get_mut(object as usize) {
            Some(parent @ &mut (NONE | WANTED)) => {
                if *parent == WANTED {
                    self.missing -= 1;
                }
                *parent = from;
                self.wave.push(object);
            }
            Some(&mut BLOCKED) => self.pending.push((from, object)),
            _ => {}
        }
    }

    /// Walks through all objects in the wave and all that they lead to.
    fn go(&mut self) {
        let mut last = Vec::new();
        while self.missing > 0 && !self.wave.is_empty() {
            swap(&mut self.wave, &mut last);
            self.wave.clear();
            for (place, object) in last.iter().enumerate() {
                if let Some(ahead) = last.get(place + AHEAD) {
                    self.graph.edges.prefetch(*ahead);
                    self.graph.kinds.prefetch(*ahead);
                }
                self.walk_through(*object, |_| true);
                if self.missing == 0 {
                    // A later phase may go on from here.
                    self.wave
                        .extend_from_slice(last.get(place + 1..).unwrap_or_default());
                    return;
                }
            }
        }
    }

    fn walk_through(&mut self, object: u32, counts: impl Fn(u32) -> bool) {
        let edges = self.graph.edges;
        let (class, referent) = self.graph.implied(object);
        let stored = edges.of(object).iter().copied();
        for target in stored.clone().take(AHEAD) {
            prefetch_index::prefetch_index(&*self.parents, target as usize);
        }
        for target in stored.chain(class).chain(referent) {
            if counts(target) {
                self.reach(target, object);
            }
        }
    }

    /// Walks through the threads in the wave, but not to what their frames hold. An object that a
    /// field holds, too, waits for the next phase; its link is that of the field.
    fn through_fields(&mut self, heap: &Heap<'_>) {
        for thread in take(&mut self.wave) {
            let locals: FxHashSet<u32> = heap.locals(thread).iter().map(|it| it.object).collect();
            self.walk_through(thread, |target| !locals.contains(&target));
        }
    }

    fn through_frames(&mut self, heap: &Heap<'_>, threads: &[u32]) {
        for thread in threads {
            for local in heap.locals(*thread) {
                self.reach(local.object, *thread);
            }
        }
    }
}
