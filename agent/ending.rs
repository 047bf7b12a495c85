//! The JVM's end, and signs of life: how long to wait for a running dump.
//!
//! While the JVM runs, a dump may wait for a slow disk as long as `timeout` allows. Once the JVM is
//! shutting down, its user waits, too. So a forked copy or HotSpot's dumper is then given up after
//! [`SILENCE_LIMIT`] without a sign of life. What comes before the fork shows none for longer, so
//! `VMDeath` waits for `timeout` then.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a dump may show no life while something is blocked on it: the JVM's end, or a thread
/// that threw an OutOfMemoryError.
pub(crate) const SILENCE_LIMIT: Duration = Duration::from_secs(10);
/// Time between two looks of who waits.
pub(crate) const LOOK: Duration = Duration::from_millis(250);
/// Most time that counts between two looks. In the rest, this process did not run.
const MOST_LOOK: Duration = Duration::from_secs(1);

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// The number of signs of life.
static SIGNS: AtomicU64 = AtomicU64::new(0);
/// Their number when the running dump was given up: another sign withdraws that.
static GIVEN_UP_AT: AtomicU64 = AtomicU64::new(u64::MAX);

/// The JVM is shutting down. Any thread.
pub(crate) fn begin() {
    HAS_BEGUN.store(true, Ordering::Release);
    show_life();
}

/// Whether the JVM is shutting down.
pub(crate) fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::Acquire)
}

/// Shows that the running dump makes progress. Any thread, including callbacks of a heap walk.
pub(crate) fn show_life() {
    SIGNS.fetch_add(1, Ordering::Relaxed);
}

/// Ends the wait of all who wait for the running dump, whatever their limits, unless it shows life
/// again. Any thread, once the JVM is shutting down.
pub(crate) fn give_up() {
    GIVEN_UP_AT.store(SIGNS.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// The time of one who waits, by regular looks. While the process is frozen (a container that is
/// paused), nothing can happen, so that time does not count.
#[derive(Debug)]
pub(crate) struct Waiting {
    looked: Instant,
    waited: Duration,
}

impl Waiting {
    /// Begins now.
    pub(crate) fn begin() -> Self {
        Self {
            looked: Instant::now(),
            waited: Duration::ZERO,
        }
    }

    /// The time up to now.
    pub(crate) fn time(&mut self) -> Duration {
        let now = Instant::now();
        self.waited += (now - self.looked).min(MOST_LOOK);
        self.looked = now;
        self.waited
    }
}

/// The silence of the running dump, as one who waits for it hears it.
#[derive(Debug)]
pub(crate) struct Quiet {
    signs: u64,
    waiting: Waiting,
}

impl Quiet {
    /// Begins now.
    pub(crate) fn begin() -> Self {
        Self {
            signs: SIGNS.load(Ordering::Relaxed),
            waiting: Waiting::begin(),
        }
    }

    /// The time since the last sign of life of any dump; endless if the running one is given up.
    pub(crate) fn time(&mut self) -> Duration {
        if GIVEN_UP_AT.load(Ordering::Relaxed) == SIGNS.load(Ordering::Relaxed) {
            return Duration::MAX;
        }
        if self.signs != SIGNS.load(Ordering::Relaxed) {
            *self = Self::begin();
        }
        self.waiting.time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_ends_the_silence() {
        let mut quiet = Quiet::begin();
        quiet.waiting.waited = SILENCE_LIMIT;
        show_life();
        assert!(quiet.time() < SILENCE_LIMIT);
    }

    #[test]
    fn time_in_which_the_process_was_frozen_does_not_count() {
        let mut waiting = Waiting::begin();
        waiting.looked -= 60 * MOST_LOOK;
        assert_eq!(waiting.time(), MOST_LOOK);
        waiting.looked -= LOOK;
        assert!(waiting.time() >= MOST_LOOK + LOOK);
    }
}
