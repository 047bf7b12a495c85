//! The dumps that signals asked for: one after the other, on a thread of the agent's own.

use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::session::Session;
use parking_lot::{Condvar, Mutex};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Name of the agent's thread in thread dumps and in the heap dump itself.
const THREAD_NAME: &str = "HPROF heap dump";
/// Most requests that wait while a dump is made: whoever sends signals in a loop must not hold up the exit.
const MOST_WAITING: u32 = 3;

#[derive(Debug, Default)]
struct State {
    /// The thread is there.
    served: bool,
    /// Requests that nobody has taken.
    waiting: u32,
    /// Requests that were turned away since the last dump began.
    turned_away: u32,
    /// A dump is being made.
    dumping: bool,
    /// The JVM goes down: serve what waits, then end.
    closed: bool,
}

/// Counts requests; the agent's thread takes them. Its lock is never held across a JVM call.
#[derive(Debug, Default)]
pub(crate) struct DumpQueue {
    state: Mutex<State>,
    changed: Condvar,
}

impl DumpQueue {
    /// Starts the thread that serves the queue. At VMInit, before the application runs: starting a thread runs
    /// Java code, for which a signal's thread might have to wait.
    pub(crate) fn start(&self, session: &Session, jni: &mut Jni<'_>) {
        match jni.with_frame(|jni| session.env.run_agent_thread(jni, THREAD_NAME, serve)) {
            Some(Ok(())) => self.state.lock().served = true,
            Some(Err(error)) => say(&format!("no thread can be started, so SIGQUIT will make no dump: {error}")),
            None => say("no thread can be started, so SIGQUIT will make no dump: no memory for local references"),
        }
    }

    /// Asks for one dump and returns at once. Any thread.
    pub(crate) fn request(&self) {
        let mut state = self.state.lock();
        if state.waiting < MOST_WAITING {
            state.waiting += 1;
            self.changed.notify_all();
        } else {
            state.turned_away += 1;
        }
    }

    /// Waits for a request and takes it; `None` once the queue is closed and empty. The answer is how many
    /// requests were turned away.
    fn take(&self) -> Option<u32> {
        let mut state = self.state.lock();
        while state.waiting == 0 {
            if state.closed {
                return None;
            }
            self.changed.wait(&mut state);
        }
        state.waiting -= 1;
        state.dumping = true;
        Some(std::mem::take(&mut state.turned_away))
    }

    fn done(&self) {
        self.state.lock().dumping = false;
        self.changed.notify_all();
    }

    /// Waits until all that was asked for is done, and ends the thread. At VM death.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        self.changed.notify_all();
        while state.served && (state.dumping || state.waiting > 0) {
            self.changed.wait(&mut state);
        }
    }
}

/// What the agent's thread does.
fn serve(jni: &mut Jni<'_>) {
    let Some(session) = Session::get() else {
        return;
    };
    while let Some(turned_away) = session.dump_queue.take() {
        if turned_away > 0 {
            say(&format!("{turned_away} requests for dumps are left out: {MOST_WAITING} were waiting already"));
        }
        // A fault of ours must not leave those waiting who wait for the dump.
        let _ = catch_unwind(AssertUnwindSafe(|| session.dump(jni, &session.options)));
        session.dump_queue.done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_wait_up_to_a_bound() {
        let queue = DumpQueue::default();
        for _ in 0..5 {
            queue.request();
        }
        assert_eq!(queue.take(), Some(2));
        queue.done();
        queue.close();
        assert_eq!(queue.take(), Some(0));
        assert_eq!(queue.take(), Some(0));
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
            queue.close();
            let state = queue.state.lock();
            assert!(state.waiting == 0 && !state.dumping);
        });
    }
}
