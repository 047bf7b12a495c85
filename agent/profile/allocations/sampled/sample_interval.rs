//! Adapts the interval between samples.
//!
//! The JVM needs time to report a sample, whether it is then taken or skipped. So if more are
//! skipped than taken, the JVM is told to choose half as many; after a while without skipped
//! samples, twice as many again.
//!
//! A sample is weighted by the interval that was set at the thread's previous sample, because the
//! JVM chose it then.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between two checks of how many were skipped.
const LOOK: Duration = Duration::from_secs(1);
/// Consecutive checks without skipped samples after which more samples are tried.
const QUIET_LOOKS: u32 = 10;
/// The interval grows to at most 256 times the requested one.
const MOST_DOUBLINGS: u32 = 8;

/// The interval for all threads.
#[derive(Debug)]
pub(crate) struct SampleInterval {
    /// The smallest interval.
    pub(crate) least_bytes: u32,
    bytes: AtomicU32,
    begin: Instant,
    /// Time of the next check, in milliseconds since `begin`.
    look_at_ms: AtomicU64,
    /// Counts since the last check.
    taken: AtomicU32,
    left_out: AtomicU32,
    quiet_looks: AtomicU32,
}

impl SampleInterval {
    /// Starts with `least_bytes` between samples on average, and never goes below.
    pub(crate) fn new(least_bytes: u32) -> Self {
        Self {
            least_bytes,
            bytes: AtomicU32::new(least_bytes),
            begin: Instant::now(),
            look_at_ms: AtomicU64::new(milliseconds(LOOK)),
            taken: AtomicU32::new(0),
            left_out: AtomicU32::new(0),
            quiet_looks: AtomicU32::new(0),
        }
    }

    /// The current interval. The sample that a thread is waiting for was chosen with the interval
    /// at the thread's last sample, or at its start.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The JVM uses this interval from now on.
    pub(crate) fn set(&self, bytes: u32) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Counts a sample. Returns a new interval for the JVM, to one thread once a second, or `None`
    /// to keep the current one.
    pub(crate) fn note(&self, is_taken: bool, now: Instant) -> Option<u32> {
        let counter = if is_taken {
            &self.taken
        } else {
            &self.left_out
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let now_ms = milliseconds(now.saturating_duration_since(self.begin));
        let look_at_ms = self.look_at_ms.load(Ordering::Relaxed);
        if now_ms < look_at_ms {
            return None;
        }
        let next_ms = now_ms + milliseconds(LOOK);
        let is_ours = self.look_at_ms.compare_exchange(
            look_at_ms,
            next_ms,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        is_ours.ok()?;
        self.look()
    }

    fn look(&self) -> Option<u32> {
        let taken = self.taken.swap(0, Ordering::Relaxed);
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        let bytes = self.bytes();
        let quiet_looks = match left_out {
            0 => self.quiet_looks.load(Ordering::Relaxed) + 1,
            _ => 0,
        };
        let is_quiet = quiet_looks >= QUIET_LOOKS;
        let kept = if is_quiet { 0 } else { quiet_looks };
        self.quiet_looks.store(kept, Ordering::Relaxed);
        let wanted = match bytes.checked_mul(2) {
            Some(more) if left_out > taken => more,
            _ if is_quiet => (bytes / 2).max(self.least_bytes),
            _ => bytes,
        };
        let most = self.least_bytes.saturating_mul(1 << MOST_DOUBLINGS);
        let is_possible = wanted <= most && i32::try_from(wanted).is_ok();
        (wanted != bytes && is_possible).then_some(wanted)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the final interval after `seconds` seconds, in each of which this many samples are
    /// taken and skipped.
    fn run(interval: &SampleInterval, from_s: u64, seconds: u64, taken: u32, left_out: u32) -> u32 {
        for second in from_s..from_s + seconds {
            let now = interval.begin + Duration::from_secs(second) + LOOK / 2;
            for number in 0..taken + left_out {
                if let Some(bytes) = interval.note(number < taken, now) {
                    interval.set(bytes);
                }
            }
        }
        interval.bytes()
    }

    #[test]
    fn while_most_are_left_out_fewer_are_chosen() {
        let interval = SampleInterval::new(1000);
        // Each check happens at the first sample of a second and sees the second before. The first
        // check comes after one second.
        assert_eq!(run(&interval, 0, 1, 10, 12), 1000);
        assert_eq!(run(&interval, 1, 1, 10, 12), 2000);
        assert_eq!(run(&interval, 2, 1, 10, 10), 4000);
        assert_eq!(run(&interval, 3, 20, 10, 10), 4000);
        assert_eq!(run(&interval, 23, 50, 1, 99), 256_000);
    }

    #[test]
    fn when_none_was_left_out_for_long_more_are_tried() {
        let interval = SampleInterval::new(1000);
        run(&interval, 0, 3, 1, 9);
        assert_eq!(run(&interval, 3, 1, 9, 0), 8000);
        assert_eq!(run(&interval, 4, 9, 9, 0), 8000);
        assert_eq!(run(&interval, 13, 1, 9, 0), 4000);
        assert_eq!(run(&interval, 14, 99, 9, 0), 1000);
    }

    #[test]
    fn it_is_never_more_than_the_jvm_can_be_told() {
        let most = i32::MAX.unsigned_abs();
        let interval = SampleInterval::new(most / 2);
        assert!(run(&interval, 0, 20, 1, 9) <= most);
        let interval = SampleInterval::new(most);
        assert_eq!(run(&interval, 0, 20, 1, 9), most);
    }
}
