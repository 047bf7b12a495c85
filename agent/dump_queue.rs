//! The dumps that signals asked for: one after the other, on a thread that lives as long as there are any.

use crate::heap;
use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::session::Session;
use parking_lot::{Condvar, Mutex};

/// Name of the agent's thread in thread dumps and in the heap dump itself.
const THREAD_NAME: &str = "HPROF heap dump";

/// Requests that wait, and whether a thread serves them.
#[derive(Debug, Default)]
struct Waiting {
    requests: u64,
    served: bool,
}

/// Counts requests; the agent's thread takes them. Its lock is never held across a JVM call.
#[derive(Debug, Default)]
pub(crate) struct DumpQueue {
    waiting: Mutex<Waiting>,
    idle: Condvar,
}

impl DumpQueue {
    /// Asks for one dump and returns at once. From a Java thread, in the live phase.
    pub(crate) fn request(&self, session: &'static Session, jni: Jni<'_>) {
        let must_start = {
            let mut waiting = self.waiting.lock();
            waiting.requests += 1;
            !std::mem::replace(&mut waiting.served, true)
        };
        if !must_start {
            return;
        }
        let started = jni.with_frame(|jni| session.env.run_agent_thread(jni, THREAD_NAME, serve));
        if !matches!(started, Some(Ok(()))) {
            say("no thread can be started for the dump: it is made on the thread that serves signals");
            serve(jni);
        }
    }

    /// Takes one request; `false` if there is none left, and the queue is idle then.
    fn take(&self) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.requests == 0 {
            waiting.served = false;
            self.idle.notify_all();
            return false;
        }
        waiting.requests -= 1;
        true
    }

    /// Waits until every request has been served.
    pub(crate) fn wait_until_idle(&self) {
        let mut waiting = self.waiting.lock();
        while waiting.served {
            self.idle.wait(&mut waiting);
        }
    }
}

/// What the agent's thread does: dumps until nobody waits.
fn serve(jni: Jni<'_>) {
    let Some(session) = Session::get() else {
        return;
    };
    while session.dump_queue.take() {
        heap::dump(session.vm, jni, &session.options, Some(&session.census));
    }
}
