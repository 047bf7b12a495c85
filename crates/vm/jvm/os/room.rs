//! Waiting until a pipe or socket takes more bytes, or has some.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Returns when the descriptor takes bytes or has lost its reader, at a signal, or when this time
/// is over. For any process, a forked child too.
pub fn wait(descriptor: BorrowedFd<'_>, limit: Duration) {
    poll(descriptor, libc::POLLOUT, limit);
}

/// Waits up to `limit` until a descriptor has bytes or its peer has closed it. False if neither
/// happened.
pub fn is_readable(descriptor: BorrowedFd<'_>, limit: Duration) -> bool {
    poll(descriptor, libc::POLLIN, limit)
}

fn poll(descriptor: BorrowedFd<'_>, events: libc::c_short, limit: Duration) -> bool {
    let mut wanted = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events,
        revents: 0,
    };
    let limit_ms = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one descriptor record, which outlives the call.
    unsafe { libc::poll(&mut wanted, 1, limit_ms) > 0 }
}
