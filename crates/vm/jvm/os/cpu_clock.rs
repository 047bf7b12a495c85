//! The CPU time of the calling thread, cheap enough to read at each call of a method.
//!
//! The kernel's thread clock (`CLOCK_THREAD_CPUTIME_ID`) costs a system call, some hundred
//! nanoseconds. The processor's time stamp counter costs ten, but also advances while the thread
//! does not run. So a short step of the counter counts as CPU time. After a long step, and every
//! millisecond, the kernel is asked.

use libc::{clockid_t, timespec};
use std::cell::Cell;
use std::sync::OnceLock;

/// During a longer step of the counter, the thread may have been off its processor.
const LONGEST_STEP_NANOS: u64 = 10_000;
/// Total of short steps after which the kernel is asked.
const LONGEST_SPAN_NANOS: u64 = 1_000_000;
/// Ticks are converted with nanoseconds times 2^SHIFT.
const SHIFT: u32 = 24;

/// Nanoseconds in 2^24 ticks of the counter; `None` without a counter of constant rate.
static NANOS_PER_TICK: OnceLock<Option<u64>> = OnceLock::new();

/// The clock of the thread that creates it. Not for other threads.
#[derive(Debug)]
pub struct ThreadClock {
    /// The counter at the last reading.
    tick: Cell<u64>,
    /// The kernel's last answer.
    asked: Cell<u64>,
    /// Sum of the steps since then.
    steps: Cell<u64>,
    /// The last result. Steps may have run ahead of the kernel; then the clock stands still until
    /// the kernel has caught up.
    told: Cell<u64>,
}

impl ThreadClock {
    /// The calling thread's CPU time.
    pub fn of_cpu_time() -> Self {
        let clock = Self {
            tick: Cell::new(0),
            asked: Cell::new(0),
            steps: Cell::new(0),
            told: Cell::new(0),
        };
        clock.ask(ticks());
        clock
    }

    /// Nanoseconds; never less than before.
    pub fn nanos(&self) -> u64 {
        let tick = ticks();
        if let Some(Some(nanos_per_tick)) = NANOS_PER_TICK.get() {
            let step = tick.wrapping_sub(self.tick.get());
            // A counter that jumps counts as a long step.
            let step = step.min(1 << 36).wrapping_mul(*nanos_per_tick) >> SHIFT;
            let steps = self.steps.get() + step;
            if step < LONGEST_STEP_NANOS && steps < LONGEST_SPAN_NANOS {
                self.tick.set(tick);
                self.steps.set(steps);
                return self.tell(self.asked.get() + steps);
            }
        }
        self.ask(tick)
    }

    fn ask(&self, tick: u64) -> u64 {
        let asked = clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
        self.tick.set(tick);
        self.asked.set(asked);
        self.steps.set(0);
        self.tell(asked)
    }

    fn tell(&self, nanos: u64) -> u64 {
        let told = nanos.max(self.told.get());
        self.told.set(told);
        told
    }
}

/// Measures the counter's rate, which takes two milliseconds. At startup.
pub fn calibrate() {
    NANOS_PER_TICK.get_or_init(|| {
        let (start_tick, start) = moment()?;
        while wall_nanos().checked_sub(start)? < 2_000_000 {}
        let (end_tick, end) = moment()?;
        let ticks = end_tick.checked_sub(start_tick)?;
        let nanos = end.checked_sub(start)?;
        (nanos << SHIFT).checked_div(ticks)
    });
}

/// The counter and the clock at the same moment. Uses the shortest of several readings, because the
/// thread may lose the processor in between. `None` without a counter.
fn moment() -> Option<(u64, u64)> {
    let look = |_| {
        let (before, nanos, after) = (ticks(), wall_nanos(), ticks());
        let took = after.checked_sub(before).filter(|_| before > 0)?;
        Some((took, before + took / 2, nanos))
    };
    let (_, tick, nanos) = (0..5).filter_map(look).min()?;
    Some((tick, nanos))
}

/// A clock of a thread's CPU time that other threads can read.
#[derive(Clone, Copy, Debug)]
pub struct RemoteClock(Option<clockid_t>);

impl RemoteClock {
    /// For the calling thread.
    pub fn of_this_thread() -> Self {
        let mut id: clockid_t = 0;
        // SAFETY: the calling thread exists; `id` outlives the call.
        let answer = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut id) };
        Self((answer == 0).then_some(id))
    }

    /// Nanoseconds so far; `None` if the thread has ended.
    pub fn nanos(self) -> Option<u64> {
        self.0.map(clock_nanos).filter(|&nanos| nanos > 0)
    }
}

/// Wall-clock time in nanoseconds.
fn wall_nanos() -> u64 {
    clock_nanos(libc::CLOCK_MONOTONIC)
}

/// The time of this clock of the kernel's; 0 if there is no such clock.
pub fn clock_nanos(clock: clockid_t) -> u64 {
    let mut time = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` outlives the call.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return 0;
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// The processor's counter; 0 on processors where we cannot read it.
fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(nanos: u64) {
        let start = clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
        while clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID) - start < nanos {}
    }

    #[test]
    fn short_steps_add_up_to_what_the_kernel_says() {
        calibrate();
        let clock = ThreadClock::of_cpu_time();
        let (start, kernel) = (clock.nanos(), clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID));
        let mut last = start;
        for _ in 0..20_000 {
            work(500);
            let now = clock.nanos();
            assert!(now >= last);
            last = now;
        }
        let told = clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID) - kernel;
        let seen = clock.nanos() - start;
        // A step may include time off the processor, until the kernel is asked again.
        assert!(seen.abs_diff(told) < 1_100_000 + told / 50, "{seen} {told}");
    }

    #[test]
    fn a_thread_that_sleeps_takes_no_processor_time() {
        calibrate();
        let clock = ThreadClock::of_cpu_time();
        let start = clock.nanos();
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(clock.nanos() - start < 5_000_000);
    }

    #[test]
    fn others_see_the_same_clock() {
        let remote = RemoteClock::of_this_thread();
        work(1_000_000);
        let own = clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
        let seen = std::thread::scope(|scope| scope.spawn(|| remote.nanos()).join());
        assert!(seen.unwrap().unwrap() >= own);
    }
}
