//! The owner of each monitor and the threads that wait for it, at the moment of a report.

use crate::message::say;
use crate::profile::stacks::StackTraces;
use jvm::env::Env;
use jvm::error::JvmtiError;
use jvm::jni::Jni;
use jvm::monitor::MonitorUsage;
use jvm::object::Object;
use jvm::thread::ThreadState;
use jvm::weak::Weak;
use std::collections::HashMap;
use std::sync::Arc;
use tables::{ClassId, ThreadId, TraceId};
use text::{self, Activity, Owner};

/// A monitor with an owner or waiting threads.
#[derive(Debug)]
pub(crate) struct MonitorRow {
    /// The class of the object.
    pub(crate) class: ClassId,
    /// Its owner; `None` if it has none.
    pub(crate) owner: Option<Owner>,
    /// Threads that wait to enter.
    pub(crate) waiting_to_enter: Vec<Option<ThreadId>>,
    /// Threads that wait to be notified.
    pub(crate) waiting_to_be_notified: Vec<Option<ThreadId>>,
}

/// A thread that is waiting according to the events.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// The thread.
    pub(crate) thread: ThreadId,
    /// Its stack, if it is virtual.
    pub(crate) trace: TraceId,
    /// Whether it waits to enter or to be notified.
    pub(crate) activity: Activity,
    /// The object whose monitor it waits for; shared with the thread that waits.
    pub(crate) monitor: Option<Arc<Weak>>,
}

/// Threads and monitors.
///
/// The stacks are from one moment. Everything else is queried thread by thread and monitor by
/// monitor while the application runs, so a monitor may have changed owners between two answers. No
/// thread is suspended.
#[derive(Debug)]
pub(crate) struct MonitorState {
    /// The live platform threads, and the virtual threads that wait.
    pub(crate) threads: Vec<text::ThreadState>,
    /// The monitors, owned ones first, thread by thread.
    pub(crate) monitors: Vec<MonitorRow>,
}

impl MonitorState {
    /// Reads the state. `waiting` are the threads that wait according to the events; they are
    /// needed because the JVM does not list virtual threads, and HotSpot 25 does not report on
    /// which object a thread is in `Object.wait`. `None`, with a line on stderr, if the JVM does
    /// not report the stacks. On any thread attached to the JVM, in the live phase.
    pub(crate) fn look(
        env: &Env,
        jni: &mut Jni<'_>,
        traces: &StackTraces,
        waiting: impl Fn() -> Vec<Waiter>,
    ) -> Option<Self> {
        let looked = jni.with_frame(|jni| {
            let look = Look { env, jni, traces };
            look.state(waiting)
        });
        match looked {
            Some(Ok(state)) => Some(state),
            Some(Err(error)) => {
                say(&format!("no monitor dump: {error}"));
                None
            }
            None => {
                say("no monitor dump: no memory for local references");
                None
            }
        }
    }
}

struct Look<'l, 'f> {
    env: &'l Env,
    jni: &'l Jni<'f>,
    traces: &'l StackTraces,
}

impl<'f> Look<'_, 'f> {
    fn state(&self, waiting: impl Fn() -> Vec<Waiter>) -> Result<MonitorState, JvmtiError> {
        let depth_frames = i32::try_from(self.traces.depth_frames()).unwrap_or(i32::MAX);
        let stacks = self.env.all_stacks(self.jni, depth_frames)?;
        let mut threads = Vec::new();
        let mut found = Found::default();
        let mut awaited = Vec::new();
        for stack in &stacks {
            let Some(id) = self.number(&stack.thread) else {
                continue;
            };
            let owner = self.traces.owner(self.env, self.jni, &stack.thread);
            let trace = self.traces.trace(self.env, self.jni, &stack.frames, owner);
            let state = self.env.thread_state(&stack.thread).unwrap_or_default();
            threads.push(thread_state(id, trace, state));
            self.owned(&stack.thread, &mut found);
            awaited.extend(self.awaited(&stack.thread, state));
        }
        for monitor in awaited {
            self.add(monitor, &mut found);
        }
        for waiter in waiting() {
            self.take_in(waiter, &mut threads, &mut found);
        }
        let monitors = found.monitors.iter();
        let monitors = monitors.filter_map(|monitor| self.row(monitor)).collect();
        Ok(MonitorState { threads, monitors })
    }

    /// Adds a waiting thread that is not listed yet (a virtual one), and its wait for its monitor.
    fn take_in(&self, waiter: Waiter, threads: &mut Vec<text::ThreadState>, found: &mut Found<'f>) {
        let Waiter {
            thread,
            trace,
            activity,
            monitor,
        } = waiter;
        let object = monitor.and_then(|monitor| {
            let object = self.jni.upgrade(&monitor);
            self.jni.forget_shared(monitor);
            object
        });
        let listed = threads.iter().find(|listed| listed.thread == thread);
        // A thread that called `wait` without owning the monitor got an exception at once and does
        // not wait.
        if listed.is_some_and(|listed| listed.activity != activity) {
            object.into_iter().for_each(|it| self.jni.forget(it));
            return;
        }
        if listed.is_none() {
            threads.push(text::ThreadState {
                thread,
                trace,
                activity,
                suspended: false,
                interrupted: false,
                in_native: false,
            });
        }
        let place = object.and_then(|object| self.add(object, found));
        if let Some(monitor) = place.and_then(|place| found.monitors.get_mut(place)) {
            monitor.waiters.push((thread, activity));
        }
    }

    fn number(&self, thread: &Object<'_>) -> Option<ThreadId> {
        let threads = &self.traces.threads;
        threads.number(self.env, self.jni, thread)
    }

    fn owned(&self, thread: &Object<'_>, found: &mut Found<'f>) {
        // A thread that has ended meanwhile owns nothing.
        let monitors = self.env.owned_monitors(self.jni, thread);
        for monitor in monitors.unwrap_or_default() {
            self.add(monitor, found);
        }
    }

    /// The monitor that the thread waits for, if it does.
    fn awaited(&self, thread: &Object<'_>, state: ThreadState) -> Option<Object<'f>> {
        let waits = [
            ThreadState::BLOCKED_ON_MONITOR_ENTER,
            ThreadState::IN_OBJECT_WAIT,
        ];
        if !waits.iter().any(|&one| state.has(one)) {
            return None;
        }
        self.env.contended_monitor(self.jni, thread).ok().flatten()
    }

    /// The index of the monitor among those found.
    fn add(&self, monitor: Object<'f>, found: &mut Found<'f>) -> Option<usize> {
        match self.traces.class_of(self.env, self.jni, &monitor) {
            Some(class) => Some(found.add(self.jni, monitor, class)),
            None => {
                self.jni.forget(monitor);
                None
            }
        }
    }

    /// `None` if the monitor has neither an owner nor waiting threads any more.
    fn row(&self, monitor: &FoundMonitor<'_>) -> Option<MonitorRow> {
        let usage = self.env.monitor_usage(self.jni, &monitor.object).ok()?;
        let MonitorUsage {
            owner,
            entry_count,
            waiters,
            notify_waiters,
        } = usage;
        let owner = owner.and_then(|thread| self.numbers(vec![thread]).pop());
        let mut waiting_to_be_notified = self.numbers(notify_waiters);
        let mut waiting_to_enter = self.numbers(waiters);
        // Before JDK 23 HotSpot also counts these as waiting to enter.
        waiting_to_enter.retain(|waiter| !waiting_to_be_notified.contains(waiter));
        for &(thread, activity) in &monitor.waiters {
            let (thread, lists) = (Some(thread), [&waiting_to_enter, &waiting_to_be_notified]);
            if lists.iter().any(|list| list.contains(&thread)) || owner == Some(thread) {
                continue;
            }
            match activity {
                Activity::Entering => waiting_to_enter.push(thread),
                _ => waiting_to_be_notified.push(thread),
            }
        }
        // Since JDK 23 the JVM does not name an owner that is a virtual thread. But if threads wait
        // to enter, there is one.
        let owner = owner.or((!waiting_to_enter.is_empty()).then_some(None));
        if owner.is_none() && waiting_to_be_notified.is_empty() {
            return None;
        }
        let owner = owner.map(|thread| Owner {
            thread,
            entry_count,
        });
        Some(MonitorRow {
            class: monitor.class,
            owner,
            waiting_to_enter,
            waiting_to_be_notified,
        })
    }

    /// The numbers of threads. Releases the references.
    fn numbers(&self, threads: Vec<Object<'f>>) -> Vec<Option<ThreadId>> {
        threads
            .into_iter()
            .map(|thread| {
                let number = self.number(&thread);
                self.jni.forget(thread);
                number
            })
            .collect()
    }
}

struct FoundMonitor<'f> {
    object: Object<'f>,
    class: ClassId,
    /// The threads that wait for it according to the events.
    waiters: Vec<(ThreadId, Activity)>,
}

/// Monitors, each once, in the order in which they were found.
#[derive(Default)]
struct Found<'f> {
    monitors: Vec<FoundMonitor<'f>>,
    by_class: HashMap<ClassId, Vec<usize>>,
}

impl<'f> Found<'f> {
    /// The monitor's index. Adds the monitor if it is new.
    fn add(&mut self, jni: &Jni<'f>, object: Object<'f>, class: ClassId) -> usize {
        let places = self.by_class.entry(class).or_default();
        let known = places.iter().copied().find(|&place| {
            let known = self.monitors.get(place);
            known.is_some_and(|known| jni.is_same(&known.object, &object))
        });
        if let Some(place) = known {
            jni.forget(object);
            return place;
        }
        let place = self.monitors.len();
        places.push(place);
        self.monitors.push(FoundMonitor {
            object,
            class,
            waiters: Vec::new(),
        });
        place
    }
}

fn thread_state(thread: ThreadId, trace: TraceId, state: ThreadState) -> text::ThreadState {
    text::ThreadState {
        thread,
        trace,
        activity: activity(state),
        suspended: state.has(ThreadState::SUSPENDED),
        interrupted: state.has(ThreadState::INTERRUPTED),
        in_native: state.has(ThreadState::IN_NATIVE),
    }
}

/// The activity that a thread's state bits describe.
fn activity(state: ThreadState) -> Activity {
    let activities = [
        (ThreadState::TERMINATED, Activity::Ended),
        (ThreadState::SLEEPING, Activity::Sleeping),
        (ThreadState::BLOCKED_ON_MONITOR_ENTER, Activity::Entering),
        (ThreadState::WAITING, Activity::Waiting),
        (ThreadState::RUNNABLE, Activity::Runnable),
    ];
    let first = activities.iter().find(|(bit, _)| state.has(*bit));
    match first {
        Some(&(_, activity)) => activity,
        None if state.has(ThreadState::ALIVE) => Activity::Unknown,
        None => Activity::NotStarted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_what_java_calls_it() {
        for (bits, expected) in [
            (0, Activity::NotStarted),
            (0x2, Activity::Ended),
            (0x5, Activity::Runnable),
            (0x401, Activity::Entering),
            (0x191, Activity::Waiting),
            (0x1a1, Activity::Waiting),
            (0xe1, Activity::Sleeping),
            (0x291, Activity::Waiting),
            (0x1, Activity::Unknown),
        ] {
            assert_eq!(activity(ThreadState::of_bits(bits)), expected, "{bits:x}");
        }
    }
}
