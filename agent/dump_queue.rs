//! The dumps requested by signals and OutOfMemoryErrors, made one at a time on an agent thread.
//!
//! Not on the JVM's signal thread: there a dump would delay a SIGTERM.

use crate::agent_threads;
use crate::copied::{self, Step};
use crate::ending::{self, Quiet, Waiting, LOOK};
use crate::message::say;
use crate::thrown::{Thrower, Thrown};
use jvm::env::Env;
use jvm::jni::Jni;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name of the agent's thread in thread dumps and in the heap dump itself.
const THREAD_NAME: &str = "HPROF heap dump";
/// Most requests that wait while a dump is made, so that signals sent in a loop do not delay the
/// JVM's exit.
pub(crate) const MOST_WAITING: u32 = 3;

/// The state of the dump of the first OutOfMemoryError.
#[derive(Debug, Default, PartialEq, Eq)]
enum ErrorDump {
    /// There was no such error.
    #[default]
    None,
    /// It was requested, for this one.
    Wanted(Thrown),
    /// It is to be made next; another one may be in its way.
    Taken,
    /// It is being made.
    Making,
    /// It has all that it needs of the threads, or could not be made.
    Copied,
}

/// The next task of the agent thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A dump for a signal; `turned_away` requests were rejected before it.
    Signal { turned_away: u32 },
    /// The dump of an OutOfMemoryError.
    Error(Thrown),
    /// A dump that a condition has caused, with its words.
    Cause(String),
    /// The dump at the JVM's end.
    Last,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the thread exists.
    served: bool,
    /// Requests that wait.
    waiting: u32,
    /// Requests rejected since the last dump began.
    turned_away: u32,
    /// The dump of an OutOfMemoryError: the first of each thrower has one.
    error: ErrorDump,
    /// Those that have asked for one.
    thrown: Vec<Thrown>,
    /// Whether a thread that threw it could not wait any longer.
    has_gone_on: bool,
    /// Whether the dump has all that it needs of the threads.
    has_copy: bool,
    /// The cause of a dump that waits.
    cause: Option<String>,
    /// Whether a dump is being made.
    dumping: bool,
    /// The JVM is shutting down: finish the waiting requests, then end.
    closed: bool,
    /// Whether there is a dump before that.
    last: bool,
}

impl State {
    fn is_busy(&self) -> bool {
        self.dumping
            || self.waiting > 0
            || self.last
            || self.cause.is_some()
            || matches!(self.error, ErrorDump::Wanted(_))
    }

    /// Whether this error asks for a dump. Not while one is made for another error: it has the
    /// frames of both.
    fn is_new(&self, error: &Thrown) -> bool {
        let mut before = self.thrown.iter();
        matches!(self.error, ErrorDump::None | ErrorDump::Copied)
            && !before.any(|it| it.by == error.by || it.is_like(error))
    }
}

/// Counts requests for the agent thread. Its lock is never held across a JVM call.
#[derive(Debug, Default)]
pub(crate) struct DumpQueue {
    state: Mutex<State>,
    changed: Condvar,
}

impl DumpQueue {
    /// Starts the thread that calls `serve` for each request. At VMInit, before the application
    /// runs, because starting a thread runs Java code that the signal thread could block on.
    ///
    /// `let_go` is called when the dump of an error no longer needs the threads that threw it, and
    /// returns whether they go on now; otherwise they wait until the dump is made.
    pub(crate) fn start(
        &'static self,
        env: &Env,
        jni: &mut Jni<'_>,
        let_go: impl Fn(Thrower) -> bool + Send + Sync + 'static,
        serve: impl Fn(&mut Jni<'_>, &Request) + Send + 'static,
    ) {
        let let_go = Arc::new(let_go);
        let body = move |jni: &mut Jni<'_>| {
            while let Some(request) = self.take() {
                match &request {
                    Request::Error(Thrown { by, .. }) => {
                        let (by, let_go) = (*by, Arc::clone(&let_go));
                        copied::listening(
                            move |step| self.note(step, &|| let_go(by)),
                            || serve(jni, &request),
                        );
                    }
                    _ => serve(jni, &request),
                }
                self.done();
            }
        };
        match agent_threads::start(env, jni, THREAD_NAME, body) {
            Ok(()) => self.state.lock().served = true,
            Err(why) => say(&format!(
                "no thread can be started, so neither SIGQUIT nor an OutOfMemoryError will make a dump: {why}"
            )),
        }
    }

    /// Requests one dump and returns at once. Any thread.
    pub(crate) fn request(&self) {
        let mut state = self.state.lock();
        if state.waiting < MOST_WAITING {
            state.waiting += 1;
            self.changed.notify_all();
        } else {
            state.turned_away += 1;
        }
    }

    /// Requests a dump for this cause, and returns at once. `false` if none will be made.
    pub(crate) fn request_for(&self, cause: String) -> bool {
        let mut state = self.state.lock();
        if !state.served || state.closed {
            return false;
        }
        state.cause = Some(cause);
        self.changed.notify_all();
        true
    }

    /// Requests the dump of an OutOfMemoryError and waits until it has what this thread's frames
    /// hold, but not until it is written, because the heap stays full as long. Returns at once if
    /// it was made before. Any thread except the agent's.
    ///
    /// Other threads that throw meanwhile wait, too, because the second one may have the frames
    /// that hold the leak. A thread that throws may hold a lock that the dump needs. So it
    /// continues if the dump shows no life for [`ending::SILENCE_LIMIT`], or if another dump has
    /// been in the way for so long.
    pub(crate) fn request_for_error(&self, thrown: &Thrown) {
        let mut state = self.state.lock();
        if !state.served {
            return;
        }
        if state.is_new(thrown) {
            state.error = ErrorDump::Wanted(thrown.clone());
            state.thrown.push(thrown.clone());
            (state.has_gone_on, state.has_copy) = (false, false);
            self.changed.notify_all();
            ending::show_life();
        }
        let (mut asked, mut quiet) = (Waiting::begin(), Quiet::begin());
        loop {
            let waited = match state.error {
                ErrorDump::None | ErrorDump::Copied => return,
                ErrorDump::Wanted(_) | ErrorDump::Taken => asked.time(),
                ErrorDump::Making => quiet.time(),
            };
            if waited >= ending::SILENCE_LIMIT {
                state.has_gone_on = true;
                // Before the dump begins, note() says so.
                let is_late = state.error == ErrorDump::Making && !state.has_copy;
                drop(state);
                if is_late {
                    say(&format!(
                        "the dump could not copy the heap for {} s, so the thread that threw the error runs on: the dump may lack what \
                         only its frames hold",
                        ending::SILENCE_LIMIT.as_secs()
                    ));
                }
                return;
            }
            self.changed.wait_for(&mut state, LOOK);
        }
    }

    /// The dump that the agent's thread makes has come to this step.
    fn note(&self, step: Step, let_go: &impl Fn() -> bool) {
        let mut state = self.state.lock();
        match (step, &state.error) {
            (Step::Begins, ErrorDump::Taken) => {
                state.error = ErrorDump::Making;
                let has_gone_on = state.has_gone_on;
                drop(state);
                if has_gone_on {
                    say(&format!(
                        "another dump took longer than {} s, so the threads that threw the error run on: the dump lacks what only \
                         their frames held",
                        ending::SILENCE_LIMIT.as_secs()
                    ));
                }
            }
            (Step::Copied, ErrorDump::Making) => {
                state.has_copy = true;
                // The lock is not held across a call of the JVM.
                drop(state);
                if let_go() {
                    self.state.lock().error = ErrorDump::Copied;
                    self.changed.notify_all();
                }
            }
            _ => {}
        }
    }

    /// Waits for a request and takes it; `None` once the queue is closed and empty.
    fn take(&self) -> Option<Request> {
        let mut state = self.state.lock();
        loop {
            if let ErrorDump::Wanted(thrown) = &state.error {
                let request = Request::Error(thrown.clone());
                (state.error, state.dumping) = (ErrorDump::Taken, true);
                return Some(request);
            }
            if let Some(cause) = state.cause.take() {
                state.dumping = true;
                return Some(Request::Cause(cause));
            }
            if state.waiting > 0 {
                state.waiting -= 1;
                state.dumping = true;
                let turned_away = std::mem::take(&mut state.turned_away);
                return Some(Request::Signal { turned_away });
            }
            if state.closed {
                state.dumping = std::mem::take(&mut state.last);
                return state.dumping.then_some(Request::Last);
            }
            self.changed.wait(&mut state);
        }
    }

    fn done(&self) {
        let mut state = self.state.lock();
        state.dumping = false;
        if matches!(state.error, ErrorDump::Taken | ErrorDump::Making) {
            state.error = ErrorDump::Copied;
        }
        self.changed.notify_all();
    }

    /// Waits until the JVM reports an OutOfMemoryError, if it has not done so before. At the JVM's
    /// end.
    pub(crate) fn await_error(&self, limit: Duration) {
        let began = Instant::now();
        let mut state = self.state.lock();
        while state.served && !state.thrown.iter().any(|it| it.by == Thrower::Jvm) {
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                return;
            }
            self.changed.wait_for(&mut state, left);
        }
    }

    /// Whether there is a thread that makes the dumps.
    pub(crate) fn is_served(&self) -> bool {
        self.state.lock().served
    }

    /// Waits until all requests are done, with one more for the `last` dump, and ends the thread.
    /// Called at the JVM's end. `false` if a dump shows no life for `limit`: it may be in a call
    /// that the JVM does not answer any more.
    pub(crate) fn close(&self, limit: Duration, last: bool) -> bool {
        let mut state = self.state.lock();
        (state.closed, state.last) = (true, last);
        self.changed.notify_all();
        let mut quiet = Quiet::begin();
        while state.served && state.is_busy() {
            if quiet.time() >= limit {
                return false;
            }
            self.changed.wait_for(&mut state, LOOK);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::java_errors::JavaError;
    use jvm::event::ResourceKind;

    /// Ample; nothing waits this long unless it is stuck.
    const LIMIT: Duration = Duration::from_secs(60);

    fn heap() -> Thrown {
        Thrown::by_jvm(ResourceKind::Heap, "Java heap space")
    }

    #[test]
    fn requests_wait_up_to_a_bound() {
        let queue = DumpQueue::default();
        for _ in 0..5 {
            queue.request();
        }
        let signal = |turned_away| Some(Request::Signal { turned_away });
        assert_eq!(queue.take(), signal(2));
        queue.done();
        assert!(queue.close(LIMIT, true), "nobody serves it");
        assert_eq!(queue.take(), signal(0));
        assert_eq!(queue.take(), signal(0));
        assert_eq!(queue.take(), Some(Request::Last));
        queue.done();
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn closing_waits_for_the_dump_under_way() {
        let queue = DumpQueue::default();
        queue.state.lock().served = true;
        queue.request();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while queue.take().is_some() {
                    queue.done();
                }
            });
            assert!(queue.close(LIMIT, true));
            let state = queue.state.lock();
            assert!(state.waiting == 0 && !state.dumping && !state.last);
        });
    }

    #[test]
    fn a_dump_in_a_call_that_is_not_answered_is_given_up() {
        let queue = DumpQueue::default();
        queue.state.lock().served = true;
        queue.request();
        assert!(queue.take().is_some());
        assert!(!queue.close(LOOK, true));
    }

    #[test]
    fn an_error_that_the_jvm_tells_of_late_is_awaited() {
        let queue = DumpQueue::default();
        queue.await_error(Duration::from_secs(60));
        queue.state.lock().served = true;
        queue.await_error(Duration::ZERO);
        std::thread::scope(|scope| {
            let end = scope.spawn(|| queue.await_error(Duration::from_secs(60)));
            scope.spawn(|| queue.request_for_error(&heap()));
            end.join().expect("no panic");
            assert_eq!(queue.take(), Some(Request::Error(heap())));
            queue.done();
        });
        queue.await_error(Duration::from_secs(60));
    }

    #[test]
    fn the_first_error_comes_first_and_is_waited_for() {
        let queue = DumpQueue::default();
        queue.state.lock().served = true;
        queue.request();
        std::thread::scope(|scope| {
            let thrower = scope.spawn(|| queue.request_for_error(&heap()));
            while queue.state.lock().error == ErrorDump::None {
                std::thread::yield_now();
            }
            assert_eq!(queue.take(), Some(Request::Error(heap())));
            let second = scope.spawn(|| queue.request_for_error(&heap()));
            assert!(!thrower.is_finished(), "its frames belong in the dump");
            assert!(!second.is_finished(), "so do those of the next one");
            queue.done();
        });
        // Nothing waits for a second one.
        queue.request_for_error(&heap());
        assert_eq!(queue.take(), Some(Request::Signal { turned_away: 0 }));
    }

    #[test]
    fn threads_that_threw_go_on_when_the_dump_has_their_frames() {
        let queue = DumpQueue::default();
        queue.state.lock().served = true;
        std::thread::scope(|scope| {
            let throw = || queue.request_for_error(&heap());
            let thrower = scope.spawn(throw);
            while queue.state.lock().error == ErrorDump::None {
                std::thread::yield_now();
            }
            assert!(matches!(queue.take(), Some(Request::Error(_))));
            queue.note(Step::Begins, &|| true);
            queue.note(Step::Copied, &|| false);
            assert!(!thrower.is_finished(), "with oom=exit it must not go on");
            queue.note(Step::Copied, &|| true);
            thrower.join().expect("no panic");
            assert!(queue.state.lock().dumping, "the file is not yet there");
        });
    }

    #[test]
    fn each_thrower_has_one_dump_and_one_error_is_not_told_twice() {
        let java = |message: &str| {
            Thrown::by_java(&JavaError {
                class: "java.lang.OutOfMemoryError".to_owned(),
                message: Some(message.to_owned()),
            })
        };
        let threads = Thrown::by_jvm(ResourceKind::Threads, "no thread");
        let mut state = State::default();
        for (error, is_new) in [
            (threads, true),
            (java("no thread"), false),
            (heap(), false),
            (java("Direct buffer memory"), true),
            (java("Map failed"), false),
        ] {
            assert_eq!(state.is_new(&error), is_new, "{error:?}");
            if is_new {
                state.error = ErrorDump::Making;
                assert!(!state.is_new(&java("meanwhile")) && !state.is_new(&heap()));
                state.error = ErrorDump::Copied;
                state.thrown.push(error);
            }
        }
    }

    #[test]
    fn an_error_that_nobody_serves_is_not_waited_for() {
        let queue = DumpQueue::default();
        queue.request_for_error(&heap());
        assert_eq!(queue.state.lock().error, ErrorDump::None);
    }
}
