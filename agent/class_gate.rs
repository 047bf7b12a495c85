//! The class gate: holds up threads that have just linked a class, for the moments before a fork.
//!
//! A class that is linked between the catalogue and the fork is one whose objects the dump cannot explain. An application
//! that loads classes all the time would never be dumped. `ClassPrepare` comes when a class is linked and before there are
//! objects of it, on the thread that needs it: waiting there, in native code, it holds up no safepoint.

use parking_lot::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Longest time that a thread is held up, whatever the dump does meanwhile.
const MOST_HELD: Duration = Duration::from_secs(1);

/// The one gate of the process.
pub(crate) static CLASS_GATE: ClassGate = ClassGate {
    closed_by: Mutex::new(None),
    opened: Condvar::new(),
};

/// Open but for moments.
#[derive(Debug)]
pub(crate) struct ClassGate {
    closed_by: Mutex<Option<ThreadId>>,
    opened: Condvar,
}

/// Keeps the gate closed until it is dropped.
#[derive(Debug)]
pub(crate) struct ClosedGate<'g>(&'g ClassGate);

impl ClassGate {
    /// Closes the gate. The caller must not run Java code until it is open again; dumps come one after the other.
    pub(crate) fn close(&self) -> ClosedGate<'_> {
        *self.closed_by.lock() = Some(thread::current().id());
        ClosedGate(self)
    }

    /// Waits while the gate is closed, a second at most. `ClassPrepare`, on any thread.
    pub(crate) fn pass(&self) {
        let mut closed_by = self.closed_by.lock();
        if closed_by.is_none() || *closed_by == Some(thread::current().id()) {
            return;
        }
        let until = Instant::now() + MOST_HELD;
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

    fn gate() -> ClassGate {
        ClassGate {
            closed_by: Mutex::new(None),
            opened: Condvar::new(),
        }
    }

    #[test]
    fn an_open_gate_holds_up_nobody_and_a_closed_one_not_who_closed_it() {
        let gate = gate();
        gate.pass();
        let closed = gate.close();
        gate.pass();
        drop(closed);
        gate.pass();
    }

    #[test]
    fn who_waits_passes_when_it_is_opened() {
        let gate = gate();
        let closed = gate.close();
        thread::scope(|scope| {
            let (tell, told) = channel();
            let gate = &gate;
            scope.spawn(move || {
                gate.pass();
                tell.send(()).expect("heard");
            });
            // It may not be at the gate yet: then it finds it open.
            drop(closed);
            told.recv().expect("passed");
        });
    }
}
