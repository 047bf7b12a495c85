//! Calls of one thread by stack: the running methods, and each method's cost in the context of its
//! callers.
//!
//! A context is a method with its callers, up to the configured depth, so recursion creates few
//! contexts and not one per call. Only the thread itself changes them; others read the sums at any
//! time. The path of a call takes no lock.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

/// Most contexts of one thread. Beyond that, callers are omitted.
const MOST_CONTEXTS: usize = 1 << 18;
/// Most contexts of all living threads together: about 200 MB. Beyond that, callers are omitted,
/// too.
const MOST_IN_ALL: usize = 1 << 20;
/// The contexts of all living threads.
static IN_ALL: AtomicUsize = AtomicUsize::new(0);

/// Cost of the calls of one method in one context. Written by one thread, read by all.
#[derive(Debug, Default)]
pub struct Cost {
    /// Number of calls.
    calls: AtomicU64,
    /// Time in the method itself, excluding callees.
    own_nanos: AtomicU64,
    /// Time including callees; recursive calls count once.
    total_nanos: AtomicU64,
}

/// The values of a [`Cost`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostNow {
    /// Number of calls.
    pub calls: u64,
    /// Time in the method itself, excluding callees.
    pub own_nanos: u64,
    /// Time including callees; recursive calls count once.
    pub total_nanos: u64,
}

impl CostNow {
    /// The difference since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            own_nanos: self.own_nanos.saturating_sub(before.own_nanos),
            total_nanos: self.total_nanos.saturating_sub(before.total_nanos),
        }
    }

    /// The sum of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            own_nanos: self.own_nanos + other.own_nanos,
            total_nanos: self.total_nanos + other.total_nanos,
        }
    }
}

/// Adds to a value that only this thread changes: a load and a store cost less than an atomic
/// addition.
fn add(sum: &AtomicU64, more: u64) {
    sum.store(sum.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

impl Cost {
    /// The current values.
    pub fn now(&self) -> CostNow {
        CostNow {
            calls: self.calls.load(Ordering::Relaxed),
            own_nanos: self.own_nanos.load(Ordering::Relaxed),
            total_nanos: self.total_nanos.load(Ordering::Relaxed),
        }
    }
}

/// A context: the numbers of its methods, innermost first, and its cost.
pub type Context = (Box<[u32]>, Arc<Cost>);

/// The part of a thread's data that others read.
#[derive(Debug, Default)]
pub struct Shared {
    /// All contexts so far, in order.
    contexts: Mutex<Vec<Context>>,
    /// When the thread last entered or left a method.
    last_nanos: AtomicU64,
    /// Index of the context that has been running since then, plus one; 0 if no method runs.
    running: AtomicU64,
}

impl Shared {
    /// Calls `visit` for each context with its cost at `now_nanos` of the thread's clock. Time
    /// since the last event belongs to the running method. `None` stands for the time of the last
    /// event.
    pub fn for_each(&self, now_nanos: Option<u64>, mut visit: impl FnMut(&[u32], CostNow)) {
        let contexts = self.contexts.lock().clone();
        let running = self.running.load(Ordering::Relaxed);
        let last = self.last_nanos.load(Ordering::Relaxed);
        let unseen = now_nanos.unwrap_or(last).saturating_sub(last);
        for (place, (methods, cost)) in (1_u64..).zip(&contexts) {
            let mut now = cost.now();
            if place == running {
                now.own_nanos += unseen;
            }
            visit(methods, now);
        }
    }
}

/// A running method.
#[derive(Clone, Copy, Debug)]
struct Running {
    method: u32,
    context: u32,
    start_nanos: u64,
}

/// Number of callees that a context caches, so that most calls need no lookup in the table of all
/// contexts: a power of two.
const LAST_CALLEES: usize = 4;

/// The owner thread's data of a context. It fills one cache line, because every call reads it.
#[derive(Debug)]
#[repr(align(64))]
struct Own {
    cost: Arc<Cost>,
    methods: Box<[u32]>,
    /// Number of its active calls.
    depth: u32,
    /// A cache of called methods and their contexts, indexed by the low bits of the method's
    /// number.
    last_callees: [(u32, u32); LAST_CALLEES],
}

/// The running methods of one thread. Not for other threads.
#[derive(Debug)]
pub struct CallContexts {
    depth: usize,
    shared: Arc<Shared>,
    contexts: Vec<Own>,
    by_methods: FxHashMap<Box<[u32]>, u32>,
    callees: FxHashMap<(u32, u32), u32>,
    running: Vec<Running>,
    last_nanos: u64,
}

/// The context of a thread that runs no method: the first one, with no methods.
const OUTSIDE: u32 = 0;

impl CallContexts {
    /// No calls yet; contexts have at most `depth` methods, and at least one.
    pub fn new(depth: usize, now_nanos: u64) -> Self {
        let mut contexts = Self {
            depth: depth.max(1),
            shared: Arc::default(),
            contexts: Vec::new(),
            by_methods: FxHashMap::default(),
            callees: FxHashMap::default(),
            running: Vec::new(),
            last_nanos: now_nanos,
        };
        contexts.add(Box::default());
        contexts
    }

    /// The part that others read.
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// A method starts.
    pub fn enter(&mut self, method: u32, now_nanos: u64) {
        self.settle(self.context(), now_nanos);
        let context = self.push(method, now_nanos);
        if let Some(own) = self.contexts.get(context as usize) {
            add(&own.cost.calls, 1);
        }
        self.publish(context);
    }

    /// A method ends. Also ends all methods that started after it and whose ends were not reported.
    /// Ignores a method that never started.
    pub fn exit(&mut self, method: u32, now_nanos: u64) {
        let is_it = |running: &Running| running.method == method;
        let Some(place) = self.running.iter().rposition(is_it) else {
            return;
        };
        self.settle(self.context(), now_nanos);
        self.end_down_to(place, now_nanos);
    }

    /// Removes the running methods from this thread, and returns them, outermost first. Their cost
    /// so far is recorded.
    pub fn put_aside(&mut self, now_nanos: u64) -> Box<[u32]> {
        self.settle(self.context(), now_nanos);
        let methods = self.running.iter().map(|running| running.method).collect();
        self.end_down_to(0, now_nanos);
        methods
    }

    /// Resumes suspended methods, on this thread or another one, which must not run any. They do
    /// not count as called again.
    pub fn go_on(&mut self, methods: &[u32], now_nanos: u64) {
        self.settle(self.context(), now_nanos);
        for &method in methods {
            self.push(method, now_nanos);
        }
        self.publish(self.context());
    }

    /// Starts a method in the running context. Returns the method's context.
    fn push(&mut self, method: u32, now_nanos: u64) -> u32 {
        let context = self.callee(self.context(), method);
        if let Some(own) = self.contexts.get_mut(context as usize) {
            own.depth += 1;
        }
        self.running.push(Running {
            method,
            context,
            start_nanos: now_nanos,
        });
        context
    }

    /// Ends all methods except the outermost `left`.
    fn end_down_to(&mut self, left: usize, now_nanos: u64) {
        while self.running.len() > left {
            let Some(ended) = self.running.pop() else {
                break;
            };
            if let Some(own) = self.contexts.get_mut(ended.context as usize) {
                own.depth = own.depth.saturating_sub(1);
                if own.depth == 0 {
                    let total = now_nanos.saturating_sub(ended.start_nanos);
                    add(&own.cost.total_nanos, total);
                }
            }
        }
        self.publish(self.context());
    }

    /// The running context.
    fn context(&self) -> u32 {
        self.running
            .last()
            .map_or(OUTSIDE, |running| running.context)
    }

    /// Attributes the time since the last event to the context.
    fn settle(&mut self, context: u32, now_nanos: u64) {
        if let Some(own) = self.contexts.get(context as usize) {
            let nanos = now_nanos.saturating_sub(self.last_nanos);
            add(&own.cost.own_nanos, nanos);
        }
        self.last_nanos = now_nanos;
    }

    fn publish(&self, context: u32) {
        let place = u64::from(context) + 1;
        self.shared.running.store(place, Ordering::Relaxed);
        self.shared
            .last_nanos
            .store(self.last_nanos, Ordering::Relaxed);
    }

    /// The context of a method called from this one.
    fn callee(&mut self, caller: u32, method: u32) -> u32 {
        let place = method as usize % LAST_CALLEES;
        let last = self.contexts.get(caller as usize);
        if let Some(&(known, context)) = last.and_then(|own| own.last_callees.get(place)) {
            if known == method && context != OUTSIDE {
                return context;
            }
        }
        let context = match self.callees.get(&(caller, method)) {
            Some(&known) => known,
            None => self.new_callee(caller, method),
        };
        let last = self.contexts.get_mut(caller as usize);
        if let Some(last) = last.and_then(|own| own.last_callees.get_mut(place)) {
            *last = (method, context);
        }
        context
    }

    fn new_callee(&mut self, caller: u32, method: u32) -> u32 {
        let callers = self.contexts.get(caller as usize);
        let callers = callers.map_or(&[][..], |own| &own.methods);
        let is_full =
            self.contexts.len() >= MOST_CONTEXTS || IN_ALL.load(Ordering::Relaxed) >= MOST_IN_ALL;
        let most = if is_full { 1 } else { self.depth };
        let methods = std::iter::once(&method).chain(callers);
        let methods: Box<[u32]> = methods.take(most).copied().collect();
        let context = match self.by_methods.get(&methods) {
            Some(&known) => known,
            None => self.add(methods),
        };
        self.callees.insert((caller, method), context);
        context
    }

    fn add(&mut self, methods: Box<[u32]>) -> u32 {
        let context = u32::try_from(self.contexts.len()).unwrap_or(OUTSIDE);
        let cost = Arc::new(Cost::default());
        let seen = (methods.clone(), Arc::clone(&cost));
        self.shared.contexts.lock().push(seen);
        IN_ALL.fetch_add(1, Ordering::Relaxed);
        self.by_methods.insert(methods.clone(), context);
        self.contexts.push(Own {
            cost,
            methods,
            depth: 0,
            last_callees: [(0, OUTSIDE); LAST_CALLEES],
        });
        context
    }
}

impl Drop for CallContexts {
    fn drop(&mut self) {
        IN_ALL.fetch_sub(self.contexts.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    type Sums = BTreeMap<Vec<u32>, (u64, u64, u64)>;

    fn sums(contexts: &CallContexts, now: Option<u64>) -> Sums {
        let mut sums = Sums::new();
        contexts.shared.for_each(now, |methods, cost| {
            let row = (cost.calls, cost.own_nanos, cost.total_nanos);
            sums.insert(methods.to_vec(), row);
        });
        sums
    }

    #[test]
    fn own_time_is_without_that_of_callees() {
        let mut calls = CallContexts::new(4, 100);
        calls.enter(1, 110);
        calls.enter(2, 120);
        calls.exit(2, 150);
        calls.enter(2, 160);
        calls.exit(2, 165);
        calls.exit(1, 200);
        let expected = [
            (vec![], (0, 10, 0)),
            (vec![1], (1, 55, 90)),
            (vec![2, 1], (2, 35, 35)),
        ];
        assert_eq!(sums(&calls, None), Sums::from(expected));
    }

    #[test]
    fn methods_that_were_put_aside_go_on_elsewhere_and_are_called_once() {
        let mut here = CallContexts::new(4, 0);
        here.enter(1, 10);
        here.enter(2, 20);
        let aside = here.put_aside(30);
        assert_eq!(*aside, [1, 2]);
        // Suspended methods are not callers of what starts now, and their ends do nothing here.
        here.enter(3, 40);
        here.exit(2, 50);
        here.exit(3, 60);
        let expected = [
            (vec![], (0, 20, 0)),
            (vec![1], (1, 10, 20)),
            (vec![2, 1], (1, 10, 10)),
            (vec![3], (1, 20, 20)),
        ];
        assert_eq!(sums(&here, None), Sums::from(expected));
        let mut there = CallContexts::new(4, 1000);
        there.go_on(&aside, 1005);
        there.exit(2, 1010);
        there.exit(1, 1030);
        let expected = [
            (vec![], (0, 5, 0)),
            (vec![1], (0, 20, 25)),
            (vec![2, 1], (0, 5, 5)),
        ];
        assert_eq!(sums(&there, None), Sums::from(expected));
    }

    #[test]
    fn recursion_has_as_many_contexts_as_the_depth_and_counts_once() {
        let mut calls = CallContexts::new(2, 0);
        for now in 0..10 {
            calls.enter(7, now);
        }
        for now in 10..20 {
            calls.exit(7, now);
        }
        let sums = sums(&calls, None);
        assert_eq!(sums[&vec![7]], (1, 2, 19));
        // From 1 to 18, although nine nested calls ran.
        assert_eq!(sums[&vec![7, 7]], (9, 17, 17));
    }

    #[test]
    fn an_end_that_was_not_told_is_that_of_the_caller() {
        let mut calls = CallContexts::new(4, 0);
        calls.enter(1, 0);
        calls.enter(2, 10);
        calls.enter(3, 20);
        calls.exit(1, 50);
        calls.exit(3, 60);
        assert!(calls.running.is_empty());
        assert_eq!(sums(&calls, None)[&vec![3, 2, 1]], (1, 30, 30));
    }

    #[test]
    fn more_callees_than_a_context_remembers_are_told_apart() {
        let mut calls = CallContexts::new(2, 0);
        calls.enter(100, 0);
        for round in 1..=3 {
            for method in 1..=9 {
                for _ in 0..method {
                    calls.enter(method, round);
                    calls.exit(method, round);
                }
            }
        }
        let sums = sums(&calls, None);
        for method in 1..=9 {
            assert_eq!(sums[&vec![method, 100]].0, 3 * u64::from(method));
        }
    }

    #[test]
    fn what_runs_is_counted_up_to_now() {
        let mut calls = CallContexts::new(4, 0);
        calls.enter(1, 0);
        assert_eq!(sums(&calls, Some(500))[&vec![1]], (1, 500, 0));
        assert_eq!(sums(&calls, None)[&vec![1]], (1, 0, 0));
    }

    #[test]
    fn own_times_add_up() {
        let mut calls = CallContexts::new(3, 0);
        for now in 0..1000_u32 {
            let method = now * 7 % 11;
            if now % 3 == 2 {
                calls.exit(method, u64::from(now));
            } else {
                calls.enter(method, u64::from(now));
            }
        }
        let all: u64 = sums(&calls, Some(1000)).values().map(|row| row.1).sum();
        assert_eq!(all, 1000);
    }
}
