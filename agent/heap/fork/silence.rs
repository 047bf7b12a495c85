//! Silence: notices that HotSpot has stopped calling back, because its walk has ended or is stuck.
//!
//! Nothing reports the end of HotSpot's walk in the child. And another thread may have held one of
//! HotSpot's locks at the fork (a compiler the chunk pool's; seen once in twenty dumps on 11). Then
//! the walk waits for ever.

use super::own_thread::start_own;
use jvm::os::threads;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two checks.
const LOOK: Duration = Duration::from_millis(50);
/// If HotSpot's thread is asleep at this many checks without a callback in between, no callback
/// will come.
const LOOKS: u32 = 6;

/// Counts callbacks, admits one at a time, and admits none after the end.
#[derive(Debug, Default)]
pub(super) struct Silence {
    callbacks: Mutex<u64>,
}

impl Silence {
    /// Begins a callback, which lasts as long as the returned guard. After the end it blocks for
    /// ever.
    pub(super) fn interrupt(&self) -> MutexGuard<'_, u64> {
        let mut callbacks = self.lock();
        *callbacks = callbacks.wrapping_add(1);
        callbacks
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.callbacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread that waits until the calling thread has fallen asleep outside a callback.
    /// Then it locks callbacks out, and calls `end` with `value` and whether HotSpot waits for a
    /// lock.
    ///
    /// The error is the system's, if the thread cannot be started.
    pub(super) fn listen(
        self: &Arc<Self>,
        value: usize,
        end: fn(usize, bool) -> !,
    ) -> io::Result<()> {
        let silence = Arc::clone(self);
        let caller = threads::this_thread();
        let work = move || {
            let (mut heard, mut looks) = (0, 0);
            loop {
                thread::sleep(LOOK);
                let callbacks = silence.lock();
                let is_silent = *callbacks == heard && threads::is_asleep(caller);
                looks = if is_silent { looks + 1 } else { 0 };
                heard = *callbacks;
                if looks >= LOOKS {
                    end(value, threads::waits_for_lock(caller));
                }
            }
        };
        start_own("hprof silence", Box::new(work))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::UnsafeCell;
    use std::sync::mpsc::channel;

    /// A lock of the C library's, as HotSpot's are.
    struct Lock(UnsafeCell<libc::pthread_mutex_t>);

    // SAFETY: a mutex may be shared between threads.
    unsafe impl Sync for Lock {}

    fn wait_until_asleep(thread: libc::pid_t) {
        while !threads::is_asleep(thread) {
            thread::yield_now();
        }
    }

    #[test]
    fn who_waits_for_a_lock_is_told_from_who_waits_for_an_event() {
        let lock = Lock(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        let (lock, event) = (&lock, channel::<()>());
        let (told, id) = channel();
        // SAFETY: an initialised mutex; the thread that locks it unlocks it.
        unsafe { libc::pthread_mutex_lock(lock.0.get()) };
        thread::scope(|scope| {
            let tell = told.clone();
            scope.spawn(move || {
                tell.send(threads::this_thread()).expect("heard");
                // SAFETY: an initialised mutex, which this thread locks and unlocks.
                unsafe {
                    libc::pthread_mutex_lock(lock.0.get());
                    libc::pthread_mutex_unlock(lock.0.get());
                }
            });
            let waiting = id.recv().expect("a thread");
            wait_until_asleep(waiting);
            assert!(threads::waits_for_lock(waiting));
            // SAFETY: an initialised mutex that this thread has locked.
            unsafe { libc::pthread_mutex_unlock(lock.0.get()) };

            let (wake, sleep) = event;
            scope.spawn(move || {
                told.send(threads::this_thread()).expect("heard");
                sleep.recv()
            });
            let waiting = id.recv().expect("a thread");
            wait_until_asleep(waiting);
            assert!(!threads::waits_for_lock(waiting));
            wake.send(()).expect("heard");
        });
        assert!(!threads::is_asleep(threads::this_thread()));
    }
}
