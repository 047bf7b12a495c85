//! How busy the other threads of this process are.

use super::cpu_clock::clock_nanos;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The kernel counts a thread's time when it leaves its processor, or at its next tick.
const LEAST: Duration = Duration::from_millis(10);

/// The processor time of all threads but the calling one, from now on.
#[derive(Clone, Copy, Debug)]
pub struct OthersTime {
    began: Instant,
    at_begin: Duration,
}

impl OthersTime {
    /// Begins to measure.
    pub fn begin() -> Self {
        Self {
            began: Instant::now(),
            at_begin: others_time(),
        }
    }

    /// The processor time that they have taken since the beginning, as a part of the time that has
    /// passed: 2.0 if two processors were busy. Waits until 10 ms have passed.
    pub fn processors(self) -> f64 {
        sleep(LEAST.saturating_sub(self.began.elapsed()));
        let taken = others_time().saturating_sub(self.at_begin);
        taken.as_secs_f64() / self.began.elapsed().as_secs_f64()
    }
}

fn others_time() -> Duration {
    process_time().saturating_sub(thread_time())
}

/// The processor time of all threads of this process. That of a forked copy begins with 0.
pub fn process_time() -> Duration {
    time(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// The processor time of the calling thread.
pub fn thread_time() -> Duration {
    time(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn time(clock: libc::clockid_t) -> Duration {
    Duration::from_nanos(clock_nanos(clock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn another_thread_that_works_is_seen() {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let begun = OthersTime::begin();
            // On a busy machine the thread may get little time, but some.
            while begun.processors() < 0.01 {}
            is_over.store(true, Ordering::Relaxed);
        });
    }
}
