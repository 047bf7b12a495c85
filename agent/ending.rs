//! The JVM's end, and signs of life: what bounds the waiting for a dump under way.
//!
//! While the JVM runs, a dump may wait for a slow disk as long as `timeout` says. Once the JVM ends, its user waits, too: whoever
//! waits for a dump then gives it up when it shows no life for [`SILENCE_LIMIT`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a dump may show no life while somebody waits for it who cannot go on without: the JVM's end, or a thread that threw an
/// OutOfMemoryError.
pub(crate) const SILENCE_LIMIT: Duration = Duration::from_secs(10);

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// When the last sign was shown: milliseconds since [`since`].
static LAST_SIGN_MS: AtomicU64 = AtomicU64::new(0);

/// When the first sign was shown.
fn since() -> Instant {
    static SINCE: OnceLock<Instant> = OnceLock::new();
    *SINCE.get_or_init(Instant::now)
}

/// The JVM ends. Any thread.
pub(crate) fn begin() {
    HAS_BEGUN.store(true, Ordering::Release);
    show_life();
}

/// Whether the JVM ends.
pub(crate) fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::Acquire)
}

/// Notes that the dump under way goes on. Any thread, callbacks of a heap walk included.
pub(crate) fn show_life() {
    let now = u64::try_from(since().elapsed().as_millis()).unwrap_or(u64::MAX);
    LAST_SIGN_MS.fetch_max(now, Ordering::Relaxed);
}

/// How long no dump has shown life.
pub(crate) fn silent_for() -> Duration {
    let last = Duration::from_millis(LAST_SIGN_MS.load(Ordering::Relaxed));
    since().elapsed().saturating_sub(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_ends_the_silence() {
        show_life();
        let before = Instant::now();
        while before.elapsed() < Duration::from_millis(5) {
            std::thread::yield_now();
        }
        let silent = silent_for();
        show_life();
        assert!(silent >= Duration::from_millis(4), "{silent:?}");
        assert!(silent_for() <= silent + before.elapsed());
    }
}
