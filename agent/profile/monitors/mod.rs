//! Monitors: how long threads wait to enter them, by stack and class of the monitor; and calls of
//! `Object.wait`.
//!
//! The stack is taken before the thread waits, because nobody waits for this thread yet. The events
//! of virtual threads need no capability of their own. HPROF has no record for any of it, so
//! reports are text.

mod monitor_state;
pub(crate) mod waits;

use crate::profile::stacks::StackTraces;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::listener::OfMonitor;
use jvm::object::Object;
use jvm::weak::Weak;
use monitor_state::{MonitorState, Waiter};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tables::{ClassId, ThreadId, TraceId};
use text::Activity;
use waits::{WaitEvent, Waits};

/// A place where threads wait to enter monitors: one stack, and one class of monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The stack.
    pub(crate) trace: TraceId,
    /// The class of the monitor's object.
    pub(crate) class: ClassId,
}

/// The waits at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contended {
    /// How often a thread had to wait.
    pub(crate) count: u64,
    /// Their total time in nanoseconds.
    pub(crate) nanos: u64,
}

/// A wait in progress.
#[derive(Clone, Debug)]
struct Wait {
    since: Instant,
    place: Place,
    /// The monitor's object, kept because JVMTI does not report it for every waiting thread. `None`
    /// if there was no memory.
    monitor: Option<Arc<Weak>>,
}

/// A thread's current waits. Two slots, because a thread that was notified must enter the monitor
/// again, which is a separate wait.
#[derive(Debug, Default)]
struct Pending {
    entering: Option<Wait>,
    waiting: Option<Wait>,
}

/// A slot of [`Pending`].
type Slot = fn(&mut Pending) -> &mut Option<Wait>;

const ENTERING: Slot = |pending| &mut pending.entering;
const WAITING: Slot = |pending| &mut pending.waiting;

impl Pending {
    fn is_over(&self) -> bool {
        self.entering.is_none() && self.waiting.is_none()
    }
}

/// The events of monitors since the last report.
#[derive(Debug)]
pub(crate) struct Counted {
    /// The contention by place, in no order.
    pub(crate) contention: Vec<(Place, Contended)>,
    /// The latest calls of `Object.wait`.
    pub(crate) waits: Waits,
}

/// A report's figures on monitors.
#[derive(Debug)]
pub(crate) struct MonitorFigures {
    /// The counts since the last report.
    pub(crate) counted: Counted,
    /// Current owners and waiters; `None` if the JVM did not report them.
    pub(crate) state: Option<MonitorState>,
}

/// Contention and waits of a session.
///
/// A thread's pending waits are stored under its number, so that a virtual thread keeps them on
/// every carrier. Only threads that wait have an entry. Locks are held briefly, never across a call
/// of the JVM.
#[derive(Debug)]
pub(crate) struct Monitors {
    traces: Arc<StackTraces>,
    pending: Mutex<HashMap<ThreadId, Pending>>,
    contention: Mutex<HashMap<Place, Contended>>,
    waits: Mutex<Waits>,
}

impl Monitors {
    /// No waits yet; stacks become rows of `traces`.
    pub(crate) fn new(traces: Arc<StackTraces>) -> Self {
        Self {
            traces,
            pending: Mutex::default(),
            contention: Mutex::default(),
            waits: Mutex::default(),
        }
    }

    /// `MonitorContendedEnter`, on the thread that must wait.
    ///
    /// The stack is taken here and not after entering: it is the same, but here no other thread
    /// waits for this one meanwhile. The time starts before that, when the thread reached the
    /// monitor.
    pub(crate) fn note_enter(&self, env: &Env, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
        let since = Instant::now();
        let Some(thread) = self.traces.threads.number(env, jni, of.thread) else {
            return;
        };
        let Some(class) = self.traces.class_of(env, jni, of.monitor) else {
            return;
        };
        let trace = self.own_trace(env, jni, of.thread);
        let wait = Wait {
            since,
            place: Place { trace, class },
            monitor: jni.weak(of.monitor).map(Arc::new),
        };
        forget(jni, self.begin(thread, ENTERING, wait));
    }

    fn own_trace(&self, env: &Env, jni: &Jni<'_>, thread: &Object<'_>) -> TraceId {
        let owner = self.traces.owner(env, jni, thread);
        let trace = self.traces.of_thread(env, jni, owner);
        trace.unwrap_or(TraceId::EMPTY)
    }

    /// `MonitorContendedEntered`, on the thread that has entered.
    pub(crate) fn note_entered(&self, env: &Env, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
        let now = Instant::now();
        let Some(thread) = self.traces.threads.known_number(env, of.thread) else {
            return;
        };
        forget(jni, self.entered(thread, now));
    }

    /// `MonitorWait`, on the thread that will wait, for at most this many milliseconds; 0 means for
    /// ever.
    ///
    /// HotSpot also reports calls by threads that do not own the monitor. These end at once with an
    /// exception.
    pub(crate) fn note_wait(
        &self,
        env: &Env,
        jni: &Jni<'_>,
        of: &OfMonitor<'_, '_>,
        timeout_millis: u64,
    ) {
        let Some(thread) = self.traces.threads.number(env, jni, of.thread) else {
            return;
        };
        let Some(class) = self.traces.class_of(env, jni, of.monitor) else {
            return;
        };
        self.waits.lock().note(WaitEvent::Wait {
            class,
            timeout_millis,
            thread,
        });
        // For platform threads, a report asks the JVM for the stacks.
        let trace = if self.traces.threads.is_virtual(thread) {
            self.own_trace(env, jni, of.thread)
        } else {
            TraceId::EMPTY
        };
        let wait = Wait {
            since: Instant::now(),
            place: Place { trace, class },
            monitor: jni.weak(of.monitor).map(Arc::new),
        };
        forget(jni, self.begin(thread, WAITING, wait));
    }

    /// `MonitorWaited`, on the thread that has waited.
    pub(crate) fn note_waited(&self, env: &Env, jni: &Jni<'_>, of: &OfMonitor<'_, '_>) {
        let now = Instant::now();
        let Some(thread) = self.traces.threads.known_number(env, of.thread) else {
            return;
        };
        forget(jni, self.waited(thread, now));
    }

    /// Forgets the waits of a thread that has ended.
    pub(crate) fn forget(&self, jni: &Jni<'_>, thread: ThreadId) {
        for slot in [ENTERING, WAITING] {
            forget(jni, self.end(thread, slot));
        }
    }

    /// A report's figures. Counting starts again. On any thread attached to the JVM, in the live
    /// phase.
    pub(crate) fn take(&self, env: &Env, jni: &mut Jni<'_>) -> MonitorFigures {
        let waiting = || self.waiting();
        let state = MonitorState::look(env, jni, &self.traces, waiting);
        let contention = std::mem::take(&mut *self.contention.lock());
        let waits = std::mem::take(&mut *self.waits.lock());
        let counted = Counted {
            contention: contention.into_iter().collect(),
            waits,
        };
        MonitorFigures { counted, state }
    }

    /// Returns the counts of a report that could not be written.
    pub(crate) fn give_back(&self, counted: Counted) {
        for (place, more) in counted.contention {
            self.add(place, more);
        }
        self.waits.lock().give_back(counted.waits);
    }

    /// The threads that wait according to the events. Virtual threads, and threads that wait to
    /// enter, come with their stacks.
    fn waiting(&self) -> Vec<Waiter> {
        let pending = self.pending.lock();
        let mut rows: Vec<Waiter> = pending
            .iter()
            .filter_map(|(&thread, pending)| {
                let entering = pending.entering.as_ref();
                let entering = entering.map(|wait| (wait, Activity::Entering));
                let waiting = pending.waiting.as_ref();
                let (wait, activity) = entering.or(waiting.map(|wait| (wait, Activity::Waiting)))?;
                Some(Waiter {
                    thread,
                    trace: wait.place.trace,
                    activity,
                    monitor: wait.monitor.clone(),
                })
            })
            .collect();
        rows.sort_by_key(|row| row.thread);
        rows
    }

    fn entered(&self, thread: ThreadId, now: Instant) -> Option<Wait> {
        let wait = self.end(thread, ENTERING)?;
        let nanos = nanos(wait.since, now);
        self.add(wait.place, Contended { count: 1, nanos });
        Some(wait)
    }

    fn waited(&self, thread: ThreadId, now: Instant) -> Option<Wait> {
        let wait = self.end(thread, WAITING)?;
        self.waits.lock().note(WaitEvent::Waited {
            class: wait.place.class,
            nanos: nanos(wait.since, now),
            thread,
        });
        Some(wait)
    }

    fn add(&self, place: Place, more: Contended) {
        let mut contention = self.contention.lock();
        let sum = contention.entry(place).or_default();
        sum.count = sum.count.saturating_add(more.count);
        sum.nanos = sum.nanos.saturating_add(more.nanos);
    }

    /// Stores a wait in the thread's slot. Returns the slot's earlier wait if its end was never
    /// reported.
    fn begin(&self, thread: ThreadId, slot: Slot, wait: Wait) -> Option<Wait> {
        let mut all = self.pending.lock();
        slot(all.entry(thread).or_default()).replace(wait)
    }

    /// Empties a slot of the thread. Removes the thread's entry when both slots are empty.
    fn end(&self, thread: ThreadId, slot: Slot) -> Option<Wait> {
        let mut all = self.pending.lock();
        let pending = all.get_mut(&thread)?;
        let was = slot(pending).take();
        if pending.is_over() {
            all.remove(&thread);
        }
        was
    }
}

/// Releases the handle of a finished wait.
fn forget(jni: &Jni<'_>, wait: Option<Wait>) {
    if let Some(monitor) = wait.and_then(|wait| wait.monitor) {
        jni.forget_shared(monitor);
    }
}

fn nanos(since: Instant, now: Instant) -> u64 {
    let time = now.saturating_duration_since(since);
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn monitors() -> Monitors {
        Monitors::new(Arc::new(StackTraces::new(4, true, false)))
    }

    fn thread(number: u32) -> ThreadId {
        ThreadId::new(number).unwrap()
    }

    /// The parts of the event handlers that need no JVM.
    impl Monitors {
        fn begin_at(&self, thread: ThreadId, since: Instant, slot: Slot) -> Place {
            let class = self.traces.class(b"La/Lock;");
            let trace = TraceId::EMPTY;
            let place = Place { trace, class };
            let wait = Wait {
                since,
                place,
                monitor: None,
            };
            self.begin(thread, slot, wait);
            place
        }

        fn contended(&self, place: Place) -> Contended {
            self.contention
                .lock()
                .get(&place)
                .copied()
                .unwrap_or_default()
        }
    }

    #[test]
    fn contention_adds_up_by_place_whoever_waits() {
        let (monitors, start) = (monitors(), Instant::now());
        let mut place = None;
        for number in 1..=3 {
            place = Some(monitors.begin_at(thread(number), start, ENTERING));
        }
        for number in 1..=3 {
            monitors.entered(
                thread(number),
                start + Duration::from_nanos(u64::from(number)),
            );
        }
        let expected = Contended { count: 3, nanos: 6 };
        assert_eq!(monitors.contended(place.unwrap()), expected);
        assert!(monitors.pending.lock().is_empty());
    }

    #[test]
    fn who_must_enter_again_after_a_wait_has_both_times() {
        let (monitors, start) = (monitors(), Instant::now());
        let at = |nanos| start + Duration::from_nanos(nanos);
        monitors.begin_at(thread(1), at(0), WAITING);
        let place = monitors.begin_at(thread(1), at(70), ENTERING);
        monitors.entered(thread(1), at(80));
        monitors.waited(thread(1), at(100));
        assert_eq!(
            monitors.contended(place),
            Contended {
                count: 1,
                nanos: 10
            }
        );
        let waits = std::mem::take(&mut *monitors.waits.lock());
        let expected = WaitEvent::Waited {
            class: place.class,
            nanos: 100,
            thread: thread(1),
        };
        assert_eq!(waits.events().collect::<Vec<_>>(), [&expected]);
        assert!(monitors.pending.lock().is_empty());
    }

    #[test]
    fn an_end_without_a_beginning_is_nothing() {
        let monitors = monitors();
        monitors.entered(thread(1), Instant::now());
        monitors.waited(thread(1), Instant::now());
        assert!(monitors.contention.lock().is_empty());
        assert_eq!(monitors.waits.lock().events().count(), 0);
    }

    #[test]
    fn who_waits_no_more_leaves_nothing_behind() {
        let monitors = monitors();
        monitors.begin_at(thread(1), Instant::now(), WAITING);
        assert_eq!(monitors.waiting().len(), 1);
        monitors.end(thread(1), ENTERING);
        assert_eq!(monitors.waiting().len(), 1);
        monitors.end(thread(1), WAITING);
        assert!(monitors.pending.lock().is_empty());
    }

    #[test]
    fn what_could_not_be_written_is_counted_again() {
        let (monitors, start) = (monitors(), Instant::now());
        let place = monitors.begin_at(thread(1), start, ENTERING);
        monitors.entered(thread(1), start + Duration::from_nanos(5));
        let contention = monitors.contention.lock().drain().collect();
        assert_eq!(monitors.contended(place), Contended::default());
        monitors.begin_at(thread(1), start, ENTERING);
        monitors.entered(thread(1), start + Duration::from_nanos(2));
        monitors.give_back(Counted {
            contention,
            waits: Waits::default(),
        });
        assert_eq!(monitors.contended(place), Contended { count: 2, nanos: 7 });
    }
}
