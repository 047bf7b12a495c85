//! The turn: which of several senders may deliver now.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A turn that one sender has at a time. For any thread.
///
/// Uses only the standard library's primitives, so it works in a forked child, too.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

impl Turn {
    /// Takes the turn; waits while another sender has it.
    pub(crate) fn take(&self) {
        let mut taken = self.lock();
        while *taken {
            taken = self
                .free
                .wait(taken)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
    }

    /// Returns the turn; only for the sender that has it.
    pub(crate) fn give_back(&self) {
        *self.lock() = false;
        self.free.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // A flag is consistent whenever its lock is free, whatever happened to the last thread.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    #[test]
    fn one_at_a_time() {
        let turn = Turn::default();
        let inside = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        turn.take();
                        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
                        inside.fetch_sub(1, Ordering::Relaxed);
                        turn.give_back();
                    }
                });
            }
        });
    }
}
