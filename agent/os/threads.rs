//! The threads of this process as the system knows them.

use std::fs;

/// Longest name that the system keeps of a thread, in bytes.
pub(crate) const NAME_BYTES: usize = 15;

/// A thread of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OsThread {
    /// Its number.
    pub(crate) id: libc::pid_t,
    /// Its name, cut by the system; that of the process if it was never given one.
    pub(crate) name: Vec<u8>,
}

/// All threads of this process; empty if the system does not tell (`/proc/self/task`).
pub(crate) fn os_threads() -> Vec<OsThread> {
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

/// The number by which the system knows the calling thread.
pub(crate) fn this_thread() -> libc::pid_t {
    // SAFETY: a system call without arguments; the C library has a function for it since glibc 2.30 only.
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
