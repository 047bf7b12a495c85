//! The class gate: delays threads that have just linked a class, for the moments before a fork.
//!
//! A class that is linked between the catalogue and the fork has objects that the dump cannot
//! explain. An application that loads classes all the time would never be dumped. `ClassPrepare` is
//! called after a class is linked and before it has instances, on the thread that needs it. A
//! thread that waits there is in native code, where it delays no safepoint.

use parking_lot::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Longest time that a thread is delayed, whatever the dump does meanwhile.
const MOST_HELD: Duration = Duration::from_secs(1);

/// The process's class gate.
pub(crate) static CLASS_GATE: ClassGate = ClassGate::new(MOST_HELD);

/// Open, except for moments before a fork.
#[derive(Debug)]
pub(crate) struct ClassGate {
    closed_by: Mutex<Option<ThreadId>>,
    opened: Condvar,
    most_held: Duration,
}

/// Keeps the gate closed until it is dropped.
#[derive(Debug)]
pub(crate) struct ClosedGate<'g>(&'g ClassGate);

impl ClassGate {
    /// An open gate that delays no thread for longer than this.
    const fn new(most_held: Duration) -> Self {
        Self {
            closed_by: Mutex::new(None),
            opened: Condvar::new(),
            most_held,
        }
    }

    /// Closes the gate. The caller must not run Java code until the gate is open again. Only one
    /// dump at a time may close it.
    pub(crate) fn close(&self) -> ClosedGate<'_> {
        *self.closed_by.lock() = Some(thread::current().id());
        ClosedGate(self)
    }

    /// Waits while the gate is closed, for a second at most. `ClassPrepare`, on any thread.
    pub(crate) fn pass(&self) {
        let mut closed_by = self.closed_by.lock();
        if closed_by.is_none() || *closed_by == Some(thread::current().id()) {
            return;
        }
        let until = Instant::now() + self.most_held;
        while closed_by.is_some() {
            if self.opened.wait_until(&mut closed_by, until).timed_out() {
                return;
            }
        }
    }
}

impl Drop for ClosedGate<'_> {
    fn drop(&mut self) {
        *self.0.closed_by.lock() = None;
        self.0.opened.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// A test that waits this long has failed.
    const FOR_EVER: Duration = Duration::from_secs(3600);

    impl ClassGate {
        /// Whether a thread waits at the gate; it is woken for nothing, and waits again.
        pub(crate) fn holds_one(&self) -> bool {
            self.opened.notify_one()
        }
    }

    #[test]
    fn an_open_gate_holds_up_nobody_and_a_closed_one_not_who_closed_it() {
        let gate = ClassGate::new(FOR_EVER);
        gate.pass();
        let closed = gate.close();
        gate.pass();
        drop(closed);
        gate.pass();
    }

    #[test]
    fn a_closed_gate_holds_a_thread_until_it_is_opened() {
        let gate = ClassGate::new(FOR_EVER);
        let closed = gate.close();
        thread::scope(|scope| {
            let (tell, told) = channel();
            let gate = &gate;
            scope.spawn(move || {
                gate.pass();
                tell.send(()).expect("heard");
            });
            // Each successful notification shows that a thread was waiting at the gate. It wakes
            // up, finds the gate closed, and waits again.
            for _ in 0..3 {
                while !gate.holds_one() {
                    assert!(told.try_recv().is_err(), "a closed gate was passed");
                    thread::yield_now();
                }
            }
            assert!(told.try_recv().is_err(), "a closed gate was passed");
            drop(closed);
            told.recv().expect("passed");
        });
    }

    #[test]
    fn a_gate_that_stays_closed_is_passed_in_the_end() {
        let gate = ClassGate::new(Duration::from_millis(1));
        let _closed = gate.close();
        thread::scope(|scope| {
            scope.spawn(|| gate.pass());
        });
    }
}
