//! Evaluates readings, and returns the cause of a dump that is due.
//!
//! A condition that holds causes one dump. It can cause another after it has not held in between.
//! If the dump failed, it is due again after the cooldown.

use super::growth::Growth;
use options::{Condition, Limits};
use std::fmt;
use std::time::Duration;

/// How much of some memory is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// Bytes in use.
    pub(super) used: u64,
    /// The most that there may be: the largest size of the heap, or the limit of the process.
    pub(super) most: u64,
}

/// The measurements at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    /// Time since the start.
    pub(super) at: Duration,
    /// The heap's use after a collection; `None` if there was none since the last reading.
    pub(super) heap: Option<Use>,
    /// The memory of the process; `None` if the system does not report it.
    pub(super) resident: Option<Use>,
}

/// The cause of a dump: `heap>90%x3: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    condition: Condition,
    what: String,
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.condition, self.what)
    }
}

/// A condition and its state.
#[derive(Clone, Debug)]
struct Rule {
    condition: Condition,
    /// The reason why it holds; `None` if it does not.
    holds: Option<String>,
    /// Whether it has caused its dump.
    is_done: bool,
    /// Number of consecutive collections after which too much was in use.
    in_a_row: u32,
    growth: Option<Growth>,
    /// When the timer is due.
    due: Duration,
}

impl Rule {
    fn new(condition: Condition) -> Self {
        let (growth, due) = match condition {
            Condition::Growth { percent, per } => (Some(Growth::new(percent, per)), Duration::ZERO),
            Condition::Every(time) => (None, time),
            _ => (None, Duration::ZERO),
        };
        Self {
            condition,
            holds: None,
            is_done: false,
            in_a_row: 0,
            growth,
            due,
        }
    }

    fn take(&mut self, reading: &Reading) {
        match self.condition {
            // The JVM reports OutOfMemoryErrors; nothing to watch.
            Condition::OutOfMemory => {}
            Condition::Heap { percent, in_a_row } => {
                if let Some(heap) = reading.heap {
                    self.take_heap(heap, percent, in_a_row);
                }
            }
            Condition::Resident { percent } => {
                if let Some(Use { used, most }) = reading.resident {
                    let words = || format!("the process has {} of {} MB", mega(used), mega(most));
                    self.set(is_over(used, most, percent).then(words));
                }
            }
            Condition::Growth { .. } => {
                let heap = reading.heap;
                let growth = self.growth.as_mut();
                let window = growth.and_then(|growth| growth.take(reading.at, heap?.used));
                if let Some(grown) = window {
                    self.set(grown.map(|grown| {
                        format!(
                            "use after collections grew from {} to {} MB in {} s",
                            mega(grown.from),
                            mega(grown.to),
                            grown.within.as_secs()
                        )
                    }));
                }
            }
            Condition::Every(time) => {
                if reading.at >= self.due {
                    // Each time is a cause of its own, and needs its own dump.
                    self.is_done = false;
                    self.holds = Some("the time has come".to_owned());
                }
                while self.due <= reading.at {
                    self.due = self.due.saturating_add(time);
                }
            }
        }
    }

    fn take_heap(&mut self, Use { used, most }: Use, percent: u32, in_a_row: u32) {
        let is_over = is_over(used, most, percent);
        self.in_a_row = if is_over {
            self.in_a_row.saturating_add(1)
        } else {
            0
        };
        let words = || {
            let times = self.in_a_row;
            format!(
                "{} of {} MB in use after a collection, {times} in a row",
                mega(used),
                mega(most)
            )
        };
        let holds = (self.in_a_row >= in_a_row).then(words);
        self.set(holds);
    }

    fn set(&mut self, holds: Option<String>) {
        self.is_done &= holds.is_some();
        self.holds = holds;
    }

    fn is_timer(&self) -> bool {
        matches!(self.condition, Condition::Every(_))
    }
}

fn mega(bytes: u64) -> u64 {
    bytes / 1_000_000
}

fn is_over(used: u64, most: u64, percent: u32) -> bool {
    u128::from(used) * 100 > u128::from(most) * u128::from(percent)
}

/// Watches the conditions.
#[derive(Clone, Debug)]
pub(super) struct Watcher {
    rules: Vec<Rule>,
    limits: Limits,
    attempts: u32,
    rests_until: Duration,
}

impl Watcher {
    /// A watcher for these conditions.
    pub(super) fn new(conditions: &[Condition], limits: Limits) -> Self {
        Self {
            rules: conditions.iter().copied().map(Rule::new).collect(),
            limits,
            attempts: 0,
            rests_until: Duration::ZERO,
        }
    }

    /// Evaluates a reading. Returns the cause of a dump that is due now: make it, then call
    /// [`Watcher::note_dump`].
    pub(super) fn take(&mut self, reading: &Reading) -> Option<Cause> {
        for rule in &mut self.rules {
            rule.take(reading);
        }
        if self.limits.most.is_some_and(|most| self.attempts >= most) {
            return None;
        }
        let rests = reading.at < self.rests_until;
        let due = self
            .rules
            .iter()
            .find(|rule| rule.holds.is_some() && !rule.is_done && (rule.is_timer() || !rests))?;
        Some(Cause {
            condition: due.condition,
            what: due.holds.clone()?,
        })
    }

    /// Records that the dump for this cause has ended; `is_made` if it succeeded.
    pub(super) fn note_dump(&mut self, cause: &Cause, at: Duration, is_made: bool) {
        self.attempts = self.attempts.saturating_add(1);
        for rule in &mut self.rules {
            if rule.condition == cause.condition {
                rule.is_done |= is_made || rule.is_timer();
            }
        }
        self.rest(at);
    }

    /// Records that a dump by request has ended: no other is needed soon.
    pub(super) fn rest(&mut self, at: Duration) {
        self.rests_until = self
            .rests_until
            .max(at.saturating_add(self.limits.cooldown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use options::conditions;
    use proptest::prelude::*;

    const NO_LIMITS: Limits = Limits {
        cooldown: Duration::from_secs(600),
        most: None,
    };

    fn watcher(text: &str) -> Watcher {
        Watcher::new(&conditions(text).unwrap(), NO_LIMITS)
    }

    fn heap(minute: u64, used: u64) -> Reading {
        Reading {
            at: Duration::from_secs(60 * minute),
            heap: Some(Use {
                used,
                most: 100_000_000,
            }),
            resident: None,
        }
    }

    fn resident(minute: u64, used: u64) -> Reading {
        Reading {
            at: Duration::from_secs(60 * minute),
            heap: None,
            resident: Some(Use { used, most: 100 }),
        }
    }

    #[test]
    fn collections_count_in_a_row() {
        let mut watcher = watcher("heap>90%x3");
        let (high, low) = (91_000_000, 90_000_000);
        for used in [high, high, low, high, high] {
            assert_eq!(watcher.take(&heap(0, used)), None);
        }
        // Without a collection nothing changes.
        assert_eq!(watcher.take(&resident(0, 100)), None);
        let cause = watcher.take(&heap(0, high)).unwrap();
        assert_eq!(
            cause.to_string(),
            "heap>90%x3: 91 of 100 MB in use after a collection, 3 in a row"
        );
    }

    #[test]
    fn a_cause_has_one_dump_until_it_was_gone() {
        let mut watcher = watcher("rss>85%");
        assert_eq!(watcher.take(&resident(0, 85)), None);
        let cause = watcher.take(&resident(1, 86)).unwrap();
        watcher.note_dump(&cause, Duration::from_secs(60), true);
        assert_eq!(watcher.take(&resident(100, 99)), None);
        assert_eq!(watcher.take(&resident(101, 50)), None);
        assert_eq!(watcher.take(&resident(102, 86)), Some(cause));
    }

    #[test]
    fn a_dump_that_failed_is_due_again_after_the_rest() {
        let mut watcher = watcher("rss>85%");
        let cause = watcher.take(&resident(0, 90)).unwrap();
        watcher.note_dump(&cause, Duration::ZERO, false);
        assert_eq!(watcher.take(&resident(9, 90)), None);
        assert!(watcher.take(&resident(10, 90)).is_some());
    }

    #[test]
    fn others_rest_after_a_dump_but_a_timer_does_not() {
        let mut watcher = watcher("rss>85%+every=2m");
        watcher.rest(Duration::ZERO);
        assert_eq!(watcher.take(&resident(1, 90)), None);
        let cause = watcher.take(&resident(2, 90)).unwrap();
        assert_eq!(cause.to_string(), "every=2m: the time has come");
        watcher.note_dump(&cause, Duration::from_secs(120), true);
        assert_eq!(watcher.take(&resident(3, 90)), None);
        // Two were missed, one is made.
        let late = watcher.take(&resident(9, 0)).unwrap();
        watcher.note_dump(&late, Duration::from_secs(540), true);
        assert_eq!(watcher.take(&resident(9, 0)), None);
        assert!(watcher.take(&resident(10, 0)).is_some());
    }

    #[test]
    fn a_timer_as_short_as_the_time_between_readings_is_due_at_each() {
        let mut watcher = watcher("every=60s");
        for minute in 1..5 {
            let cause = watcher.take(&resident(minute, 0)).unwrap();
            watcher.note_dump(&cause, Duration::from_secs(60 * minute), minute % 2 == 0);
        }
    }

    #[test]
    fn a_timer_waits_for_the_dump_of_another_cause() {
        let mut watcher = watcher("rss>85%+every=10m");
        let first = watcher.take(&resident(10, 90)).unwrap();
        assert!(first.to_string().starts_with("rss>85%: "));
        watcher.note_dump(&first, Duration::from_secs(600), true);
        let second = watcher.take(&resident(11, 90)).unwrap();
        assert!(second.to_string().starts_with("every=10m: "));
        watcher.note_dump(&second, Duration::from_secs(660), true);
        assert_eq!(watcher.take(&resident(12, 90)), None);
    }

    #[test]
    fn growth_causes_a_dump() {
        let mut watcher = watcher("growth>20%/10m");
        let due = (0..60).find_map(|minute| watcher.take(&heap(minute, (minute + 10) * 1_000_000)));
        let told = due.unwrap().to_string();
        assert!(
            told.starts_with("growth>20%/10m: use after collections grew from "),
            "{told}"
        );
    }

    #[test]
    fn an_out_of_memory_error_is_told_by_others() {
        let mut watcher = watcher("oom");
        assert_eq!(watcher.take(&heap(0, 100_000_000)), None);
    }

    proptest! {
        /// Holds for all readings, whether dumps succeed or not.
        #[test]
        fn dumps_are_bounded_and_rest(
            steps in prop::collection::vec((0u64..400, 0u64..101, any::<bool>()), 0..200),
            most in 0u32..5,
        ) {
            let limits = Limits { cooldown: Duration::from_secs(600), most: Some(most) };
            let found = conditions("heap>50%x2+rss>50%+growth>10%/10m").unwrap();
            let mut watcher = Watcher::new(&found, limits);
            let (mut at, mut ends) = (Duration::ZERO, Vec::new());
            for (seconds, percent, is_made) in steps {
                at += Duration::from_secs(seconds);
                let reading = Reading {
                    at,
                    heap: Some(Use { used: percent, most: 100 }),
                    resident: Some(Use { used: percent, most: 100 }),
                };
                if let Some(cause) = watcher.take(&reading) {
                    prop_assert!(ends.last().is_none_or(|&end| at >= end + limits.cooldown));
                    watcher.note_dump(&cause, at, is_made);
                    ends.push(at);
                }
            }
            prop_assert!(ends.len() <= most as usize);
        }
    }
}
