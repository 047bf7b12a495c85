//! A POSIX semaphore, with which a signal handler may wake a thread.

use std::cell::UnsafeCell;

/// Counts posts. A wait takes one, or sleeps until there is one.
pub struct Semaphore(Box<UnsafeCell<libc::sem_t>>);

// SAFETY: semaphores may be shared between threads, and the memory does not move.
unsafe impl Send for Semaphore {}
// SAFETY: semaphores may be shared between threads, and the memory does not move.
unsafe impl Sync for Semaphore {}

impl std::fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Semaphore")
    }
}

impl Default for Semaphore {
    fn default() -> Self {
        // SAFETY: `sem_init` accepts any memory; a count of 0 within one process is always valid.
        unsafe {
            let semaphore = Self(Box::new(std::mem::zeroed()));
            libc::sem_init(semaphore.0.get(), 0, 0);
            semaphore
        }
    }
}

impl Semaphore {
    /// Adds one. Async-signal-safe (signal-safety(7)).
    pub fn post(&self) {
        // SAFETY: made by `default`. It fails only after two thousand million posts without a wait,
        // when further ones do not matter.
        unsafe { libc::sem_post(self.0.get()) };
    }

    /// Takes one, or sleeps until there is one; may return early.
    pub fn wait(&self) {
        // SAFETY: made by `default`. A signal ends the wait early.
        unsafe { libc::sem_wait(self.0.get()) };
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: made by `default`; at the drop nothing else uses it.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_post_wakes_who_waits() {
        let (there, back) = (Semaphore::default(), Semaphore::default());
        let seen = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                there.wait();
                seen.store(1, Ordering::SeqCst);
                back.post();
            });
            there.post();
            back.wait();
            assert_eq!(seen.load(Ordering::SeqCst), 1);
        });
    }
}
