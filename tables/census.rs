//! The census: how many threads and classes have come and gone since the start.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that events advance between dumps.
///
/// Lock-free: any thread may call any method at any time, the VM thread in a safepoint included.
/// 64-bit, so nothing wraps. One census lives as long as the agent.
#[derive(Debug, Default)]
pub struct Census {
    threads_started: AtomicU64,
    threads_ended: AtomicU64,
    virtual_threads_started: AtomicU64,
    virtual_threads_ended: AtomicU64,
    classes_loaded: AtomicU64,
    classes_prepared: AtomicU64,
}

/// What a [`Census`] had counted at one moment; each counter is read on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CensusSnapshot {
    /// Platform threads that have started.
    pub threads_started: u64,
    /// Platform threads that have ended.
    pub threads_ended: u64,
    /// Virtual threads that have started.
    pub virtual_threads_started: u64,
    /// Virtual threads that have ended.
    pub virtual_threads_ended: u64,
    /// Classes loaded; arrays and primitive types send no event and are not counted.
    pub classes_loaded: u64,
    /// Classes prepared.
    pub classes_prepared: u64,
}

impl Census {
    /// All counters at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was there before the first event: live platform threads and loaded classes, arrays included.
    pub fn note_found(&self, threads: u64, classes: u64) {
        self.threads_started.fetch_add(threads, Ordering::Relaxed);
        self.classes_loaded.fetch_add(classes, Ordering::Relaxed);
    }

    /// A platform thread has started (JVMTI ThreadStart).
    pub fn note_thread_start(&self) {
        count(&self.threads_started);
    }

    /// A platform thread has ended (JVMTI ThreadEnd).
    pub fn note_thread_end(&self) {
        count(&self.threads_ended);
    }

    /// A virtual thread has started (JVMTI VirtualThreadStart).
    pub fn note_virtual_thread_start(&self) {
        count(&self.virtual_threads_started);
    }

    /// A virtual thread has ended (JVMTI VirtualThreadEnd).
    pub fn note_virtual_thread_end(&self) {
        count(&self.virtual_threads_ended);
    }

    /// A class was loaded (JVMTI ClassLoad).
    pub fn note_class_load(&self) {
        count(&self.classes_loaded);
    }

    /// A class was prepared (JVMTI ClassPrepare).
    pub fn note_class_prepare(&self) {
        count(&self.classes_prepared);
    }

    /// The counters as they are now.
    pub fn snapshot(&self) -> CensusSnapshot {
        CensusSnapshot {
            threads_started: read(&self.threads_started),
            threads_ended: read(&self.threads_ended),
            virtual_threads_started: read(&self.virtual_threads_started),
            virtual_threads_ended: read(&self.virtual_threads_ended),
            classes_loaded: read(&self.classes_loaded),
            classes_prepared: read(&self.classes_prepared),
        }
    }
}

// Relaxed: a counter orders nothing but itself.
fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_threads() {
        let census = Census::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| census.note_class_load()));
            }
        });
        census.note_virtual_thread_end();
        census.note_found(2, 500);
        let seen = census.snapshot();
        assert_eq!(seen.classes_loaded, 4500);
        assert_eq!(seen.virtual_threads_ended, 1);
        assert_eq!(seen.threads_started, 2);
    }
}
