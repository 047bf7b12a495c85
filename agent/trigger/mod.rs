//! `on=`: reads what the conditions are about, once a second, and asks for the dumps that are due,
//! or takes samples.
//!
//! A [`Watcher`] decides. The collector only raises a flag; a thread of the agent's asks the
//! JDK what is in use.

mod growth;
pub(crate) mod kept_files;
pub(crate) mod leaks;
mod readings;
mod sample;
mod sampler;
mod surplus;
mod watcher;
mod written_files;

use crate::agent_threads;
use crate::gate::Gate;
use crate::message::say;
use jvm::capability::GENERATE_GARBAGE_COLLECTION_EVENTS;
use jvm::env::{Env, Vm};
use jvm::event::GARBAGE_COLLECTION_FINISH;
use jvm::jni::Jni;
use options::{Condition, Options};
use parking_lot::Mutex;
use readings::{resident, HeapReader};
pub(crate) use sampler::sample_once;
use sampler::{Sampler, LARGEST};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use watcher::{Cause, Reading, Watcher};

/// Name of the thread in thread dumps and in the heap dump itself.
const THREAD_NAME: &str = "HPROF conditions";
/// Time between two readings.
const LOOK: Duration = Duration::from_secs(1);

/// The conditions of this JVM.
#[derive(Debug)]
pub(crate) struct Triggers {
    began: Instant,
    /// Whether a condition is about the heap, and the JVM reports collections.
    reads_heap: bool,
    /// Whether a condition is about the memory of the process.
    reads_resident: bool,
    /// Set after a collection.
    was_collected: AtomicBool,
    /// Locked briefly, never across a JVM call.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    watcher: Watcher,
    /// The cause of the dump that was asked for.
    waits: Option<Cause>,
}

impl Triggers {
    /// Those that the options name; `None` if nothing has to be watched.
    pub(crate) fn of(env: &Env, options: &Options) -> Option<Self> {
        let on = options.on.as_ref()?;
        // The JVM itself reports an OutOfMemoryError, so there is nothing to watch.
        if on.all.iter().all(|it| *it == Condition::OutOfMemory) {
            return None;
        }
        let is_of_heap =
            |it: &Condition| matches!(it, Condition::Heap { .. } | Condition::Growth { .. });
        let is_of_process = |it: &Condition| matches!(it, Condition::Resident { .. });
        let reads_heap = on.all.iter().any(is_of_heap);
        Some(Self {
            began: Instant::now(),
            reads_heap: reads_heap && hears_of_collections(env),
            reads_resident: on.all.iter().any(is_of_process),
            was_collected: AtomicBool::new(false),
            state: Mutex::new(State {
                watcher: Watcher::new(&on.all, on.limits),
                waits: None,
            }),
        })
    }

    /// Starts the thread that watches until the gate is closed. `request` asks for a dump, and
    /// returns whether there will be an attempt. In `VMInit`.
    pub(crate) fn start(
        &'static self,
        (vm, env): (Vm, &'static Env),
        options: &'static Options,
        jni: &mut Jni<'_>,
        gate: &'static Gate,
        request: impl Fn(String) -> bool + Send + 'static,
    ) {
        let body = move |jni: &mut Jni<'_>| {
            let mut sampler = Sampler::of(vm, options, LARGEST);
            let mut heap = self.reads_heap.then(|| HeapReader::new(env, jni)).flatten();
            loop {
                sleep(LOOK);
                // Not inside while it reads: the JVM does not wait for it to end.
                if gate.enter().is_none() {
                    return;
                }
                // A panic in our code ends only this reading.
                let look = AssertUnwindSafe(|| self.look(jni, heap.as_mut()));
                let Some(cause) = catch_unwind(look).ok().flatten() else {
                    continue;
                };
                match &mut sampler {
                    None => self.ask(cause, &request),
                    Some(sampler) => {
                        let sample = || sampler.sample(jni, &cause.to_string());
                        let is_made = catch_unwind(AssertUnwindSafe(sample)).unwrap_or(false);
                        let at = self.began.elapsed();
                        self.state.lock().watcher.note_dump(&cause, at, is_made);
                    }
                }
            }
        };
        if let Err(why) = agent_threads::start(env, jni, THREAD_NAME, body) {
            say(&format!(
                "no thread can be started, so on= causes no dump: {why}"
            ));
            return;
        }
        if self.reads_heap && env.notify(GARBAGE_COLLECTION_FINISH, true).is_err() {
            say("this JVM does not report collections, so heap and growth of on= cause no dump");
        }
    }

    /// After a collection, in a safepoint.
    pub(crate) fn note_collection(&self) {
        self.was_collected.store(true, Ordering::Relaxed);
    }

    /// A dump has ended; `is_made` if there is one. `is_caused` if it is the one that was asked for
    /// here.
    pub(crate) fn note_dump(&self, is_caused: bool, is_made: bool) {
        let at = self.began.elapsed();
        let mut state = self.state.lock();
        let cause = if is_caused { state.waits.take() } else { None };
        match cause {
            Some(cause) => state.watcher.note_dump(&cause, at, is_made),
            None if is_made => state.watcher.rest(at),
            None => {}
        }
    }

    /// Takes a reading; the cause of what is due.
    fn look(&self, jni: &mut Jni<'_>, heap: Option<&mut HeapReader>) -> Option<Cause> {
        if self.state.lock().waits.is_some() {
            return None;
        }
        let was_collected = heap.filter(|_| self.was_collected.swap(false, Ordering::Relaxed));
        let reading = Reading {
            heap: was_collected.and_then(|heap| heap.read(jni)),
            resident: self.reads_resident.then(resident).flatten(),
            at: self.began.elapsed(),
        };
        self.state.lock().watcher.take(&reading)
    }

    /// Asks for the dump of this cause.
    fn ask(&self, cause: Cause, request: &impl Fn(String) -> bool) {
        let text = cause.to_string();
        self.state.lock().waits = Some(cause);
        if !request(text) {
            self.state.lock().waits = None;
        }
    }
}

fn hears_of_collections(env: &Env) -> bool {
    let missing = env.take_capabilities(&[GENERATE_GARBAGE_COLLECTION_EVENTS]);
    let hears = missing.is_ok_and(|missing| missing.is_empty());
    if !hears {
        say("this JVM does not report collections, so heap and growth of on= cause no dump");
    }
    hears
}
