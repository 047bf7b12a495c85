//! The descriptors of the forked copy: it keeps the few that it needs. Those of sockets would keep
//! the port of a server that restarts.

use jvm::os::seccomp::may_call;
use std::ops::RangeInclusive;
use std::os::fd::RawFd;

/// Closes all descriptors except `keep`, and sends what HotSpot may still print to /dev/null.
pub(super) fn close_others(keep: &[RawFd]) {
    let mut keep: Vec<RawFd> = keep.iter().copied().filter(|&fd| fd > 2).collect();
    keep.sort_unstable();
    let mut from: RawFd = 3;
    for &fd in &keep {
        close_range(from, fd - 1);
        from = fd + 1;
    }
    close_range(from, RawFd::MAX);
    // SAFETY: a C string, and descriptors of this process.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for standard in 0..3 {
            libc::dup2(nowhere, standard);
        }
        if nowhere > 2 && !keep.contains(&nowhere) {
            libc::close(nowhere);
        }
    }
}

/// Closes the descriptors from `first` to `last`.
fn close_range(first: RawFd, last: RawFd) {
    if first > last {
        return;
    }
    if !may_call(&[libc::SYS_close_range]) {
        return close_listed(first..=last);
    }
    // SAFETY: a plain system call.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } != 0 {
        close_listed(first..=last);
    }
}

/// Closes them one by one, for kernels older than 5.9.
fn close_listed(range: RangeInclusive<RawFd>) {
    /// If the open descriptors cannot be listed, tries all up to this one.
    const MOST: RawFd = 65_536;
    let open = std::fs::read_dir("/proc/self/fd").map(|entries| {
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).collect()
    });
    let open: Vec<RawFd> = open.unwrap_or_else(|_| (0..=MOST).collect());
    for fd in open.into_iter().filter(|fd| range.contains(fd)) {
        // SAFETY: a plain system call.
        unsafe { libc::close(fd) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn descriptors_are_closed_by_the_systems_list() {
        let (one, _other) = UnixStream::pair().expect("sockets");
        // Far above all other descriptors, so that no foreign one is closed.
        let high = 900;
        // SAFETY: plain system calls.
        unsafe {
            assert_eq!(libc::dup2(one.as_raw_fd(), high), high);
            close_listed(high - 5..=high + 5);
            assert_eq!(libc::fcntl(high, libc::F_GETFD), -1);
        }
        assert!(one.local_addr().is_ok(), "all others stay");
    }
}
