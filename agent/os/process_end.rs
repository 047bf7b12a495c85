//! The process's end: what runs at `exit(3)`, and a SIGQUIT that comes too late.

use std::mem::MaybeUninit;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::OnceLock;

/// What runs at `exit(3)`.
static AT_EXIT: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Has `body` run when the process calls `exit(3)`, on the thread that does, while all others go on. Not at `_exit`, nor when a signal
/// ends the process. The first call counts. `false`: the C library has no room for it.
pub(crate) fn at_exit(body: impl Fn() + Send + Sync + 'static) -> bool {
    if AT_EXIT.set(Box::new(body)).is_err() {
        return true;
    }
    // SAFETY: a function that lives as long as this library, which the C library calls before it unloads it.
    unsafe { libc::atexit(run) == 0 }
}

extern "C" fn run() {
    if let Some(body) = AT_EXIT.get() {
        // No panic may leave Rust.
        let _ = catch_unwind(AssertUnwindSafe(body));
    }
}

/// Ends the process at once, as HotSpot does for `-XX:+ExitOnOutOfMemoryError`: nothing of the JVM's runs any more.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: ends this process and returns to nobody.
    unsafe { libc::_exit(status) }
}

/// The kernel's own `sigaction` on this processor: handler, flags, restorer, mask.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Action {
    handler: libc::sighandler_t,
    flags: libc::c_ulong,
    restorer: usize,
    mask: u64,
}

/// While this lives, SIGQUIT does nothing.
#[derive(Debug)]
pub(crate) struct QuitIgnored {
    before: Action,
}

impl QuitIgnored {
    /// Has SIGQUIT do nothing. `None` if the system does not let it.
    ///
    /// HotSpot 11 and 17 end the threads of the collector before VMDeath, and crash if they answer SIGQUIT after that, as a thread dump asks
    /// for those threads' times. Asked of the kernel and not of the C library, as libjsig would pass the wish on to HotSpot.
    pub(crate) fn begin() -> Option<Self> {
        let ignore = Action {
            handler: libc::SIG_IGN,
            flags: 0,
            restorer: 0,
            mask: 0,
        };
        exchange(Some(ignore)).map(|before| Self { before })
    }
}

impl Drop for QuitIgnored {
    fn drop(&mut self) {
        exchange(Some(self.before));
    }
}

/// Sets what SIGQUIT does, and answers what it did.
fn exchange(action: Option<Action>) -> Option<Action> {
    let mut before = MaybeUninit::<Action>::uninit();
    let new = action
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref::<Action>);
    // SAFETY: both structs are as the kernel has them and outlive the call; eight is the size of its signal sets.
    unsafe {
        let answer = libc::syscall(
            libc::SYS_rt_sigaction,
            libc::SIGQUIT,
            new,
            before.as_mut_ptr(),
            8,
        );
        (answer == 0).then(|| before.assume_init())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigquit_does_nothing_meanwhile() {
        let handler = || exchange(None).expect("an answer").handler;
        let before = handler();
        let ignored = QuitIgnored::begin().expect("the system lets it");
        assert_eq!(handler(), libc::SIG_IGN);
        // SAFETY: a signal to this thread, which it ignores.
        unsafe { libc::raise(libc::SIGQUIT) };
        drop(ignored);
        assert_eq!(handler(), before);
    }
}
