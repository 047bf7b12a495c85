//! A timer for each thread, on that thread's CPU time; its signal goes to that thread.
//!
//! The signal carries a ticket: a slot and its generation. Before a thread ends, it releases its
//! slot itself, so a late signal finds another generation. Slots are reused and never freed.

use crate::chance::Chance;
use jvm::os::cpu_clock::clock_nanos;
use parking_lot::Mutex;
use std::collections::hash_map::{Entry, HashMap};
use std::mem::{zeroed, MaybeUninit};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::OnceLock;
use tables::ThreadId;

/// Slots allocated at once.
const CHUNK: usize = 256;
/// Most chunks: 65,536 threads at a time.
const CHUNKS: usize = 256;
/// The upper 16 bits of every ticket. No pointer that other code may put into a signal has them.
const MARK: u64 = 0x4850 << 48;
const MARK_MASK: u64 = 0xFFFF << 48;
const GENERATION_SHIFT: u32 = 24;
const FIELD_MASK: u64 = 0xFF_FFFF;
/// `CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED` of Linux: the clock of a thread's CPU time.
const THREAD_CPU_CLOCK: i32 = 6;

/// The value of our signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    index: usize,
    generation: u32,
}

impl Ticket {
    /// The ticket in a signal's value; `None` if the signal is not ours. Async-signal-safe.
    #[allow(clippy::cast_possible_truncation)] // the cut-off bits were masked
    pub(super) fn from_value(value: u64) -> Option<Self> {
        (value & MARK_MASK == MARK).then_some(Self {
            index: (value & FIELD_MASK) as usize,
            generation: ((value >> GENERATION_SHIFT) & FIELD_MASK) as u32,
        })
    }

    fn value(self) -> u64 {
        MARK | (u64::from(self.generation) << GENERATION_SHIFT) | self.index as u64
    }
}

/// What a ticket refers to.
#[derive(Debug, Default)]
struct Slot {
    generation: AtomicU32,
    /// The thread's number; 0 if threads have no numbers.
    thread: AtomicU32,
    /// Periods sampled in this generation.
    periods: AtomicU32,
}

impl Slot {
    /// Begins the next generation, which invalidates earlier tickets.
    #[allow(clippy::cast_possible_truncation)] // the mask has 24 bits
    fn turn_over(&self) -> u32 {
        let last = self.generation.load(Ordering::Relaxed);
        let generation = last.wrapping_add(1) & FIELD_MASK as u32;
        self.generation.store(generation, Ordering::Release);
        generation
    }
}

/// A kernel timer; deleted when dropped.
#[derive(Debug)]
struct Timer {
    raw: libc::timer_t,
    index: usize,
    /// The thread's CPU time when the timer was last started.
    start_ns: u64,
}

// SAFETY: a timer's number, which any thread of the process may use.
unsafe impl Send for Timer {}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: made by `timer_create`, and deleted only here.
        unsafe { libc::timer_delete(self.raw) };
    }
}

/// The timers of all threads.
#[derive(Debug)]
pub(super) struct ThreadTimers {
    signal: i32,
    interval_us: u32,
    slots: [OnceLock<Box<[Slot]>>; CHUNKS],
    /// Whether all timers are off. Changed under the lock of `armed`, read by signal handlers.
    off: AtomicBool,
    armed: Mutex<Armed>,
}

#[derive(Debug, Default)]
struct Armed {
    stopped: bool,
    timers: HashMap<libc::pid_t, Timer>,
    free: Vec<usize>,
    slots: usize,
    refused: u64,
    /// CPU time of ended threads that was not sampled.
    missed_ns: u64,
    chance: Chance,
}

impl ThreadTimers {
    /// No timers yet. A timer will send `signal` each time its thread has used `interval_us` of CPU
    /// time.
    pub(super) fn new(signal: i32, interval_us: u32) -> Self {
        Self {
            signal,
            interval_us,
            slots: std::array::from_fn(|_| OnceLock::new()),
            off: AtomicBool::new(false),
            armed: Mutex::default(),
        }
    }

    /// Counts `periods` as sampled. Returns the number of the ticket's thread, 0 if threads have no
    /// numbers; `None` if the ticket is no longer valid, or if the timers are off.
    /// Async-signal-safe.
    pub(super) fn note(&self, ticket: Ticket, periods: u32) -> Option<u32> {
        // The signal was pending when they were switched off.
        if self.is_off() {
            return None;
        }
        let slot = self.slot(ticket.index)?;
        if slot.generation.load(Ordering::Acquire) != ticket.generation {
            return None;
        }
        slot.periods.fetch_add(periods, Ordering::Relaxed);
        Some(slot.thread.load(Ordering::Relaxed))
    }

    /// Gives a thread of this process a new timer, replacing any old one. `owner` is its number.
    pub(super) fn arm(&self, thread: libc::pid_t, owner: Option<ThreadId>) {
        let mut armed = self.armed.lock();
        self.release(&mut armed, thread);
        if !armed.stopped && self.make(&mut armed, thread, owner).is_none() {
            armed.refused += 1;
        }
    }

    /// The same for a thread without a timer.
    pub(super) fn arm_once(&self, thread: libc::pid_t, owner: Option<ThreadId>) {
        let is_armed = self.armed.lock().timers.contains_key(&thread);
        if !is_armed {
            self.arm(thread, owner);
        }
    }

    /// Removes the timer of the calling thread, and invalidates its signals. CPU time since the
    /// last sample counts as missed, unless the timers are off.
    pub(super) fn disarm(&self, this_thread: libc::pid_t) {
        let mut armed = self.armed.lock();
        let timer = armed.timers.get(&this_thread);
        if let Some(timer) = timer.filter(|_| !self.is_off()) {
            let ran_ns = cpu_ns(this_thread).saturating_sub(timer.start_ns);
            let slot = self.slot(timer.index);
            let periods = slot.map_or(0, |slot| slot.periods.load(Ordering::Relaxed));
            let sampled_ns = u64::from(periods) * self.interval_ns();
            armed.missed_ns += ran_ns.saturating_sub(sampled_ns);
        }
        self.release(&mut armed, this_thread);
    }

    /// Switches the timers on or off, including those of future threads; they are on at first. CPU
    /// time used while they are off is neither sampled nor missed, and periods start anew when they
    /// are on again.
    ///
    /// Any thread. Threads that start or end wait meanwhile: a microsecond for each timer.
    pub(super) fn switch(&self, on: bool) {
        let mut armed = self.armed.lock();
        if self.off.swap(!on, Ordering::SeqCst) != on {
            return;
        }
        let mut timers = std::mem::take(&mut armed.timers);
        for (&thread, timer) in &mut timers {
            // If a timer cannot be started, its thread is gone.
            if on {
                self.begin(timer, thread, armed.chance.number());
            } else {
                set(timer, 0, 0);
            }
        }
        armed.timers = timers;
    }

    /// Whether the timers are switched off. Async-signal-safe.
    pub(super) fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }

    /// Removes all timers, and creates no more.
    pub(super) fn stop(&self) {
        let timers = {
            let mut armed = self.armed.lock();
            armed.stopped = true;
            std::mem::take(&mut armed.timers)
        };
        drop(timers);
    }

    /// Takes the number of threads for which the system had no timer.
    pub(super) fn take_refused(&self) -> u64 {
        std::mem::take(&mut self.armed.lock().refused)
    }

    /// Takes the number of periods that ended threads used after their last sample: the kernel
    /// checks timers only at its clock ticks.
    pub(super) fn take_missed(&self) -> u64 {
        let mut armed = self.armed.lock();
        let periods = armed.missed_ns / self.interval_ns();
        armed.missed_ns %= self.interval_ns();
        periods
    }

    fn interval_ns(&self) -> u64 {
        u64::from(self.interval_us.max(1)) * 1000
    }

    fn slot(&self, index: usize) -> Option<&Slot> {
        let chunk = self.slots.get(index / CHUNK)?.get()?;
        chunk.get(index % CHUNK)
    }

    fn release(&self, armed: &mut Armed, thread: libc::pid_t) {
        if let Entry::Occupied(timer) = armed.timers.entry(thread) {
            let timer = timer.remove();
            if let Some(slot) = self.slot(timer.index) {
                slot.turn_over();
            }
            armed.free.push(timer.index);
        }
    }

    fn make(&self, armed: &mut Armed, thread: libc::pid_t, owner: Option<ThreadId>) -> Option<()> {
        let index = match armed.free.pop() {
            Some(index) => index,
            None => self.add_slot(armed)?,
        };
        let slot = self.slot(index)?;
        slot.thread
            .store(owner.map_or(0, ThreadId::get), Ordering::Relaxed);
        let generation = slot.turn_over();
        let ticket = Ticket { index, generation };
        let Some(raw) = create(self.signal, thread, ticket) else {
            armed.free.push(index);
            return None;
        };
        let mut timer = Timer {
            raw,
            index,
            start_ns: 0,
        };
        let random = armed.chance.number();
        let is_set = self.is_off() || self.begin(&mut timer, thread, random);
        armed.timers.insert(thread, timer);
        if !is_set {
            self.release(armed, thread);
        }
        is_set.then_some(())
    }

    /// Starts the timer of this thread. The first period starts at a random point, so that threads
    /// which end within one period are sampled as often as they should be. `false` if the thread no
    /// longer exists.
    fn begin(&self, timer: &mut Timer, thread: libc::pid_t, random: u64) -> bool {
        timer.start_ns = cpu_ns(thread);
        if let Some(slot) = self.slot(timer.index) {
            slot.periods.store(0, Ordering::Relaxed);
        }
        let interval_ns = self.interval_ns();
        set(timer, 1 + random % interval_ns, interval_ns)
    }

    fn add_slot(&self, armed: &mut Armed) -> Option<usize> {
        let index = armed.slots;
        let chunk = self.slots.get(index / CHUNK)?;
        chunk.get_or_init(|| std::iter::repeat_with(Slot::default).take(CHUNK).collect());
        armed.slots += 1;
        Some(index)
    }
}

/// The clock of a thread's CPU time.
fn cpu_clock(thread: libc::pid_t) -> libc::clockid_t {
    (!thread).wrapping_shl(3) | THREAD_CPU_CLOCK
}

/// The CPU time of a thread of this process; 0 if the system does not report it.
fn cpu_ns(thread: libc::pid_t) -> u64 {
    clock_nanos(cpu_clock(thread))
}

/// A timer on the CPU time of `thread`, not yet started; `None` if the system has none left.
fn create(signal: i32, thread: libc::pid_t, ticket: Ticket) -> Option<libc::timer_t> {
    // SAFETY: zeros are a valid sigevent; both pointers outlive the call; the value is a number and
    // is never dereferenced.
    unsafe {
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = thread;
        event.sigev_value = libc::sigval {
            sival_ptr: ticket.value() as *mut libc::c_void,
        };
        let mut timer = MaybeUninit::<libc::timer_t>::uninit();
        let answer = libc::timer_create(cpu_clock(thread), &mut event, timer.as_mut_ptr());
        (answer == 0).then(|| timer.assume_init())
    }
}

/// Makes the timer fire after `first_ns` of the thread's CPU time, and then after each
/// `interval_ns`; zeros stop it.
fn set(timer: &Timer, first_ns: u64, interval_ns: u64) -> bool {
    let spec = |ns: u64| libc::timespec {
        tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: libc::c_long::try_from(ns % 1_000_000_000).unwrap_or(0),
    };
    let time = libc::itimerspec {
        it_value: spec(first_ns),
        it_interval: spec(interval_ns),
    };
    // SAFETY: a live timer; `time` outlives the call; the old time is not wanted.
    unsafe { libc::timer_settime(timer.raw, 0, &time, null_mut()) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm::os::threads::this_thread;

    /// Blocked in the test's thread, so that no handler is needed.
    const SIGNAL: i32 = libc::SIGPROF;

    /// Takes out a pending timer signal of this thread; `None` if there is none.
    fn pending_ticket() -> Option<(Ticket, i32)> {
        // SAFETY: a set and an info of this function; the signal is blocked in this thread.
        unsafe {
            let mut set: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, SIGNAL);
            let mut info: libc::siginfo_t = zeroed();
            let no_wait: libc::timespec = zeroed();
            (libc::sigtimedwait(&set, &mut info, &no_wait) == SIGNAL).then(|| {
                let value = info.si_value().sival_ptr as u64;
                (Ticket::from_value(value).expect("ours"), info.si_code)
            })
        }
    }

    /// Runs until a timer signal is pending in this thread, and takes it out.
    fn await_ticket() -> (Ticket, i32) {
        loop {
            if let Some(told) = pending_ticket() {
                return told;
            }
        }
    }

    /// Repeats that until a valid one comes. A fixed number of milliseconds would not do: Linux
    /// checks CPU timers at clock ticks of the running thread, and on a busy machine a thread may
    /// run between ticks for long.
    fn await_good_ticket(timers: &ThreadTimers) {
        while timers.note(await_ticket().0, 1).is_none() {}
    }

    fn block() {
        // SAFETY: a signal set that outlives the calls.
        unsafe {
            let mut set: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, SIGNAL);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, null_mut());
        }
    }

    #[test]
    fn a_running_thread_gets_its_own_ticket_until_it_is_disarmed() {
        block();
        let timers = ThreadTimers::new(SIGNAL, 1000);
        timers.arm(this_thread(), ThreadId::new(5));
        let (ticket, code) = await_ticket();
        assert_eq!(code, libc::SI_TIMER);
        assert_eq!(timers.note(ticket, 1), Some(5));
        timers.disarm(this_thread());
        assert_eq!(timers.note(ticket, 1), None);
        // The slot's next thread has another generation.
        timers.arm(this_thread(), ThreadId::new(6));
        assert_eq!(timers.note(ticket, 1), None);
        let (next, _) = await_ticket();
        assert_eq!((next.index, timers.note(next, 1)), (ticket.index, Some(6)));
        timers.stop();
    }

    #[test]
    fn what_a_thread_ran_unseen_is_told_when_it_ends() {
        block();
        let timers = ThreadTimers::new(SIGNAL, 1000);
        let before_ns = cpu_ns(this_thread());
        timers.arm(this_thread(), None);
        let start_ns = cpu_ns(this_thread());
        let mut noted = 0;
        // Exactly two periods are sampled: the first signal may come only after 5 ms.
        while noted < 2 || cpu_ns(this_thread()) < start_ns + 5_000_000 {
            if noted < 2 {
                let (ticket, _) = await_ticket();
                timers.note(ticket, 1).expect("a good ticket");
                noted += 1;
            }
        }
        // On a busy machine the thread may run for long between any two lines, so compute a lower
        // and an upper bound.
        let least_ms = (cpu_ns(this_thread()) - start_ns) / 1_000_000 - 2;
        timers.disarm(this_thread());
        let most_ms = (cpu_ns(this_thread()) - before_ns) / 1_000_000 - 2;
        let missed = timers.take_missed();
        assert!(
            (least_ms..=most_ms).contains(&missed),
            "{missed} of {least_ms} to {most_ms}"
        );
        assert_eq!(timers.take_missed(), 0);
    }

    /// Runs for 20 periods. Returns the number of signals, and how many of them were valid.
    fn run(timers: &ThreadTimers) -> (u32, u32) {
        let until_ns = cpu_ns(this_thread()) + 20_000_000;
        let (mut came, mut good) = (0, 0);
        while cpu_ns(this_thread()) < until_ns {
            if let Some((ticket, _)) = pending_ticket() {
                came += 1;
                good += u32::from(timers.note(ticket, 1).is_some());
            }
        }
        (came, good)
    }

    #[test]
    fn timers_that_are_off_send_nothing_and_miss_nothing() {
        block();
        let timers = ThreadTimers::new(SIGNAL, 1000);
        timers.arm(this_thread(), None);
        await_good_ticket(&timers);
        timers.switch(false);
        while pending_ticket().is_some() {}
        assert_eq!(run(&timers), (0, 0));
        // A timer created meanwhile sends none either.
        timers.arm(this_thread(), None);
        assert_eq!(run(&timers), (0, 0));
        assert_eq!(timers.take_refused(), 0);
        let off_until_ns = cpu_ns(this_thread());
        timers.switch(true);
        timers.switch(true);
        await_good_ticket(&timers);
        // CPU time used while they were off does not count.
        assert!(timers.armed.lock().timers[&this_thread()].start_ns >= off_until_ns);
        timers.disarm(this_thread());
        let on_ns = cpu_ns(this_thread()) - off_until_ns;
        assert!(timers.take_missed() <= on_ns / 1_000_000);
        timers.stop();
    }

    #[test]
    fn what_is_under_way_when_timers_are_switched_off_is_not_good() {
        block();
        let timers = ThreadTimers::new(SIGNAL, 1000);
        timers.arm(this_thread(), None);
        let (ticket, _) = await_ticket();
        timers.switch(false);
        assert_eq!(timers.note(ticket, 1), None);
        // If a thread ends meanwhile, its time is not missed either.
        run(&timers);
        timers.disarm(this_thread());
        assert_eq!(timers.take_missed(), 0);
        timers.switch(true);
        assert_eq!(timers.note(ticket, 1), None);
        timers.stop();
    }

    #[test]
    fn after_the_end_there_are_no_timers() {
        let timers = ThreadTimers::new(SIGNAL, 1000);
        timers.stop();
        timers.arm(this_thread(), None);
        assert!(timers.armed.lock().timers.is_empty());
        assert_eq!(timers.take_refused(), 0);
    }

    #[test]
    fn a_thread_that_is_not_there_is_counted() {
        let timers = ThreadTimers::new(SIGNAL, 1000);
        timers.arm(libc::pid_t::MAX, None);
        assert_eq!(timers.take_refused(), 1);
        assert_eq!(timers.armed.lock().free.len(), 1);
    }

    #[test]
    fn tickets_are_told_from_what_others_send() {
        let ticket = Ticket {
            index: 77,
            generation: 0xFF_FFFF,
        };
        assert_eq!(Ticket::from_value(ticket.value()), Some(ticket));
        assert_eq!(Ticket::from_value(0x7FFF_1234_5678), None);
        assert_eq!(Ticket::from_value(0), None);
    }
}
