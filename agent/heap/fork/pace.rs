//! Keeps a dump to its share of a quota of processor time (cgroups). Once a quota is used up, all
//! threads of the application wait for the next period, for up to 100 ms.

use crate::copied;
use crate::order::Order;
use headroom::processor_quota;
use jvm::os::others_time::{process_time, thread_time, OthersTime};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A dump takes this part of the quota, or this part of what the application leaves of it, if that
/// is more.
const LEAST_PART: f64 = 0.25;
const FREE_PART: f64 = 0.5;
/// What was not taken may be taken later, up to so much of the share.
const CREDIT: Duration = Duration::from_millis(10);
/// A shorter rest is not worth its system call.
const LEAST_REST: Duration = Duration::from_millis(2);
/// After a longer rest, somebody may take the thread for hanging.
const MOST_REST: Duration = Duration::from_millis(500);

/// How many processors a dump may take at a time: a number above 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(f64);

impl Share {
    /// The share beside the application, whose use was measured; `None` if there is no quota, or if
    /// all wait for the dump.
    pub(super) fn of(order: &Order<'_>, application: OthersTime) -> Option<Self> {
        if order.is_last || copied::is_awaited() {
            return None;
        }
        let quota = processor_quota().filter(|&quota| quota > 0.0)?;
        let free = quota - application.processors();
        Some(Self((quota * LEAST_PART).max(free * FREE_PART)))
    }
}

/// The pace of the calling thread, or of this process.
#[derive(Debug)]
pub(super) struct Pace {
    share: Share,
    taken: fn() -> Duration,
    /// When it began, and what was taken before; both as if no more than the credit were left.
    since: Mutex<(Instant, Duration)>,
}

impl Pace {
    /// Of the thread that rests.
    pub(super) fn of_thread(share: Share) -> Self {
        Self::of(share, thread_time)
    }

    /// Of all threads of this process.
    pub(super) fn of_process(share: Share) -> Self {
        Self::of(share, process_time)
    }

    fn of(share: Share, taken: fn() -> Duration) -> Self {
        let since = Mutex::new((Instant::now(), taken()));
        Self {
            share,
            taken,
            since,
        }
    }

    /// Lets the calling thread rest until no more than the share was taken. Call it after each few
    /// milliseconds of work, without a lock that somebody else may wait for.
    pub(super) fn rest(&self) {
        let rest = self.due(Instant::now(), (self.taken)());
        if rest > LEAST_REST {
            sleep(rest.min(MOST_REST));
        }
    }

    fn due(&self, now: Instant, taken: Duration) -> Duration {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, before) = *since;
        let due = taken.saturating_sub(before).div_f64(self.share.0);
        let passed = now.duration_since(began);
        if passed > due + CREDIT {
            *since = (now.checked_sub(CREDIT).unwrap_or(now), taken);
        }
        due.saturating_sub(passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_beyond_the_share_is_rested_for() {
        let pace = Pace::of(Share(0.25), Duration::default);
        let (began, _) = *pace.since.lock().expect("no panic");
        let at = |now: u64, taken: u64| {
            let now = began + Duration::from_millis(now);
            pace.due(now, Duration::from_millis(taken)).as_millis()
        };
        assert_eq!(at(10, 10), 30);
        assert_eq!(at(40, 10), 0);
        assert_eq!(at(60, 20), 20);
        // A thread that waited for a second has no second of credit.
        assert_eq!(at(1_080, 20), 0);
        assert_eq!(at(1_090, 30), 20);
    }
}
