//! Limits the share of a thread's time that its samples take.
//!
//! A thread that allocates gigabytes per second is sampled thousands of times per second, and while
//! code is new each sample takes long. If samples exceed their share, only one in two is taken, at
//! random, or one in four and so on, and counts twice, or four times. Estimates stay unbiased,
//! because the probability depends only on the time spent before. If that continues, the JVM is
//! told to choose fewer.
//!
//! Without it, four threads that only fill arrays of 4 KiB from stacks of some 300 frames take 1.30
//! times as long, with it 1.04.

use super::sample_interval::SampleInterval;
use hotspot::chance::Chance;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Most time that a thread can save up, and what it starts with: two seconds' worth at a share of
/// 0.5 %. Short programs thus have all their samples.
const MOST_SAVED: Duration = Duration::from_millis(10);
/// For each such amount of overspent time, the probability of taking a sample is halved.
const STEP_NS: i64 = 250_000;
/// A sample that takes longer was interrupted: the processor ran something else.
const LONGEST: Duration = Duration::from_millis(1);
/// Time that the JVM itself needs to report a sample, and that the application needs to continue
/// with cold caches: half a microsecond if nothing else runs (17, 25), but four times as much in a
/// database. Skipped samples are not charged for it, because that would skip more and more of them
/// without saving time.
const EVENT: Duration = Duration::from_micros(2);
/// At the least, one sample in 4096 is taken.
const MOST_DOUBLINGS: i64 = 12;

thread_local! {
    static ACCOUNT: RefCell<Option<Account>> = const { RefCell::new(None) };
}

/// The limit for all threads, and its effect so far.
#[derive(Debug)]
pub(crate) struct SampleBudget {
    /// Share of a thread's time in basis points; 0 for no limit.
    basis_points: u16,
    pub(crate) interval: SampleInterval,
    /// How often sampling was switched on or off.
    switches: AtomicU32,
    taken: AtomicU64,
    /// Number of samples that the taken ones stand for.
    stood_for: AtomicU64,
}

/// One thread's account.
#[derive(Debug)]
struct Account {
    /// Saved time; negative if overspent.
    saved_ns: i64,
    last: Instant,
    chance: Chance,
    /// The JVM's interval when it chose the sample that the thread is waiting for, which is the
    /// interval at the thread's last sample.
    interval_bytes: Option<u32>,
    /// The value of `switches` that the thread has seen.
    switches: u32,
}

/// A sample to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// It stands for 2^`doublings` samples.
    pub(crate) doublings: u32,
    /// Average bytes between samples when it was chosen.
    pub(crate) interval_bytes: u32,
    since: Option<Instant>,
}

impl SampleBudget {
    /// Samples may take at most `basis_points` of each thread's time; 0 means no limit. The JVM has
    /// this interval.
    pub(crate) fn new(basis_points: u16, interval_bytes: u32) -> Self {
        Self {
            basis_points,
            interval: SampleInterval::new(interval_bytes),
            switches: AtomicU32::new(0),
            taken: AtomicU64::new(0),
            stood_for: AtomicU64::new(0),
        }
    }

    /// `ThreadStart`, on that thread: the JVM has just chosen its first sample. Threads without
    /// this call existed before the interval was changed.
    pub(crate) fn thread_start(&self) {
        if self.basis_points == 0 {
            return;
        }
        // An ending thread may have no thread-locals any more, but this one is starting.
        let _ = ACCOUNT.try_with(|account| {
            let mut begun = Account::new(Instant::now());
            begun.interval_bytes = Some(self.interval.bytes());
            begun.switches = self.switches.load(Ordering::Relaxed);
            if let Ok(mut account) = account.try_borrow_mut() {
                *account = Some(begun);
            }
        });
    }

    /// Sampling is switched on or off: while it is off, threads save up no time.
    pub(crate) fn note_switch(&self) {
        self.switches.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether to take this sample; `None` skips it. Called on the thread that pays for it. `tell`
    /// sets the JVM's interval in bytes, and returns whether that worked.
    pub(crate) fn take(&self, tell: impl FnOnce(i32) -> bool) -> Option<Taken> {
        let Some(now) = (self.basis_points > 0).then(Instant::now) else {
            return Some(Taken {
                doublings: 0,
                interval_bytes: self.interval.bytes(),
                since: None,
            });
        };
        let taken = self.take_at(now);
        if let Some(bytes) = self.interval.note(taken.is_some(), now) {
            if i32::try_from(bytes).is_ok_and(tell) {
                self.interval.set(bytes);
            }
        }
        taken
    }

    fn take_at(&self, now: Instant) -> Option<Taken> {
        let current_bytes = self.interval.bytes();
        let (doublings, interval_bytes) = ACCOUNT.with(|account| {
            let Ok(mut account) = account.try_borrow_mut() else {
                return (Some(0), current_bytes);
            };
            let account = account.get_or_insert_with(|| Account::new(now));
            let chosen_by = account.interval_bytes.replace(current_bytes);
            account.see_switches(self.switches.load(Ordering::Relaxed), now);
            account.earn(now, self.basis_points);
            (
                account.take(),
                chosen_by.unwrap_or(self.interval.least_bytes),
            )
        });
        let doublings = doublings?;
        let stands_for = u64::from(interval_bytes / self.interval.least_bytes.max(1)) << doublings;
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.stood_for.fetch_add(stands_for, Ordering::Relaxed);
        Some(Taken {
            doublings,
            interval_bytes,
            since: Some(now),
        })
    }

    /// Charges the time since the sample began to the same thread.
    pub(crate) fn pay(&self, taken: Taken) {
        if let Some(since) = taken.since {
            Self::charge(since.elapsed());
        }
    }

    /// Subtracts a sample's cost from the thread's account.
    fn charge(spent: Duration) {
        ACCOUNT.with(|account| {
            if let Ok(Some(account)) = account.try_borrow_mut().as_deref_mut() {
                account.pay(spent + EVENT);
            }
        });
    }

    /// Percentage of samples that were skipped, or not even chosen by the JVM.
    pub(crate) fn left_out_percent(&self) -> u64 {
        let taken = self.taken.load(Ordering::Relaxed);
        let stood_for = self.stood_for.load(Ordering::Relaxed).max(taken);
        ((stood_for - taken) * 100)
            .checked_div(stood_for)
            .unwrap_or(0)
    }
}

impl Account {
    fn new(now: Instant) -> Self {
        Self {
            saved_ns: nanoseconds(MOST_SAVED),
            last: now,
            chance: Chance::new(),
            interval_bytes: None,
            switches: 0,
        }
    }

    /// If sampling was switched since, the time until `now` earns nothing.
    fn see_switches(&mut self, switches: u32, now: Instant) {
        if self.switches != switches {
            self.switches = switches;
            self.last = now;
        }
    }

    fn earn(&mut self, now: Instant, basis_points: u16) {
        const ALL: i64 = 10_000;
        let passed = nanoseconds(now.saturating_duration_since(self.last));
        self.last = now;
        let earned = passed.saturating_mul(i64::from(basis_points)) / ALL;
        let saved = self.saved_ns.saturating_add(earned);
        self.saved_ns = saved.min(nanoseconds(MOST_SAVED));
    }

    /// The number of doublings of the next sample; `None` skips it.
    fn take(&mut self) -> Option<u32> {
        let steps = match self.saved_ns {
            0.. => 0,
            overspent => 1 + overspent.saturating_neg() / STEP_NS,
        };
        let doublings = u32::try_from(steps.min(MOST_DOUBLINGS)).unwrap_or_default();
        self.chance.of_halvings(doublings).then_some(doublings)
    }

    fn pay(&mut self, spent: Duration) {
        let spent = nanoseconds(spent.min(LONGEST));
        // Bounded, so that the thread recovers within a second however much it overspent.
        self.saved_ns = (self.saved_ns - spent).max(-STEP_NS * MOST_DOUBLINGS);
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::live_samples::weight;
    use super::*;

    /// Simulates ten seconds of a thread with a sample every `every_ns` that costs `cost_ns`.
    /// Returns the share of its time that samples took, and the ratio of the estimated number of
    /// samples to the real one.
    fn run(every_ns: u64, cost_ns: u64) -> (f64, f64) {
        let mut now = Instant::now();
        let begin = now;
        let mut account = Account::new(now);
        let (mut spent, mut all, mut stood_for) = (Duration::ZERO, 0_u32, 0_u32);
        while now - begin < Duration::from_secs(10) {
            now += Duration::from_nanos(every_ns);
            account.earn(now, 100);
            all += 1;
            if let Some(doublings) = account.take() {
                stood_for += 1 << doublings;
                let cost = Duration::from_nanos(cost_ns);
                now += cost;
                spent += cost;
                account.pay(cost);
            }
        }
        let share = spent.as_secs_f64() / (now - begin).as_secs_f64();
        (share, f64::from(stood_for) / f64::from(all))
    }

    #[test]
    fn what_costs_little_is_always_taken() {
        let (share, ratio) = run(1_000_000, 5_000);
        assert!((0.004..0.006).contains(&share), "{share}");
        assert!((ratio - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_costs_much_is_taken_seldom_and_counts_more() {
        for (every_ns, cost_ns) in [(100_000, 5_000), (20_000, 30_000), (1_000, 20_000)] {
            let (share, ratio) = run(every_ns, cost_ns);
            // The initial savings add one thousandth.
            assert!((0.010..0.0115).contains(&share), "{share}");
            assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
        }
    }

    #[test]
    fn while_samples_are_off_nothing_is_saved_up() {
        let now = Instant::now();
        let mut account = Account::new(now);
        account.saved_ns = 0;
        account.see_switches(0, now + Duration::from_secs(1));
        account.earn(now + Duration::from_secs(1), 100);
        assert_eq!(account.saved_ns, 10_000_000);
        account.saved_ns = 0;
        account.see_switches(2, now + Duration::from_secs(3));
        account.earn(now + Duration::from_secs(3), 100);
        assert_eq!(account.saved_ns, 0);
    }

    #[test]
    fn an_interruption_is_not_paid_for_ever() {
        let now = Instant::now();
        let mut account = Account::new(now);
        account.pay(Duration::from_secs(5));
        account.earn(now + Duration::from_millis(100), 100);
        assert!(account.saved_ns > 0);
    }

    /// Allocates objects of one size for thirty seconds, sampled as by HotSpot. Returns the ratio
    /// of their estimated number to the real one, and the final interval in bytes.
    fn allocate(size_bytes: u32) -> (f64, u32) {
        let budget = SampleBudget::new(100, 1000);
        let (begin, mut now) = (Instant::now(), Instant::now());
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut jvm_bytes = budget.interval.bytes();
        let (mut objects, mut estimated) = (0.0, 0.0);
        while now - begin < Duration::from_secs(30) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let uniform = (f64::from(u32::try_from(random >> 32).unwrap()) + 1.0) / 2_f64.powi(32);
            let until_sample =
                (-uniform.ln() * f64::from(jvm_bytes) / f64::from(size_bytes)).ceil();
            objects += until_sample;
            now += Duration::from_nanos(20 + u64::from(size_bytes) / 4).mul_f64(until_sample);
            // When the JVM reports a sample, it has already chosen the next one.
            jvm_bytes = budget.interval.bytes();
            let taken = budget.take_at(now);
            if let Some(bytes) = budget.interval.note(taken.is_some(), now) {
                budget.interval.set(bytes);
            }
            if let Some(taken) = taken {
                let weight = weight(u64::from(size_bytes), taken.interval_bytes, taken.doublings);
                estimated += weight.objects;
                // A fixed cost: this test's real time includes other threads on its processor.
                SampleBudget::charge(Duration::from_micros(2));
            }
        }
        (estimated / objects, budget.interval.bytes())
    }

    #[test]
    fn estimates_do_not_depend_on_how_many_samples_are_chosen() {
        for size_bytes in [16, 64, 1024, 10_000] {
            // A new thread, because each has its own account.
            let (ratio, bytes) = std::thread::spawn(move || allocate(size_bytes))
                .join()
                .unwrap();
            assert!(bytes > 1000, "{size_bytes}");
            assert!((ratio - 1.0).abs() < 0.03, "{size_bytes}: {ratio}");
        }
    }

    #[test]
    fn without_a_bound_every_sample_is_taken() {
        let budget = SampleBudget::new(0, 1000);
        for _ in 0..100 {
            let taken = budget.take(|_| unreachable!()).unwrap();
            assert_eq!(taken.doublings, 0);
            budget.pay(taken);
        }
        assert_eq!(budget.left_out_percent(), 0);
    }

    #[test]
    fn what_was_not_chosen_is_told() {
        let budget = SampleBudget::new(100, 1000);
        assert_eq!(budget.interval.least_bytes, 1000);
        budget.thread_start();
        let now = Instant::now();
        let took = || budget.take_at(now).map(|taken| taken.interval_bytes);
        assert_eq!(took(), Some(1000));
        assert_eq!(budget.left_out_percent(), 0);
        // When a sample is reported, the next one is chosen already.
        budget.interval.set(5000);
        assert_eq!(
            [took(), took(), took()],
            [Some(1000), Some(5000), Some(5000)]
        );
        // Four were taken, and stand for twelve.
        assert_eq!(budget.left_out_percent(), 66);
    }

    #[test]
    fn with_a_bound_the_time_of_a_sample_is_paid_for() {
        let saved = || ACCOUNT.with(|account| account.borrow().as_ref().map(|it| it.saved_ns));
        let budget = SampleBudget::new(100, 1000);
        let taken = budget.take(|_| true).expect("a new thread has savings");
        let before = saved();
        budget.pay(taken);
        assert!(saved() < before);
    }
}
