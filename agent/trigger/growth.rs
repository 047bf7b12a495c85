//! The growth over time of heap use after collections.
//!
//! Time is divided into windows of the user's length. The least use of a window represents it:
//! garbage that collections have not freed yet does not count. The first window is the start of the
//! application, and is not compared.

use std::time::Duration;

/// The least measurements of a window, however long they take.
const LEAST: u32 = 2;

/// The windows so far.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    percent: u32,
    per: Duration,
    /// Start of the current window, its number of measurements, and their minimum.
    began: Duration,
    count: u32,
    least: u64,
    /// Number of complete windows.
    windows: u32,
    /// The least use of the last complete window.
    before: u64,
}

/// The growth of heap use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grown {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) within: Duration,
}

impl Growth {
    pub(super) fn new(percent: u32, per: Duration) -> Self {
        Self {
            percent,
            per,
            began: Duration::ZERO,
            count: 0,
            least: u64::MAX,
            windows: 0,
            before: 0,
        }
    }

    /// Adds a measurement. Returns `Some` at the end of a window, with the growth since the window
    /// before if it is too large.
    pub(super) fn take(&mut self, at: Duration, used: u64) -> Option<Option<Grown>> {
        self.count = self.count.saturating_add(1);
        self.least = self.least.min(used);
        let within = at.saturating_sub(self.began);
        if within < self.per || self.count < LEAST {
            return None;
        }
        let grown = self.grown(within);
        self.windows = self.windows.saturating_add(1);
        self.before = self.least;
        (self.began, self.count, self.least) = (at, 0, u64::MAX);
        Some(grown)
    }

    fn grown(&self, within: Duration) -> Option<Grown> {
        // The first window is the start of the application.
        if self.windows < 2 {
            return None;
        }
        // A longer window may grow more. Computed in 128 bits, so that no product overflows.
        let allowed = u128::from(self.before) * u128::from(self.percent) * within.as_millis();
        let grown = u128::from(self.least.saturating_sub(self.before));
        let is_over = grown * 100 * self.per.as_millis() > allowed;
        (is_over && grown > 0).then_some(Grown {
            from: self.before,
            to: self.least,
            within,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: u64 = 3600;

    /// The results of windows for measurements every ten minutes.
    fn told(percent: u32, uses: impl IntoIterator<Item = u64>) -> Vec<Option<Grown>> {
        let mut growth = Growth::new(percent, Duration::from_secs(HOUR));
        let uses = uses.into_iter().enumerate();
        uses.filter_map(|(number, used)| {
            growth.take(Duration::from_secs(600 * (number as u64 + 1)), used)
        })
        .collect()
    }

    #[test]
    fn the_start_of_an_application_is_no_growth() {
        let start = (0..6)
            .chain((6..12).map(|_| 1000))
            .chain((0..12).map(|_| 1100));
        assert_eq!(told(20, start), [None; 4]);
    }

    #[test]
    fn a_leak_is_told_at_the_end_of_the_third_window() {
        let leak = (0..24).map(|number| 1000 + 100 * number);
        let found = told(20, leak);
        assert_eq!(found[..2], [None; 2]);
        let grown = found[2].unwrap();
        assert_eq!((grown.from, grown.to), (1600, 2200));
    }

    #[test]
    fn garbage_that_comes_and_goes_is_no_growth() {
        let saw = (0..60).map(|number| 1000 + 500 * (number % 5));
        assert!(told(20, saw).iter().all(Option::is_none));
    }

    #[test]
    fn a_window_without_measurements_waits_for_them() {
        let mut growth = Growth::new(20, Duration::from_secs(HOUR));
        let at = |hours: u64| Duration::from_secs(hours * HOUR);
        assert_eq!(growth.take(at(5), 1000), None);
        assert_eq!(growth.take(at(6), 1000), Some(None));
        assert_eq!(growth.take(at(7), 1000), None);
        assert_eq!(growth.take(at(8), 1000), Some(None));
        // Ten hours allow ten times the growth.
        assert_eq!(growth.take(at(9), 2900), None);
        assert_eq!(growth.take(at(18), 2900), Some(None));
        assert_eq!(growth.take(at(18), 9000), None);
        assert!(growth.take(at(19), 9000).unwrap().is_some());
    }

    proptest! {
        #[test]
        fn use_that_never_grows_is_never_told(
            first in any::<u64>(),
            steps in prop::collection::vec((0u64..1 << 40, any::<u64>()), 0..60),
        ) {
            let mut growth = Growth::new(1, Duration::from_secs(60));
            let (mut at, mut used) = (0u64, first);
            for (later, less) in steps {
                (at, used) = (at.saturating_add(later), used.saturating_sub(less >> 32));
                prop_assert!(growth.take(Duration::from_secs(at), used).flatten().is_none());
            }
        }
    }
}
