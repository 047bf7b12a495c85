//! Waiting until a pipe or socket takes more bytes.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Returns when the descriptor takes bytes or has lost its reader, at a signal, or when this time
/// is over. For any process, a forked child too.
pub fn wait(descriptor: BorrowedFd<'_>, limit: Duration) {
    let mut wanted = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    let limit_ms = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one descriptor record, which outlives the call.
    unsafe { libc::poll(&mut wanted, 1, limit_ms) };
}
