//! The answers of system calls, as results.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Of a call that answers a number below 0 if it fails.
pub fn done(answer: libc::c_int) -> io::Result<()> {
    match answer {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Of a call that opens a descriptor.
///
/// # Safety
/// Nothing else owns the descriptor.
pub unsafe fn opened(answer: libc::c_long) -> io::Result<OwnedFd> {
    let descriptor = RawFd::try_from(answer).ok().filter(|&it| it >= 0);
    let descriptor = descriptor.ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Of waiting for this child: its status, `None` within if somebody else has taken it; `None` if
/// the child runs.
pub fn ended(child: libc::pid_t, flags: libc::c_int) -> Option<Option<libc::c_int>> {
    let mut status = 0;
    // SAFETY: waits for this child only; `status` outlives the call.
    let answer = unsafe { libc::waitpid(child, &mut status, flags) };
    let is_interrupted = || io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
    match answer {
        0 => None,
        ..0 if is_interrupted() => None,
        ..0 => Some(None),
        _ => Some(Some(status)),
    }
}
