//! The threads of this process, as the kernel knows them.

use std::fs;

/// Longest thread name that the kernel keeps, in bytes.
pub const NAME_BYTES: usize = 15;

/// A thread of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsThread {
    /// Its kernel id.
    pub id: libc::pid_t,
    /// Its name, truncated by the kernel; the process's name if it was never set.
    pub name: Vec<u8>,
}

/// All threads of this process; empty if the system does not list them (`/proc/self/task`).
pub fn os_threads() -> Vec<OsThread> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let thread = |entry: fs::DirEntry| {
        let mut name = fs::read(entry.path().join("comm")).ok()?;
        name.truncate(name.trim_ascii_end().len());
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some(OsThread { id, name })
    };
    let entries = entries.filter_map(Result::ok);
    entries.filter_map(thread).collect()
}

/// The kernel's id of the calling thread.
pub fn this_thread() -> libc::pid_t {
    // SAFETY: a system call without arguments. The C library has a function for it only since glibc
    // 2.30.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    libc::pid_t::try_from(thread).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_there_under_its_cut_name() {
        let body = || (this_thread(), os_threads());
        let builder = std::thread::Builder::new().name("with a very long name".to_owned());
        let (id, threads) = builder.spawn(body).unwrap().join().unwrap();
        let own = threads.iter().find(|thread| thread.id == id).unwrap();
        assert_eq!(own.name, &b"with a very long name"[..NAME_BYTES]);
    }
}
