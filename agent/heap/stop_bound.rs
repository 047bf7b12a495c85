//! How long a dump may stop the application (`maxpause=`), and how long each way is expected to.
//!
//! Estimates are on the safe side of what was measured (docs/benchmarks.md). HotSpot cannot be told
//! to stop its own dumper, so for that way there is the estimate only. A fork is given up when
//! HotSpot's walk over the stacks, which comes before it and whose length nobody can foresee, has
//! taken too much of the time.

use super::error::DumpError;
use headroom::number_after;
use std::fs::read_to_string;
use std::time::{Duration, Instant};

/// Bytes of heap that HotSpot's dumper writes per second if objects are small.
const DUMPED_BYTES_PER_SECOND: u64 = 100_000_000;
/// What the kernel takes to copy the table entry of a page.
const FOR_A_PAGE: Duration = Duration::from_nanos(100);
/// What one processor takes to copy a mebibyte of the heap.
const FOR_A_MEBIBYTE: Duration = Duration::from_micros(110);
/// Processes are made no faster than this.
const LEAST: Duration = Duration::from_millis(1);
/// What the scans for written pages take for a page of an image.
const FOR_A_SCAN: Duration = Duration::from_nanos(40);
const PAGE_KIB: u64 = 4;
const HUGE_PAGE_KIB: u64 = 2048;

/// The longest stop that the user allows; `None` without `maxpause=`.
#[derive(Clone, Copy, Debug)]
pub(super) struct StopBound(pub(super) Option<Duration>);

impl StopBound {
    /// Until when HotSpot's walk must have reached its first callback, if the stop begins now;
    /// `paused` is what the attempts before have taken, `copied_bytes` are what is copied before
    /// the fork, `unforked_bytes` what it need not copy, `scanned_bytes` what is searched for
    /// writes. `None` without a bound. An error if even
    /// the fork alone would take too long.
    pub(super) fn fork_until(
        self,
        paused: Duration,
        copied_bytes: u64,
        unforked_bytes: u64,
        scanned_bytes: u64,
    ) -> Result<Option<Instant>, DumpError> {
        let Some(limit) = self.0 else {
            return Ok(None);
        };
        let pages = u32::try_from(scanned_bytes >> 12).unwrap_or(u32::MAX);
        let estimate = fork_estimate(&memory(), unforked_bytes)
            + FOR_A_SCAN.saturating_mul(pages)
            + FOR_A_MEBIBYTE * mebibytes(copied_bytes);
        let left = limit.checked_sub(paused + estimate);
        let left = left.ok_or(DumpError::LongFork {
            estimate,
            paused,
            limit,
        })?;
        Ok(Some(Instant::now() + left))
    }

    /// An error if HotSpot's dumper may stop the application for too long; `estimate` is `None` if
    /// that is not known.
    pub(super) fn allow_dumper(self, estimate: Option<Duration>) -> Result<(), DumpError> {
        match (self.0, estimate) {
            (Some(limit), None) => Err(DumpError::LongDumper { estimate, limit }),
            (Some(limit), Some(some)) if some > limit => {
                Err(DumpError::LongDumper { estimate, limit })
            }
            _ => Ok(()),
        }
    }

    /// The line if a dump has stopped the application for longer than allowed.
    pub(super) fn passed_by(self, pause: Duration) -> Option<String> {
        let limit = self.0.filter(|&limit| pause > limit)?;
        Some(format!(
            "the application was paused for {} ms, longer than maxpause={}: the estimate was too low",
            pause.as_millis(),
            limit.as_millis()
        ))
    }
}

/// How long HotSpot's dumper would stop the application at most, by the bytes of heap in use.
pub(super) fn dumper_estimate(used_bytes: u64) -> Duration {
    Duration::from_secs(used_bytes.div_ceil(DUMPED_BYTES_PER_SECOND))
}

fn mebibytes(bytes: u64) -> u32 {
    u32::try_from(bytes >> 20).unwrap_or(u32::MAX)
}

/// The kernel's figures of this process's memory.
fn memory() -> String {
    let rollup = read_to_string("/proc/self/smaps_rollup");
    // Linux before 4.14 has no such file, and this one knows of no huge pages.
    let known = rollup.or_else(|_| read_to_string("/proc/self/status"));
    known.unwrap_or_default()
}

/// The bytes of this process's memory that are in huge pages.
pub(super) fn huge_bytes() -> u64 {
    number_after(&memory(), "AnonHugePages:").unwrap_or(0) << 10
}

/// How long a fork stops the application, by the number of pages whose table entries it copies:
/// all but these.
fn fork_estimate(memory: &str, unforked_bytes: u64) -> Duration {
    let anonymous = number_after(memory, "Anonymous:").or_else(|| number_after(memory, "RssAnon:"));
    let anonymous = anonymous.unwrap_or(0).saturating_sub(unforked_bytes >> 10);
    let huge = number_after(memory, "AnonHugePages:")
        .unwrap_or(0)
        .min(anonymous);
    let pages = (anonymous - huge) / PAGE_KIB + huge / HUGE_PAGE_KIB;
    LEAST + FOR_A_PAGE.saturating_mul(u32::try_from(pages).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_fork_takes_a_moment_for_each_small_page() {
        let memory = "Rss: 9000000 kB\nAnonymous:       4000000 kB\nAnonHugePages:         0 kB\n";
        assert_eq!(fork_estimate(memory, 0), 101 * MS);
        assert_eq!(fork_estimate(memory, 3_000_000 << 10), 26 * MS);
        let huge = memory.replace("        0", "4000000");
        assert!(fork_estimate(&huge, 0) < 2 * MS);
        assert_eq!(
            fork_estimate("VmRSS: 9 kB\nRssAnon:\t 40000 kB\n", 0),
            2 * MS
        );
        assert_eq!(fork_estimate("", 0), LEAST);
    }

    #[test]
    fn this_process_has_memory() {
        assert!(fork_estimate(&memory(), 0) > LEAST);
    }

    #[test]
    fn without_a_bound_everything_is_allowed() {
        let bound = StopBound(None);
        assert_eq!(bound.fork_until(Duration::MAX, 0, 0, 0), Ok(None));
        assert_eq!(bound.allow_dumper(None), Ok(()));
        assert_eq!(bound.passed_by(Duration::MAX), None);
    }

    #[test]
    fn a_bound_counts_what_earlier_attempts_took() {
        let bound = StopBound(Some(Duration::from_secs(3600)));
        assert!(matches!(
            bound.fork_until(Duration::ZERO, 0, 0, 0),
            Ok(Some(_))
        ));
        let paused = Duration::from_secs(3600);
        let refused = bound.fork_until(paused, 0, 0, 0);
        assert!(
            matches!(refused, Err(DumpError::LongFork { paused: it, .. }) if it == paused),
            "{refused:?}"
        );
    }

    #[test]
    fn the_dumper_is_bounded_by_its_estimate() {
        assert_eq!(dumper_estimate(551_495_290), Duration::from_secs(6));
        let bound = StopBound(Some(Duration::from_secs(6)));
        assert_eq!(bound.allow_dumper(Some(Duration::from_secs(6))), Ok(()));
        for estimate in [None, Some(Duration::from_secs(7))] {
            let limit = Duration::from_secs(6);
            let refused = Err(DumpError::LongDumper { estimate, limit });
            assert_eq!(bound.allow_dumper(estimate), refused);
        }
    }

    #[test]
    fn a_stop_that_was_too_long_is_told() {
        let bound = StopBound(Some(20 * MS));
        assert_eq!(bound.passed_by(20 * MS), None);
        let told = bound.passed_by(31 * MS).expect("a line");
        assert!(told.contains("31 ms, longer than maxpause=20:"), "{told}");
    }
}
