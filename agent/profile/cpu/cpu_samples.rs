//! CPU samples: decides which threads are sampled, and counts their samples.
//!
//! A signal handler puts a sample into a ring (`sampler`). Soon after, while the sampled methods
//! still exist, an agent thread takes it out and counts its stack.
//!
//! `AsyncGetCallTrace` cannot name a method without an id, so ids are made when a class is linked.
//! When samples are switched off, the timers go and the handler stays:
//! without one, a signal that is still pending would end the process.

use super::cpu_counts::CpuCounts;
use crate::agent_threads;
use crate::message::say;
use crate::profile::stacks::StackTraces;
use hotspot::sampler::{RawSample, StackSampler};
use jvm::env::{Env, Vm};
use jvm::event::COMPILED_METHOD_LOAD;
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::os::threads::{os_threads, OsThread, NAME_BYTES};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tables::ThreadId;

/// Name of the agent's thread in thread dumps.
const THREAD_NAME: &str = "HPROF CPU samples";
/// Time from the first sample until it and later ones are taken out together.
const GATHER: Duration = Duration::from_millis(20);

/// The CPU samples of a session.
#[derive(Debug)]
pub(crate) struct CpuSamples {
    interval_us: u32,
    /// The traces to which samples refer.
    pub(crate) traces: Arc<StackTraces>,
    /// Nothing if sampling did not start.
    sampler: OnceLock<&'static StackSampler>,
    counts: Mutex<CpuCounts>,
    /// Locked while samples are counted. Held across JVM calls, but no application thread takes it.
    taking: Mutex<()>,
    ended: Mutex<bool>,
    ends: Condvar,
}

impl CpuSamples {
    /// Nothing is sampled yet. There will be a sample every `interval_us` of CPU time, with its
    /// stack as a row of `traces`.
    pub(crate) fn new(interval_us: u32, traces: Arc<StackTraces>) -> Self {
        Self {
            interval_us,
            traces,
            sampler: OnceLock::new(),
            counts: Mutex::default(),
            taking: Mutex::default(),
            ended: Mutex::default(),
            ends: Condvar::new(),
        }
    }

    /// The method of sampling, in words.
    pub(crate) fn manner(&self) -> String {
        let millis = f64::from(self.interval_us) / 1000.0;
        let each = format!("every {millis} ms of CPU time");
        match self.sampler.get() {
            None => "none, as sampling did not start".to_owned(),
            Some(sampler) if sampler.is_off() => format!("{each}, switched off now"),
            Some(sampler) if sampler.is_replaced() => {
                format!("{each}; SIGPROF has another handler now, so samples may be missing")
            }
            Some(_) => each,
        }
    }

    /// Starts sampling. At `VMInit`, after the events of threads and classes are switched on.
    pub(crate) fn start(&'static self, vm: Vm, env: &'static Env, jni: &mut Jni<'_>) {
        let sampler = match StackSampler::start(vm, self.interval_us, self.traces.depth_frames()) {
            Ok(sampler) => sampler,
            Err(why) => return say(&format!("CPU samples are lost: {why}")),
        };
        if jni
            .with_frame(|jni| self.begin(sampler, env, jni))
            .is_none()
        {
            say("CPU samples are lost: no memory for local references");
            return;
        }
        let body = |jni: &mut Jni<'_>| self.serve(env, jni);
        if let Err(why) = agent_threads::start(env, jni, THREAD_NAME, body) {
            say(&format!(
                "CPU samples are lost: no thread can be started: {why}"
            ));
        }
    }

    fn begin(&self, sampler: &'static StackSampler, env: &Env, jni: &Jni<'_>) {
        // While an agent listens to this event, HotSpot records line information for all compiled
        // code, not only for safepoints. Without it, a stack interrupted elsewhere gets the line of
        // the next safepoint.
        if let Err(error) = env.notify(COMPILED_METHOD_LOAD, true) {
            say(&format!(
                "CPU samples may name the line before or after: {error}"
            ));
        }
        for class in env.loaded_classes(jni).unwrap_or_default() {
            make_method_ids(env, &class);
            jni.forget(class);
        }
        let _ = self.sampler.set(sampler);
        if let Ok(thread) = env.current_thread(jni) {
            sampler.arm_this_thread(self.traces.owner(env, jni, &thread));
        }
        self.arm_found(sampler, env, jni);
    }

    /// Starts timers for the threads that already exist. Their names show which of the system's
    /// threads run Java. HotSpot 8 does not name its threads, so there all get a timer, and signals
    /// on other threads count nothing.
    fn arm_found(&self, sampler: &StackSampler, env: &Env, jni: &Jni<'_>) {
        let mut owners: HashMap<Vec<u8>, Option<ThreadId>> = HashMap::new();
        for thread in env.live_threads(jni).unwrap_or_default() {
            let mut name = env.thread_names(jni, &thread).unwrap_or_default().name;
            name.truncate(NAME_BYTES);
            owners.insert(name, self.traces.owner(env, jni, &thread));
            jni.forget(thread);
        }
        for (thread, owner) in java_threads(os_threads(), &owners) {
            sampler.arm_found(thread, owner);
        }
    }

    /// `ThreadStart`, on that thread.
    pub(crate) fn thread_start(&self, env: &Env, jni: &Jni<'_>, thread: &Object<'_>) {
        if let Some(sampler) = self.sampler.get() {
            sampler.arm_this_thread(self.traces.owner(env, jni, thread));
        }
    }

    /// `ThreadEnd`, on that thread.
    pub(crate) fn thread_end(&self) {
        if let Some(sampler) = self.sampler.get() {
            sampler.disarm_this_thread();
        }
    }

    /// `ClassPrepare`: creates the ids of its methods. Without one, a method in a signal's stack
    /// has no name.
    pub(crate) fn class_prepare(&self, env: &Env, class: &Object<'_>) {
        make_method_ids(env, class);
    }

    /// Samples all threads from now on, or none; sampling is on at first. Counts are kept. Any
    /// thread that may wait while a sample is counted, so no application thread.
    pub(crate) fn switch(&self, on: bool) {
        if let Some(sampler) = self.sampler.get() {
            sampler.switch(on);
        }
        // Wait for a drain in progress, so that samples taken before the switch are counted.
        drop(self.taking.lock());
    }

    /// Ends sampling; samples taken so far can still be counted. At VM death, before callbacks are
    /// locked out: a thread that ends without the callback must not have a timer.
    pub(crate) fn stop(&self) {
        if let Some(sampler) = self.sampler.get() {
            sampler.stop();
        }
        *self.ended.lock() = true;
        self.ends.notify_all();
    }

    /// Takes the counts since the last time. On any thread attached to the JVM.
    pub(crate) fn take_counts(&self, env: &Env, jni: &mut Jni<'_>) -> CpuCounts {
        if let Some(sampler) = self.sampler.get() {
            self.take_in(sampler, env, jni);
        }
        std::mem::take(&mut self.counts.lock())
    }

    /// Returns counts that could not be reported.
    pub(crate) fn give_back(&self, counts: CpuCounts) {
        self.counts.lock().merge(counts);
    }

    /// Counts the samples in the ring.
    fn take_in(&self, sampler: &StackSampler, env: &Env, jni: &mut Jni<'_>) {
        let _taking = self.taking.lock();
        while let Some(sample) = sampler.take() {
            self.count(sample, env, jni);
        }
        let lost = sampler.take_lost();
        let mut counts = self.counts.lock();
        for (fault, samples) in lost {
            counts.add_fault(fault, samples);
        }
        counts.add_unsampled_threads(sampler.take_refused());
    }

    fn count(&self, sample: RawSample, env: &Env, jni: &mut Jni<'_>) {
        let samples = u64::from(sample.periods);
        match sample.stack {
            Ok(stack) => {
                let trace =
                    jni.with_frame(|jni| self.traces.trace(env, jni, &stack, sample.thread));
                if let Some(trace) = trace {
                    self.counts.lock().add(trace, samples);
                }
            }
            Err(fault) => self.counts.lock().add_fault(fault, samples),
        }
    }

    /// Waits up to `limit` for the end. `true` if it has come.
    fn ends_within(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let mut ended = self.ended.lock();
        while !*ended {
            if self.ends.wait_until(&mut ended, until).timed_out() {
                break;
            }
        }
        *ended
    }

    /// The agent thread's main function.
    fn serve(&self, env: &Env, jni: &mut Jni<'_>) {
        let body = || {
            let Some(sampler) = self.sampler.get() else {
                return;
            };
            while sampler.wait() && !self.ends_within(GATHER) {
                self.take_in(sampler, env, jni);
            }
        };
        if catch_unwind(AssertUnwindSafe(body)).is_err() {
            say("CPU samples end here, after an internal error of the agent; please report it");
            self.stop();
        }
    }
}

/// Makes the JVM create the ids of a class's methods. A class that is not linked yet gets them when
/// it is linked.
fn make_method_ids(env: &Env, class: &Object<'_>) {
    let _ = env.method_ids(class);
}

/// The system's threads that are Java threads, found by name, with their numbers.
fn java_threads(
    all: Vec<OsThread>,
    owners: &HashMap<Vec<u8>, Option<ThreadId>>,
) -> Vec<(libc::pid_t, Option<ThreadId>)> {
    let are_named = all.iter().any(|thread| owners.contains_key(&thread.name));
    let all = all.into_iter();
    all.filter_map(|thread| match owners.get(&thread.name) {
        Some(&owner) => Some((thread.id, owner)),
        None => (!are_named).then_some((thread.id, None)),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(names: &[&str]) -> Vec<OsThread> {
        let thread = |(id, name): (libc::pid_t, &&str)| OsThread {
            id,
            name: name.as_bytes().to_vec(),
        };
        (0..).zip(names).map(thread).collect()
    }

    #[test]
    fn named_threads_are_known_by_their_names() {
        let all = threads(&["java", "Reference Handl", "G1 Main Marker", "Finalizer"]);
        let owner = ThreadId::new(3);
        let owners = HashMap::from([
            (b"Reference Handl".to_vec(), owner),
            (b"Finalizer".to_vec(), None),
            (b"main".to_vec(), None),
        ]);
        assert_eq!(java_threads(all, &owners), [(1, owner), (3, None)]);
    }

    #[test]
    fn where_no_thread_is_named_all_are_taken() {
        let owners = HashMap::from([(b"Finalizer".to_vec(), ThreadId::new(2))]);
        let found = java_threads(threads(&["java", "java"]), &owners);
        assert_eq!(found, [(0, None), (1, None)]);
    }

    #[test]
    fn without_a_sampler_nothing_is_sampled() {
        let traces = Arc::new(StackTraces::new(4, true, false));
        let cpu = CpuSamples::new(2500, traces);
        assert_eq!(cpu.manner(), "none, as sampling did not start");
        cpu.switch(false);
        assert!(!cpu.ends_within(Duration::ZERO));
        cpu.stop();
        assert!(cpu.ends_within(Duration::ZERO));
    }
}
