//! Whether this process may make any system call.

use std::sync::OnceLock;

/// Whether a seccomp filter limits this process's system calls, or may do so, as the system does
/// not report it. A filter may kill the process for an unknown call, so then we make no new kinds
/// of calls. Determined once, before a pause, because it reads a file.
pub fn is_filtered() -> bool {
    static FILTERED: OnceLock<bool> = OnceLock::new();
    *FILTERED.get_or_init(|| {
        // The name of the process may be no text.
        let status = std::fs::read("/proc/self/status");
        status.map_or(true, |status| {
            let mut lines = status.split(|&byte| byte == b'\n');
            lines.any(|line| line == b"Seccomp:\t2")
        })
    })
}
