//! The gate: counts the callbacks in progress. VM death closes it and waits until all have left.

use crate::ending::{Quiet, LOOK};
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Set in the state once the gate is closed; the other bits count the callbacks inside.
const CLOSED: u64 = 1 << 63;

/// Lets callbacks in until it is closed. One atomic addition to enter, one to leave.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: AtomicU64,
    waiting: Mutex<()>,
    empty: Condvar,
}

/// A callback in progress; leaves when dropped.
#[derive(Debug)]
pub(crate) struct Inside<'g>(&'g Gate);

impl Gate {
    /// Enters; `None` once the gate is closed: the callback then returns at once. Any thread.
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        if self.state.fetch_add(1, Ordering::AcqRel) & CLOSED == 0 {
            return Some(Inside(self));
        }
        self.leave();
        None
    }

    fn leave(&self) {
        if self.state.fetch_sub(1, Ordering::AcqRel) == CLOSED + 1 {
            // Locked so that the closing thread is either before its check or already asleep.
            drop(self.waiting.lock());
            self.empty.notify_all();
        }
    }

    /// Admits no more callbacks, and waits for those in progress. `false` if one stays inside, and
    /// no dump shows life, for `limit`. Must not be called inside a callback.
    pub(crate) fn close(&self, limit: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
        let mut quiet = Quiet::begin();
        while self.state.load(Ordering::Acquire) != CLOSED {
            if quiet.time() >= limit {
                return false;
            }
            self.empty.wait_for(&mut waiting, LOOK);
        }
        true
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Ample; nothing waits this long unless it is stuck.
    const LIMIT: Duration = Duration::from_secs(60);
    #[test]
    fn a_closed_gate_lets_nobody_in() {
        let gate = Gate::default();
        drop(gate.enter().expect("open"));
        assert!(gate.close(LIMIT));
        assert!(gate.enter().is_none());
        assert!(gate.close(LIMIT));
    }

    #[test]
    fn one_who_stays_inside_is_not_waited_for_for_ever() {
        let gate = Gate::default();
        let _inside = gate.enter().expect("open");
        assert!(!gate.close(LOOK));
        assert!(gate.enter().is_none());
    }

    #[test]
    fn closing_waits_for_every_callback() {
        let gate = Gate::default();
        let closed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while let Some(inside) = gate.enter() {
                        assert!(
                            !closed.load(Ordering::SeqCst),
                            "inside after the gate was closed"
                        );
                        drop(inside);
                    }
                });
            }
            std::thread::yield_now();
            assert!(gate.close(LIMIT));
            closed.store(true, Ordering::SeqCst);
        });
    }
}
