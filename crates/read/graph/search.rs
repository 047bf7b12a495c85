//! The search from all roots that finds how objects are kept alive.
//!
//! A path through something lasting says more than a shorter one through a method that happens to
//! run. The search thus has four phases: first from all roots but threads, then from the fields of
//! threads, then from what only the threads' frames hold, and last through cleaners and shutdown
//! hooks, which hold what others made. In each phase it is breadth-first.

use std::mem::{swap, take};

use rustc_hash::FxHashSet;

use crate::class_facts::{References, NONE};
use crate::graph_view::GraphView;
use crate::heap::Heap;
use crate::roots::HeapRoot;

/// The parent of a root in a search.
const TOP: u32 = NONE - 1;

/// The parent of a cleaner before its phase.
const BLOCKED: u32 = NONE - 2;

/// The parent of a target that is not found yet.
const WANTED: u32 = NONE - 3;

/// The parent of a thread before its phase.
const RUNS: u32 = NONE - 4;

/// Objects that are walked through together, so that they wait for the memory together.
const BATCH: usize = 16;

/// The classes of cleaners and of their actions, which are lists: each leads to all others.
const CLEANERS: [&str; 5] = [
    "java/lang/ref/Cleaner",
    "jdk/internal/ref/Cleaner",
    "jdk/internal/ref/CleanerImpl",
    "jdk/internal/ref/PhantomCleanable",
    "sun/misc/Cleaner",
];

/// The class whose static field has the threads that run at the JVM's end. What they hold is of
/// use to somebody else until then.
const HOOKS: &str = "java/lang/ApplicationShutdownHooks";

/// From where the search walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It has not begun.
    New,
    /// From all roots but threads.
    Lasting,
    /// From the fields of threads, too.
    Fields,
    /// From the frames of threads, too.
    Frames,
    /// Through cleaners, too.
    Cleaners,
    /// From the frames of the threads that clean, too.
    Cleaning,
}

/// The search: it goes on when more objects are wanted.
#[derive(Debug)]
pub(crate) struct Search<'h, 'p> {
    heap: &'h Heap<'p>,
    graph: GraphView<'h>,
    phase: Phase,
    parents: Vec<u32>,
    /// Number of targets not found yet.
    missing: usize,
    /// Objects found, and how many of them were walked through.
    wave: Vec<u32>,
    walked: usize,
    /// The objects found from there.
    next: Vec<u32>,
    /// Targets that may not be entered yet.
    waiting: FxHashSet<u32>,
    /// References to cleaners before their phase: from, to.
    pending: Vec<(u32, u32)>,
    threads: FxHashSet<u32>,
    cleaners: FxHashSet<u32>,
}

impl<'h, 'p> Search<'h, 'p> {
    /// A search that has found nothing yet.
    pub(crate) fn new(heap: &'h Heap<'p>, rule: References) -> Self {
        Self {
            heap,
            graph: heap.graph(rule),
            phase: Phase::New,
            parents: Vec::new(),
            missing: 0,
            wave: Vec::new(),
            walked: 0,
            next: Vec::new(),
            waiting: FxHashSet::default(),
            pending: Vec::new(),
            threads: FxHashSet::default(),
            cleaners: FxHashSet::default(),
        }
    }

    /// One that has found these targets, or visited all objects.
    pub(crate) fn until(heap: &'h Heap<'p>, targets: &[u32], rule: References) -> Self {
        let mut search = Self::new(heap, rule);
        search.find(targets);
        search
    }

    /// Goes on until these targets are found, too, or all objects are visited.
    pub(crate) fn find(&mut self, targets: &[u32]) {
        if targets.is_empty() {
            return;
        }
        if self.phase == Phase::New {
            self.begin();
        }
        self.want(targets);
        self.go();
        while self.missing > 0 {
            self.phase = match self.phase {
                Phase::New | Phase::Lasting => self.enter_fields(),
                Phase::Fields => self.enter_frames(),
                Phase::Frames => self.enter_cleaners(),
                Phase::Cleaners => self.enter_cleaning(),
                // Nothing leads to them.
                Phase::Cleaning => break,
            };
            self.go();
        }
        self.missing = 0;
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

/// The cleaners of a heap and their actions, and the class of the shutdown hooks.
fn cleaners(heap: &Heap<'_>) -> FxHashSet<u32> {
    let extending = CLEANERS.map(|name| heap.extending(name));
    let is_cleaner = |class: u32| {
        let mut all = extending.iter();
        all.any(|is| is.get(class as usize).copied().unwrap_or(false))
    };
    let hooks = (0..).zip(heap.extending(HOOKS));
    let hooks = hooks.filter_map(|(class, is)| is.then(|| heap.object_of_class(class))?);
    heap.objects_of(is_cleaner).chain(hooks).collect()
}

impl Search<'_, '_> {
    fn begin(&mut self) {
        self.parents = vec![NONE; self.heap.objects() as usize];
        self.threads = self.heap.threads().map(|(_, thread)| thread).collect();
        self.cleaners = cleaners(self.heap);
        let blocked = self.cleaners.iter().map(|cleaner| (*cleaner, BLOCKED));
        // What a live thread holds is described by the thread, not by what refers to the thread.
        let runs = self.threads.iter().map(|thread| (*thread, RUNS));
        for (object, mark) in blocked.chain(runs) {
            if let Some(slot) = self.parents.get_mut(object as usize) {
                *slot = mark;
            }
        }
        self.enter_roots(|root| !root.kind.is_passing());
        self.phase = Phase::Lasting;
    }

    fn enter_fields(&mut self) -> Phase {
        self.admit(&self.threads.clone());
        for thread in self.sorted_threads() {
            self.reach(thread, TOP);
        }
        // An object that a frame holds, too, waits for the next phase; its link is that of the
        // field.
        for thread in take(&mut self.next) {
            let locals = self.heap.locals(thread).iter();
            let locals: FxHashSet<u32> = locals.map(|local| local.object).collect();
            let range = self.graph.edges.range(thread);
            self.walk_through(thread, range, |target| !locals.contains(&target));
        }
        Phase::Fields
    }

    fn enter_frames(&mut self) -> Phase {
        self.enter_roots(|root| root.kind.is_passing());
        self.through_frames(false);
        Phase::Frames
    }

    fn enter_cleaners(&mut self) -> Phase {
        self.admit(&self.cleaners.clone());
        for (from, to) in take(&mut self.pending) {
            self.reach(to, from);
        }
        Phase::Cleaners
    }

    fn enter_cleaning(&mut self) -> Phase {
        self.through_frames(true);
        Phase::Cleaning
    }

    fn sorted_threads(&self) -> Vec<u32> {
        let mut threads: Vec<u32> = self.threads.iter().copied().collect();
        threads.sort_unstable();
        threads
    }

    fn enter_roots(&mut self, is: impl Fn(&HeapRoot) -> bool) {
        for root in self.heap.roots().iter().filter(|root| is(root)) {
            self.reach(root.object, TOP);
        }
    }

    /// Marks the targets that are not found yet.
    fn want(&mut self, targets: &[u32]) {
        for target in targets {
            match self.parents.get_mut(*target as usize) {
                Some(slot @ &mut NONE) => {
                    *slot = WANTED;
                    self.missing += 1;
                }
                Some(&mut (BLOCKED | RUNS)) => {
                    self.missing += usize::from(self.waiting.insert(*target));
                }
                _ => {}
            }
        }
    }

    /// Lets objects be entered.
    fn admit(&mut self, objects: &FxHashSet<u32>) {
        for object in objects {
            if let Some(slot @ &mut (BLOCKED | RUNS)) = self.parents.get_mut(*object as usize) {
                *slot = match self.waiting.remove(object) {
                    true => WANTED,
                    false => NONE,
                };
            }
        }
    }

    #[inline]
    fn reach(&mut self, object: u32, from: u32) {
        match self.parents.get_mut(object as usize) {
            Some(parent @ &mut (NONE | WANTED)) => {
                self.missing -= usize::from(*parent == WANTED);
                *parent = from;
                self.next.push(object);
            }
            Some(&mut BLOCKED) => self.pending.push((from, object)),
            _ => {}
        }
    }

    /// Walks through all objects found and all that they lead to, until no target is missing.
    fn go(&mut self) {
        while self.missing > 0 {
            if self.walked == self.wave.len() {
                swap(&mut self.wave, &mut self.next);
                self.next.clear();
                self.walked = 0;
            }
            let rest = self.wave.get(self.walked..).unwrap_or_default();
            if rest.is_empty() {
                return;
            }
            self.walk_batch();
        }
    }

    fn walk_batch(&mut self) {
        let (edges, kinds) = (self.graph.edges, self.graph.kinds);
        let rest = self.wave.get(self.walked..).unwrap_or_default();
        let (now, later) = rest.split_at(rest.len().min(BATCH));
        for object in later.iter().take(BATCH) {
            edges.prefetch(*object);
            kinds.prefetch(*object);
        }
        let mut batch = [(0, (0, 0)); BATCH];
        for (slot, object) in batch.iter_mut().zip(now) {
            *slot = (*object, edges.range(*object));
            edges.prefetch_targets(slot.1 .0);
        }
        let count = now.len();
        for (_, (from, to)) in batch.iter().take(count) {
            for target in edges.slice(*from, *to).iter().take(BATCH) {
                prefetch_index::prefetch_index(&*self.parents, *target as usize);
            }
        }
        for (object, range) in batch.iter().take(count) {
            self.walked += 1;
            self.walk_through(*object, *range, |_| true);
            if self.missing == 0 {
                return;
            }
        }
    }

    #[inline]
    fn walk_through(&mut self, object: u32, (from, to): (u64, u64), counts: impl Fn(u32) -> bool) {
        let (class, referent) = self.graph.implied(object);
        let stored = self.graph.edges.slice(from, to);
        for (place, target) in stored.iter().enumerate() {
            if let Some(ahead) = stored.get(place + BATCH) {
                prefetch_index::prefetch_index(&*self.parents, *ahead as usize);
            }
            if counts(*target) {
                self.reach(*target, object);
            }
        }
        for target in class.into_iter().chain(referent) {
            if counts(target) {
                self.reach(target, object);
            }
        }
    }

    /// Goes on from the frames of threads: those of a cleaner's own thread hold all that it cleans.
    fn through_frames(&mut self, cleans: bool) {
        for thread in self.sorted_threads() {
            let locals = self.heap.locals(thread).iter();
            let is_cleaner = |object: u32| self.cleaners.contains(&object);
            if locals.clone().any(|local| is_cleaner(local.object)) == cleans {
                locals.for_each(|local| self.reach(local.object, thread));
            }
        }
    }
}
