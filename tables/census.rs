//! The census: how many classes were loaded and how many threads have started.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that events advance between dumps.
///
/// Lock-free: any thread may call any method at any time. 64-bit, so nothing wraps. One census
/// lives as long as the agent.
#[derive(Debug, Default)]
pub struct Census {
    threads_started: AtomicU64,
    classes_loaded: AtomicU64,
}

/// What a [`Census`] had counted at one moment; each counter is read on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CensusSnapshot {
    /// Platform threads that have started.
    pub threads_started: u64,
    /// Classes loaded; arrays and primitive types send no event and are not counted.
    pub classes_loaded: u64,
}

impl Census {
    /// Adds what was there before the first event: live platform threads and loaded classes, arrays
    /// included.
    pub fn note_found(&self, threads: u64, classes: u64) {
        self.threads_started.fetch_add(threads, Ordering::Relaxed);
        self.classes_loaded.fetch_add(classes, Ordering::Relaxed);
    }

    /// A platform thread has started (JVMTI ThreadStart).
    pub fn note_thread_start(&self) {
        self.threads_started.fetch_add(1, Ordering::Relaxed);
    }

    /// A class was loaded (JVMTI ClassLoad).
    pub fn note_class_load(&self) {
        self.classes_loaded.fetch_add(1, Ordering::Relaxed);
    }

    /// The counters as they are now.
    pub fn snapshot(&self) -> CensusSnapshot {
        // Relaxed: a counter orders nothing but itself.
        CensusSnapshot {
            threads_started: self.threads_started.load(Ordering::Relaxed),
            classes_loaded: self.classes_loaded.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_threads() {
        let census = Census::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| census.note_class_load()));
            }
        });
        census.note_thread_start();
        census.note_found(2, 500);
        let seen = census.snapshot();
        assert_eq!(seen.classes_loaded, 4500);
        assert_eq!(seen.threads_started, 3);
    }
}
