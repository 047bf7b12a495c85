//! CPU samples from lists: which threads have run since the last pass, and their current stacks.
//!
//! For JVMs without `AsyncGetCallTrace`. Stacks are taken at a safepoint, so they are those of the
//! thread's next safepoint. Virtual threads are not listed. A thread that waits in native code has
//! not run, and is not sampled.

use super::cpu_counts::CpuCounts;
use crate::profile::stacks::StackTraces;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::object::Object;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tables::ThreadId;

/// One thread's state between two passes.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// CPU time at the last pass.
    seen_ns: u64,
    /// CPU time not yet sampled; less than an interval.
    left_ns: u64,
    /// Number of the last pass that saw the thread.
    look: u64,
}

impl Account {
    /// Notes the current CPU time, `since_ns` after the last pass. Returns the number of full
    /// intervals in it.
    fn note(&mut self, now_ns: u64, interval_ns: u64, look: u64, since_ns: u64) -> u64 {
        // For a new thread, count only time since the last pass. The main thread, for one, returns
        // as another thread at the end of the JVM, with all its CPU time.
        let ran_ns = match self.look {
            0 => now_ns.min(since_ns),
            _ => now_ns.saturating_sub(self.seen_ns),
        };
        let whole_ns = self.left_ns.saturating_add(ran_ns);
        let interval_ns = interval_ns.max(1);
        *self = Self {
            seen_ns: now_ns,
            left_ns: whole_ns % interval_ns,
            look,
        };
        whole_ns / interval_ns
    }
}

/// The threads' accounts.
#[derive(Debug)]
pub(crate) struct CpuLists {
    interval_ns: u64,
    looks: u64,
    last_look: Instant,
    accounts: HashMap<ThreadId, Account>,
}

impl CpuLists {
    /// No threads yet.
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            interval_ns: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
            looks: 0,
            last_look: Instant::now(),
            accounts: HashMap::new(),
        }
    }

    /// Samples the threads that have run for an interval since the last pass. Runs on an agent
    /// thread, which it skips.
    pub(crate) fn look(
        &mut self,
        env: &Env,
        jni: &Jni<'_>,
        traces: &StackTraces,
        counts: &Mutex<CpuCounts>,
    ) {
        self.looks += 1;
        let since = std::mem::replace(&mut self.last_look, Instant::now()).elapsed();
        let since_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let own = self.number_of_this_thread(env, jni, traces);
        let mut due: Vec<(Object<'_>, u64)> = Vec::new();
        for thread in env.live_threads(jni).unwrap_or_default() {
            let number = traces.threads().number(env, jni, &thread);
            let number = number.filter(|&number| Some(number) != own);
            match number.map_or(0, |number| self.intervals(env, &thread, number, since_ns)) {
                0 => jni.forget(thread),
                intervals => due.push((thread, intervals)),
            }
        }
        let looks = self.looks;
        self.accounts.retain(|_, account| account.look == looks);
        if due.is_empty() {
            return;
        }
        let (threads, intervals): (Vec<Object<'_>>, Vec<u64>) = due.into_iter().unzip();
        let depth = i32::try_from(traces.depth_frames()).unwrap_or(i32::MAX);
        let stacks = env.stacks_of(&threads, depth).unwrap_or_default();
        for ((stack, thread), intervals) in stacks.iter().zip(&threads).zip(intervals) {
            if stack.is_empty() {
                counts.lock().add_outside(intervals);
                continue;
            }
            let owner = traces.owner(env, jni, thread);
            let trace = traces.trace(env, jni, stack, owner);
            counts.lock().add(trace, intervals);
        }
    }

    fn number_of_this_thread(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        traces: &StackTraces,
    ) -> Option<ThreadId> {
        let thread = env.current_thread(jni).ok()?;
        let number = traces.threads().number(env, jni, &thread);
        jni.forget(thread);
        number
    }

    /// How many samples to take of the thread now.
    fn intervals(
        &mut self,
        env: &Env,
        thread: &Object<'_>,
        number: ThreadId,
        since_ns: u64,
    ) -> u64 {
        let Ok(now_ns) = env.thread_cpu_ns(thread) else {
            return 0;
        };
        let account = self.accounts.entry(number).or_default();
        account.note(now_ns, self.interval_ns, self.looks, since_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_intervals_are_counted_and_the_rest_is_kept() {
        let mut account = Account::default();
        assert_eq!(account.note(25, 10, 1, 1000), 2);
        assert_eq!(account.note(34, 10, 2, 1000), 1);
        assert_eq!(account.left_ns, 4);
    }

    #[test]
    fn what_was_before_the_last_look_is_not_counted() {
        let mut account = Account::default();
        assert_eq!(account.note(1_000_000, 10, 7, 35), 3);
        assert_eq!(account.note(1_000_060, 10, 8, 35), 6);
    }

    #[test]
    fn a_clock_that_goes_back_is_no_time() {
        let mut account = Account::default();
        account.note(100, 10, 1, 0);
        assert_eq!(account.note(40, 10, 2, 1000), 0);
        assert_eq!(account.note(60, 10, 3, 1000), 2);
    }
}
