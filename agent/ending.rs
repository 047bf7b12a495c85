//! The JVM's end, and signs of life: how long to wait for a running dump.
//!
//! While the JVM runs, a dump may wait for a slow disk as long as `timeout` allows. Once the JVM is
//! shutting down, its user waits, too. So whatever waits for a dump then gives it up after
//! [`SILENCE_LIMIT`] without a sign of life.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a dump may show no life while something is blocked on it: the JVM's end, or a thread
/// that threw an OutOfMemoryError.
pub(crate) const SILENCE_LIMIT: Duration = Duration::from_secs(10);

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// Time of the last sign of life, in milliseconds since [`since`].
static LAST_SIGN_MS: AtomicU64 = AtomicU64::new(0);

/// Time of the first sign of life.
fn since() -> Instant {
    static SINCE: OnceLock<Instant> = OnceLock::new();
    *SINCE.get_or_init(Instant::now)
}

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
    let now = u64::try_from(since().elapsed().as_millis()).unwrap_or(u64::MAX);
    LAST_SIGN_MS.fetch_max(now, Ordering::Relaxed);
}

/// Time since the last sign of life of any dump.
pub(crate) fn silent_for() -> Duration {
    let last = Duration::from_millis(LAST_SIGN_MS.load(Ordering::Relaxed));
    since().elapsed().saturating_sub(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_ends_the_silence() {
        let before = Instant::now();
        // Dumps of other tests give signs of life, too.
        while silent_for() < Duration::from_millis(5) {
            std::thread::yield_now();
        }
        let silent = silent_for();
        show_life();
        assert!(silent_for() <= silent + before.elapsed());
    }
}
