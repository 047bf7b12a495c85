//! Samples of running threads: a per-thread timer's signal asks HotSpot for the stack that it has
//! interrupted.
//!
//! The handler neither waits nor allocates nor panics: it looks up a slot, reserves a cell of the
//! ring, calls `AsyncGetCallTrace`, and wakes the reader if that is asleep.

use super::machine_registers;
use super::sample_ring::{RawSample, SampleRing};
use super::thread_timers::{ThreadTimers, Ticket};
use crate::call_trace::{self, AsyncGetCallTrace, CallTrace, StackFault};
use crate::{Interrupted, Registers};
use jvm::env::Vm;
use jvm::os::semaphore::Semaphore;
use jvm::os::threads::this_thread;
use parking_lot::Mutex;
use std::mem::zeroed;
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{fence, AtomicBool, Ordering};
use std::sync::OnceLock;
use tables::ThreadId;

/// The signal that profilers use.
const SIGNAL: c_int = libc::SIGPROF;
/// The signal with which HotSpot suspends a thread, unless `_JAVA_SR_SIGNUM` names another.
const SUSPEND_SIGNAL: c_int = libc::SIGUSR2;
/// Approximate size of the ring.
const RING_BYTES: usize = 4 << 20;
/// Bytes in the ring of a frame, and of a sample without its frames.
const FRAME_BYTES: usize = 16;
const CELL_BYTES: usize = 32;

/// The only sampler in the process, so that the handler can find it.
static SAMPLER: OnceLock<StackSampler> = OnceLock::new();
/// The signal's previous action.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// The agent's own threads, by their kernel ids.
static SPARED: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());

/// Takes the samples. Never dropped: a signal may come late.
#[derive(Debug)]
pub struct StackSampler {
    vm: Vm,
    get_call_trace: AsyncGetCallTrace,
    /// `None` if HotSpot does not export enough about its code.
    interrupted: Option<Interrupted>,
    depth_frames: i32,
    ring: SampleRing,
    timers: ThreadTimers,
    on: AtomicBool,
    /// The reader is asleep, or about to be.
    asleep: AtomicBool,
    wake: Semaphore,
}

impl StackSampler {
    /// Installs the signal handler; no thread has a timer yet. `interval_us` and `depth_frames`
    /// must be at least 1.
    ///
    /// The error is the end of a sentence: this JVM has no way to read stacks, or the system no
    /// signal.
    pub fn start(vm: Vm, interval_us: u32, depth_frames: usize) -> Result<&'static Self, String> {
        let get_call_trace = call_trace::find().ok_or("this JVM has no AsyncGetCallTrace")?;
        let depth = i32::try_from(depth_frames).map_err(|_| "depth is too large")?;
        let room = RING_BYTES / (CELL_BYTES + depth_frames.saturating_mul(FRAME_BYTES));
        let capacity = room.clamp(128, 8192);
        let sampler = SAMPLER.get_or_init(|| Self {
            vm,
            get_call_trace,
            interrupted: Interrupted::find(),
            depth_frames: depth,
            ring: SampleRing::new(capacity, depth_frames),
            timers: ThreadTimers::new(SIGNAL, interval_us),
            on: AtomicBool::new(true),
            asleep: AtomicBool::new(false),
            wake: Semaphore::default(),
        });
        install().map_err(|error| format!("SIGPROF cannot be handled: {error}"))?;
        Ok(sampler)
    }

    /// Samples the calling thread from now on; `owner` is its number. `ThreadStart`, on that
    /// thread.
    pub fn arm_this_thread(&self, owner: Option<ThreadId>) {
        self.timers.arm(this_thread(), owner);
    }

    /// Stops sampling the calling thread. `ThreadEnd`, on that thread, because its stack will soon
    /// be gone.
    pub fn disarm_this_thread(&self) {
        self.timers.disarm(this_thread());
    }

    /// Samples an existing thread from now on, unless it is sampled already or belongs to the
    /// agent. Any thread may call it.
    pub fn arm_found(&self, thread: libc::pid_t, owner: Option<ThreadId>) {
        let spared = SPARED.lock();
        if !spared.contains(&thread) {
            self.timers.arm_once(thread, owner);
        }
    }

    /// Switches sampling on or off, including for future threads; it is on at first. While it is
    /// off, no signal is sent. Any thread may call it. Threads that start or end wait meanwhile, a
    /// microsecond for each thread.
    pub fn switch(&self, on: bool) {
        self.timers.switch(on);
    }

    /// Whether sampling is switched off.
    pub fn is_off(&self) -> bool {
        self.timers.is_off()
    }

    /// Removes all timers. Pending signals have no effect. The handler stays, because otherwise
    /// they would end the process.
    pub fn stop(&self) {
        self.on.store(false, Ordering::SeqCst);
        self.timers.stop();
        self.wake.post();
    }

    /// Waits until there is a sample. `false` if the sampler was stopped. One thread at a time.
    pub fn wait(&self) -> bool {
        while self.on.load(Ordering::SeqCst) {
            self.asleep.store(true, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if self.ring.has_samples() || !self.on.load(Ordering::SeqCst) {
                self.asleep.store(false, Ordering::SeqCst);
                return self.on.load(Ordering::SeqCst);
            }
            self.wake.wait();
        }
        false
    }

    /// Takes the oldest sample; `None` if there is none.
    pub fn take(&self) -> Option<RawSample> {
        self.ring.take()
    }

    /// Takes the numbers of samples that were lost, with the reasons.
    pub fn take_lost(&self) -> [(StackFault, u64); 2] {
        [
            (StackFault::RING_FULL, self.ring.take_lost()),
            (StackFault::ENDED, self.timers.take_missed()),
        ]
    }

    /// Takes the number of threads for which there was no timer.
    pub fn take_refused(&self) -> u64 {
        self.timers.take_refused()
    }

    /// Whether other code has replaced the signal's handler, so that samples are missing.
    pub fn is_replaced(&self) -> bool {
        // SAFETY: zeros are a valid sigaction; the call queries without changing anything.
        unsafe {
            let mut now: libc::sigaction = zeroed();
            libc::sigaction(SIGNAL, std::ptr::null(), &mut now) == 0
                && now.sa_sigaction != on_signal as *const () as usize
        }
    }

    /// Records the stack that the signal has interrupted. Called in the handler.
    ///
    /// # Safety
    /// `context` is the handler's argument.
    unsafe fn sample(&self, ticket: Ticket, periods: u32, context: *mut c_void) {
        if !self.on.load(Ordering::Relaxed) {
            return;
        }
        let Some(thread) = self.timers.note(ticket, periods) else {
            return;
        };
        // SAFETY: the JVM is alive, because the sampler is stopped before its end. HotSpot finds
        // the environment in the thread's own record; a thread that does not belong to the JVM has
        // none.
        let Some(jni) = (unsafe { self.vm.jni_env() }) else {
            return;
        };
        let Some(mut cell) = self.ring.reserve(periods) else {
            return;
        };
        let mut trace = CallTrace {
            jni,
            count: 0,
            frames: cell.frames(),
        };
        // SAFETY: the context of this signal, the thread's own environment, and space for the
        // frames.
        unsafe {
            if is_suspended(context) {
                trace.count = StackFault::SUSPENDED_COUNT;
            } else {
                (self.get_call_trace)(&mut trace, self.depth_frames, context);
                self.learn(context);
                if StackFault::is_unreadable_java(trace.count) {
                    self.ask_for_caller(&mut trace, context);
                }
            }
        }
        cell.publish(thread, periods, trace.count);
        // Either the reader sees this sample before it sleeps, or this code sees that the reader is
        // about to sleep.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::SeqCst) {
            self.wake.post();
        }
    }
}

impl StackSampler {
    /// # Safety
    /// `context` comes from a signal on this thread.
    unsafe fn learn(&self, context: *mut c_void) {
        if let Some(interrupted) = &self.interrupted {
            // SAFETY: the caller's promise.
            interrupted.learn(unsafe { interrupted_at(context) }.pc);
        }
    }

    /// Asks for the stack again, as it will be when the interrupted code has returned: HotSpot
    /// finds no stack in stubs, nor where a compiled method builds or removes its frame.
    ///
    /// # Safety
    /// `context` comes from a signal on this thread, and the trace has this thread's environment
    /// and space for the frames.
    unsafe fn ask_for_caller(&self, trace: &mut CallTrace, context: *mut c_void) {
        let Some(interrupted) = &self.interrupted else {
            return;
        };
        // SAFETY: the caller's promise; the registers are restored before this returns.
        unsafe {
            let context = context.cast::<libc::ucontext_t>();
            let before = machine_registers::read(&(*context).uc_mcontext);
            if let Some(caller) = interrupted.caller(before) {
                machine_registers::write(&mut (*context).uc_mcontext, caller);
                let count = trace.count;
                (self.get_call_trace)(trace, self.depth_frames, context.cast());
                if trace.count < 1 {
                    trace.count = count;
                }
                machine_registers::write(&mut (*context).uc_mcontext, before);
            }
        }
    }
}

/// The registers of this thread where the signal interrupted it.
///
/// # Safety
/// `context` comes from a signal on this thread.
unsafe fn interrupted_at(context: *mut c_void) -> Registers {
    // SAFETY: the caller's promise.
    machine_registers::read(unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext })
}

/// Excludes the calling thread, which belongs to the agent, from all sampling, now and later. Such
/// threads do not end.
pub fn spare_this_thread() {
    let mut spared = SPARED.lock();
    spared.push(this_thread());
    if let Some(sampler) = SAMPLER.get() {
        sampler.disarm_this_thread();
    }
}

/// Whether the signal came while HotSpot's own handler suspended the thread (`SR_handler`,
/// os/posix/signals_posix.cpp), as it does for samples of its flight recorder. The thread's state
/// is then "in Java", and the stack would be read from the handler's registers: a wrong one. While
/// a handler runs, its signal is blocked.
///
/// # Safety
/// `context` is a handler's argument, or null.
unsafe fn is_suspended(context: *mut c_void) -> bool {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the caller's promise; reads the set of signals that were blocked when this one
    // arrived.
    !context.is_null() && unsafe { libc::sigismember(&(*context).uc_sigmask, SUSPEND_SIGNAL) == 1 }
}

/// Installs [`on_signal`]. The previous handler still gets signals that are not ours.
fn install() -> std::io::Result<()> {
    // SAFETY: zeros are a valid sigaction; both outlive the call; the handler has the signature of
    // SA_SIGINFO.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        let mut before: libc::sigaction = zeroed();
        if libc::sigaction(SIGNAL, &action, &mut before) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        if before.sa_sigaction != action.sa_sigaction {
            let _ = BEFORE.set(before);
        }
    }
    Ok(())
}

/// The part of `siginfo_t` that describes timers.
#[repr(C)]
struct TimerInfo {
    signal: c_int,
    errno: c_int,
    code: c_int,
    padding: c_int,
    timer: c_int,
    /// Periods that have passed since the last signal, in addition to this one.
    overrun: c_int,
    value: u64,
}

/// The signal handler.
unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own arguments; `errno` is this thread's. Nothing here may panic, because
    // nothing catches panics.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let told = &*info.cast::<TimerInfo>();
        let ticket = if told.code == libc::SI_TIMER {
            Ticket::from_value(told.value)
        } else {
            None
        };
        match (ticket, SAMPLER.get()) {
            (Some(ticket), Some(sampler)) => {
                let periods = u32::try_from(told.overrun).unwrap_or(0).saturating_add(1);
                sampler.sample(ticket, periods, context);
            }
            (Some(_), None) => {}
            (None, _) => pass_on(signal, info, context),
        }
        *errno = kept;
    }
}

/// Passes a signal that is not ours to the previous handler. The default action would end the
/// process, so it is not taken.
///
/// # Safety
/// The arguments are those of the handler.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(before) = BEFORE.get() else {
        return;
    };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {}
        // SAFETY: the previous handler, called with the arguments that its flags require.
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => unsafe {
            let handler: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(handler);
            handler(signal, info, context);
        },
        // SAFETY: the previous handler, which takes the signal's number alone.
        handler => unsafe {
            let handler: unsafe extern "C" fn(c_int) = std::mem::transmute(handler);
            handler(signal);
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    static FOREIGN: AtomicU32 = AtomicU32::new(0);

    extern "C" fn foreign(_signal: c_int) {
        FOREIGN.fetch_add(1, Ordering::SeqCst);
    }

    #[test]
    fn the_parts_of_a_timers_signal_are_where_the_system_puts_them() {
        assert_eq!(std::mem::offset_of!(TimerInfo, overrun), 20);
        assert_eq!(std::mem::offset_of!(TimerInfo, value), 24);
        assert!(std::mem::size_of::<TimerInfo>() <= std::mem::size_of::<libc::siginfo_t>());
    }

    #[test]
    fn a_thread_in_hotspots_handler_is_told_by_its_signals() {
        // SAFETY: zeros are a valid context, with no signal blocked.
        unsafe {
            let mut context: libc::ucontext_t = zeroed();
            assert!(!is_suspended((&raw mut context).cast()));
            libc::sigaddset(&mut context.uc_sigmask, SUSPEND_SIGNAL);
            assert!(is_suspended((&raw mut context).cast()));
            assert!(!is_suspended(std::ptr::null_mut()));
        }
    }

    #[test]
    fn signals_of_others_go_where_they_went_before() {
        // SAFETY: a handler of this test; the signal is raised on this thread, and errno is its
        // own.
        unsafe {
            libc::signal(SIGNAL, foreign as *const () as usize);
            install().unwrap();
            *libc::__errno_location() = 4711;
            libc::raise(SIGNAL);
            assert_eq!(*libc::__errno_location(), 4711);
        }
        assert_eq!(FOREIGN.load(Ordering::SeqCst), 1);
        // Install it again: the handler must not become its own predecessor.
        install().unwrap();
        // SAFETY: a handler of this test; the signal is raised on this thread.
        unsafe { libc::raise(SIGNAL) };
        assert_eq!(FOREIGN.load(Ordering::SeqCst), 2);
    }
}
