//! Silence: notices that HotSpot calls back no more, because its walk has ended, or because it is stuck.
//!
//! Nothing tells when HotSpot's walk in the child has ended. And a lock of its own may have been held by another thread
//! at the fork (the chunk pool's, by a compiler: seen once in twenty dumps on 11): then it waits for ever.

use super::own_thread::start_own;
use super::process;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// Looks without a callback between them, HotSpot's thread asleep at each, after which there will be none.
const LOOKS: u32 = 6;

/// Counts callbacks, lets one in at a time, and lets none in any more once there will be none.
#[derive(Debug, Default)]
pub(super) struct Silence {
    callbacks: Mutex<u64>,
}

impl Silence {
    /// A callback begins; it lasts as long as the answer lives. After the end it waits for ever.
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

    /// Starts a thread that calls `end` with `value`, and whether HotSpot waits for a lock, when the calling thread has
    /// fallen asleep outside of a callback; callbacks are kept out from then on.
    ///
    /// An error, the system's own, if the thread cannot be started.
    pub(super) fn listen(
        self: &Arc<Self>,
        value: usize,
        end: fn(usize, bool) -> !,
    ) -> io::Result<()> {
        let silence = Arc::clone(self);
        let caller = process::thread_id();
        let work = move || {
            let (mut heard, mut looks) = (0, 0);
            loop {
                thread::sleep(LOOK);
                let callbacks = silence.lock();
                let is_silent = *callbacks == heard && process::is_asleep(caller);
                looks = if is_silent { looks + 1 } else { 0 };
                heard = *callbacks;
                if looks >= LOOKS {
                    end(value, process::waits_for_lock(caller));
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

    // SAFETY: a mutex is made to be shared.
    unsafe impl Sync for Lock {}

    fn wait_until_asleep(thread: libc::pid_t) {
        while !process::is_asleep(thread) {
            thread::yield_now();
        }
    }

    #[test]
    fn who_waits_for_a_lock_is_told_from_who_waits_for_an_event() {
        let lock = Lock(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        let (lock, event) = (&lock, channel::<()>());
        let (told, id) = channel();
        // SAFETY: an initialised mutex, taken and given back by the same threads.
        unsafe { libc::pthread_mutex_lock(lock.0.get()) };
        thread::scope(|scope| {
            let tell = told.clone();
            scope.spawn(move || {
                tell.send(process::thread_id()).expect("heard");
                // SAFETY: as above.
                unsafe {
                    libc::pthread_mutex_lock(lock.0.get());
                    libc::pthread_mutex_unlock(lock.0.get());
                }
            });
            let waiting = id.recv().expect("a thread");
            wait_until_asleep(waiting);
            assert!(process::waits_for_lock(waiting));
            // SAFETY: as above.
            unsafe { libc::pthread_mutex_unlock(lock.0.get()) };

            let (wake, sleep) = event;
            scope.spawn(move || {
                told.send(process::thread_id()).expect("heard");
                sleep.recv()
            });
            let waiting = id.recv().expect("a thread");
            wait_until_asleep(waiting);
            assert!(!process::waits_for_lock(waiting));
            wake.send(()).expect("heard");
        });
        assert!(!process::is_asleep(process::thread_id()));
    }
}
