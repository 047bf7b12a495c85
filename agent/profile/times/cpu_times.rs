//! Times of methods (`cpu=times`): each thread records its own calls, and a report adds them up.
//!
//! A report reads the sums while the thread writes them, and subtracts what it reported before. A
//! call whose end is not reported ends with its caller. `VirtualThread.mount` and `unmount` show
//! when the methods of a thread leave a carrier (`unmounted`).

use super::unmounted::Unmounted;
use crate::profile::stacks::StackTraces;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::os::cpu_clock::{self, RemoteClock, ThreadClock};
use parking_lot::Mutex;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tables::call_contexts::{CallContexts, CostNow, Shared};
use tables::{FrameId, ThreadId, Trace, TraceId};

/// The cost of one stack's calls since the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallRow {
    /// The stack, a row of the session's tables.
    pub(crate) trace: TraceId,
    /// The calls of its top method.
    pub(crate) cost: CostNow,
}

/// The times of all threads.
#[derive(Debug)]
pub(crate) struct CpuTimes {
    traces: Arc<StackTraces>,
    threads: Mutex<Threads>,
    /// The running methods of virtual threads without a carrier.
    unmounted: Unmounted,
    /// The values in the last report.
    told: Mutex<HashMap<TraceId, CostNow>>,
}

#[derive(Debug, Default)]
struct Threads {
    live: Vec<LiveThread>,
    /// The sums of ended threads.
    ended: HashMap<TraceId, CostNow>,
}

#[derive(Clone, Debug)]
struct LiveThread {
    /// The thread's number in its separate traces; `None` if threads share traces.
    owner: Option<ThreadId>,
    clock: RemoteClock,
    shared: Arc<Shared>,
}

/// The calls of the current thread.
#[derive(Debug)]
struct OwnCalls {
    clock: ThreadClock,
    contexts: CallContexts,
    /// While the thread runs a virtual thread, its own running methods, outermost first.
    beneath: Box<[u32]>,
    times: Weak<CpuTimes>,
}

thread_local! {
    static CALLS: RefCell<Option<OwnCalls>> = const { RefCell::new(None) };
    /// The number of the virtual thread that this thread runs.
    static CARRIED: Cell<Option<i64>> = const { Cell::new(None) };
}

/// Runs `body` with this thread's calls. An ending thread may call methods after its thread-locals
/// are gone, and registering a thread calls some while they are borrowed; these are not counted.
fn with_calls(body: impl FnOnce(&mut Option<OwnCalls>)) {
    let _ = CALLS.try_with(|calls| calls.try_borrow_mut().map(|mut calls| body(&mut calls)));
}

impl CpuTimes {
    /// No calls yet.
    pub(crate) fn new(traces: Arc<StackTraces>) -> Self {
        cpu_clock::calibrate();
        Self {
            traces,
            threads: Mutex::default(),
            unmounted: Unmounted::default(),
            told: Mutex::default(),
        }
    }

    /// The method with this number starts. On the thread that runs it; for a virtual thread, on its
    /// carrier.
    pub(crate) fn enter(self: &Arc<Self>, env: &Env, jni: &Jni<'_>, number: i32) {
        with_calls(|calls| {
            let calls = calls.get_or_insert_with(|| self.know(env, jni));
            let now = calls.clock.nanos();
            calls.contexts.enter(number.unsigned_abs(), now);
        });
    }

    /// The method with this number ends.
    pub(crate) fn exit(number: i32) {
        with_calls(|calls| {
            if let Some(calls) = calls {
                let now = calls.clock.nanos();
                calls.contexts.exit(number.unsigned_abs(), now);
            }
        });
    }

    /// From here on this thread runs the virtual thread with this number: its methods resume, those
    /// of the carrier are suspended.
    pub(crate) fn mount(self: &Arc<Self>, env: &Env, jni: &Jni<'_>, number: Option<i64>) {
        let _ = CARRIED.try_with(|carried| carried.set(number));
        let methods = number.and_then(|thread| self.unmounted.take(thread));
        with_calls(|calls| {
            // A carrier without methods so far is registered by those of the virtual thread.
            if calls.is_none() && methods.is_none() {
                return;
            }
            let calls = calls.get_or_insert_with(|| self.know(env, jni));
            let now = calls.clock.nanos();
            calls.beneath = calls.contexts.put_aside(now);
            calls.contexts.go_on(methods.as_deref().unwrap_or(&[]), now);
        });
    }

    /// The virtual thread has left this thread, temporarily or for good: its methods are suspended,
    /// those of the carrier resume.
    pub(crate) fn unmount(&self) {
        let carried = CARRIED.try_with(Cell::take).ok().flatten();
        let methods = CALLS.try_with(|calls| {
            let mut calls = calls.try_borrow_mut().ok()?;
            let calls = calls.as_mut()?;
            let now = calls.clock.nanos();
            let methods = calls.contexts.put_aside(now);
            let beneath = std::mem::take(&mut calls.beneath);
            calls.contexts.go_on(&beneath, now);
            Some(methods)
        });
        let methods = methods.ok().flatten().filter(|methods| !methods.is_empty());
        if let (Some(thread), Some(methods)) = (carried, methods) {
            self.unmounted.put(thread, methods);
        }
    }

    /// The cost of calls since the last report, by stack. Each cost is returned once.
    pub(crate) fn take(&self) -> Vec<CallRow> {
        // Copied, so that threads that start or end do not wait for the addition.
        let (live, mut now) = {
            let threads = self.threads.lock();
            (threads.live.clone(), threads.ended.clone())
        };
        for thread in &live {
            self.sum(thread, thread.clock.nanos(), &mut now);
        }
        let mut told = self.told.lock();
        let rows = now.iter().map(|(&trace, cost)| CallRow {
            trace,
            cost: cost.since(told.get(&trace).copied().unwrap_or_default()),
        });
        let rows = rows.collect();
        std::mem::swap(&mut *told, &mut now);
        rows
    }

    /// Returns costs that were not reported after all.
    pub(crate) fn give_back(&self, rows: &[CallRow]) {
        let mut told = self.told.lock();
        for row in rows {
            if let Some(before) = told.get_mut(&row.trace) {
                *before = before.since(row.cost);
            }
        }
    }

    fn know(self: &Arc<Self>, env: &Env, jni: &Jni<'_>) -> OwnCalls {
        let clock = ThreadClock::of_cpu_time();
        let contexts = CallContexts::new(self.traces.depth_frames(), clock.nanos());
        let owner = env.current_thread(jni).ok().and_then(|thread| {
            let owner = self.traces.owner(env, jni, &thread);
            jni.forget(thread);
            owner
        });
        self.threads.lock().live.push(LiveThread {
            owner,
            clock: RemoteClock::of_this_thread(),
            shared: contexts.shared(),
        });
        OwnCalls {
            clock,
            contexts,
            beneath: Box::default(),
            times: Arc::downgrade(self),
        }
    }

    /// A thread ends: its sums are kept.
    fn forget(&self, shared: &Arc<Shared>) {
        let mut threads = self.threads.lock();
        let is_it = |thread: &LiveThread| Arc::ptr_eq(&thread.shared, shared);
        if let Some(place) = threads.live.iter().position(is_it) {
            let thread = threads.live.swap_remove(place);
            self.sum(&thread, None, &mut threads.ended);
        }
    }

    fn sum(
        &self,
        thread: &LiveThread,
        now_nanos: Option<u64>,
        sums: &mut HashMap<TraceId, CostNow>,
    ) {
        thread.shared.for_each(now_nanos, |methods, cost| {
            // The thread is outside all timed methods.
            if methods.is_empty() {
                return;
            }
            let ids = methods.iter().filter_map(|&number| FrameId::new(number));
            let trace = self.traces.row(Trace {
                thread: thread.owner,
                frames: ids.collect(),
            });
            let sum = sums.entry(trace).or_default();
            *sum = sum.plus(cost);
        });
    }
}

impl Drop for OwnCalls {
    /// Runs at the end of the thread.
    fn drop(&mut self) {
        if let Some(times) = self.times.upgrade() {
            times.forget(&self.contexts.shared());
        }
    }
}
