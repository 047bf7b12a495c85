//! The end of the process: code that runs at `exit(3)`, and a SIGQUIT that comes too late.

use std::mem::MaybeUninit;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::OnceLock;

/// The code that runs at `exit(3)`.
static AT_EXIT: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Runs `body` when the process calls `exit(3)`, on the calling thread, while all others keep
/// running. It does not run at `_exit`, nor when a signal ends the process. Only the first call
/// counts. `false` if the C library has no memory for it.
pub fn at_exit(body: impl Fn() + Send + Sync + 'static) -> bool {
    if AT_EXIT.set(Box::new(body)).is_err() {
        return true;
    }
    // SAFETY: a function of this library, which the C library calls before it unloads the library.
    unsafe { libc::atexit(run) == 0 }
}

extern "C" fn run() {
    if let Some(body) = AT_EXIT.get() {
        // No panic may leave Rust.
        let _ = catch_unwind(AssertUnwindSafe(body));
    }
}

/// Ends the process at once, as HotSpot does for `-XX:+ExitOnOutOfMemoryError`: no more code of the
/// JVM runs.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: ends this process and does not return.
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

/// Ignores SIGQUIT as long as it lives.
#[derive(Debug)]
pub struct QuitIgnored {
    before: Action,
}

impl QuitIgnored {
    /// Ignores SIGQUIT from now on. `None` if the system does not allow it.
    ///
    /// HotSpot 11 and 17 end the collector's threads before VMDeath. If they handle SIGQUIT after
    /// that, they crash, because a thread dump reads those threads' times. We call the kernel and
    /// not the C library, because libjsig would forward the request to HotSpot.
    pub fn begin() -> Option<Self> {
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

/// Sets the action of SIGQUIT, and returns the previous one.
fn exchange(action: Option<Action>) -> Option<Action> {
    let mut before = MaybeUninit::<Action>::uninit();
    let new = action
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref::<Action>);
    // SAFETY: both structs have the kernel's layout and outlive the call; eight is the size of its
    // signal sets.
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
