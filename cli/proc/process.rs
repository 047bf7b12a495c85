//! A process, held by its folder in `/proc`: what is read and signalled is never a later process
//! with the same number.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{open, openat, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{kill_process, pidfd_send_signal, Pid, Signal};

use crate::proc::inside::FOLDER;

/// A process, which may have ended.
#[derive(Debug)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: Pid,
    /// Once the process has ended, nothing is found in it any more.
    folder: OwnedFd,
}

impl Process {
    /// The process with this number now. The errors are sentences.
    pub(crate) fn find(pid: i32) -> Result<Self, String> {
        // The system takes a number below 1 for a group of processes, and the library panics on it.
        let known = (pid > 0).then(|| Pid::from_raw(pid)).flatten();
        let known = known.ok_or(format!("{pid} is not a process id"))?;
        // Not only as a path: the system sends no signal through that.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(format!("/proc/{pid}"), flags, Mode::empty())
            .map_err(|_| format!("there is no process {pid}"))?;
        Ok(Self { pid: known, folder })
    }

    /// All that one of its files in `/proc` has. Errors: it has ended, or hides that from this
    /// user.
    pub(crate) fn read(&self, name: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(name)?.read_to_end(&mut bytes)?;
        // What is told of its memory is empty once that is gone, even before it has ended.
        match bytes.is_empty() {
            true => Err(Errno::SRCH.into()),
            false => Ok(bytes),
        }
    }

    /// The same as text.
    pub(crate) fn text(&self, name: &str) -> io::Result<String> {
        let bytes = self.read(name)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// One of its files in `/proc`. Errors: as [`Process::read`].
    pub(crate) fn open(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(&self.folder, name.as_ref(), flags, Mode::empty())?;
        Ok(file.into())
    }

    /// One of its folders: `root`, `cwd`, `task`. Errors: as [`Process::read`].
    pub(crate) fn folder(&self, name: &str) -> rustix::io::Result<OwnedFd> {
        openat(&self.folder, name, FOLDER, Mode::empty())
    }

    /// Whether it still runs, or nobody has asked how it ended.
    pub(crate) fn is_there(&self) -> bool {
        self.read("stat").is_ok()
    }

    /// Whether none of its threads runs any more, though nobody may have asked yet how it ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.text("stat").map_or(true, |stat| is_over(&stat))
    }

    /// Sends it a signal. Errors: it has ended (`SRCH`); this user may not.
    pub(crate) fn signal(&self, signal: Signal) -> rustix::io::Result<()> {
        match pidfd_send_signal(&self.folder, signal) {
            // A kernel before 5.1, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) if self.is_there() => kill_process(self.pid, signal),
            other => other,
        }
    }
}

/// What `/proc/PID/stat` tells: the state after the name, and the number of threads
/// (`proc_pid_stat(5)`). The first thread may end before the others.
fn is_over(stat: &str) -> bool {
    let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
    let mut words = after.split(' ');
    let is_dead = matches!(words.next(), Some("Z" | "X"));
    let threads = words.nth(16).and_then(|count| count.parse().ok());
    is_dead && threads.unwrap_or(0_u32) <= 1
}

/// The process that a file's name means: a number that no file has.
pub(crate) fn process_named(file: &Path) -> Option<i32> {
    let pid = file.to_str()?.parse().ok().filter(|pid| *pid > 0)?;
    (!file.exists()).then_some(pid)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    #[test]
    fn a_number_is_a_process_unless_a_file_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("4711");
        assert_eq!(process_named(Path::new("4711")), Some(4711));
        for name in ["0", "-3", "4711.hprof", "-", ""] {
            assert_eq!(process_named(Path::new(name)), None);
        }
        std::fs::write(&file, b"").unwrap();
        assert_eq!(process_named(&file), None);
    }

    #[test]
    fn what_has_ended_is_neither_read_nor_signalled() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let held = Process::find(i32::try_from(child.id()).unwrap()).unwrap();
        assert!(held.is_there());
        assert!(held.read("status").unwrap().starts_with(b"Name:"));
        assert!(held.folder("task").is_ok());
        held.signal(Signal::KILL).unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(ended.signal(), Some(Signal::KILL.as_raw()));
        assert!(!held.is_there());
        assert!(held.read("status").is_err() && held.folder("task").is_err());
        assert_eq!(held.signal(Signal::KILL), Err(Errno::SRCH));
    }

    #[test]
    fn a_process_that_nobody_has_asked_about_has_ended() {
        let mut child = Command::new("true").spawn().unwrap();
        let held = Process::find(i32::try_from(child.id()).unwrap()).unwrap();
        while !held.has_ended() {
            std::thread::yield_now();
        }
        assert!(held.is_there());
        for name in ["maps", "smaps", "cmdline"] {
            let error = held.read(name).unwrap_err();
            assert_eq!(
                error.raw_os_error(),
                Some(Errno::SRCH.raw_os_error()),
                "{name}"
            );
        }
        child.wait().unwrap();
        assert!(held.has_ended());
        let this = Process::find(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(!this.has_ended());
    }

    #[test]
    fn a_process_outlives_its_first_thread() {
        let stat = |state, threads| format!("7 (a) b) {state} 1{} {threads} 0", " 0".repeat(15));
        assert!(is_over(&stat("Z", 1)) && is_over(&stat("X", 0)));
        assert!(!is_over(&stat("Z", 2)) && !is_over(&stat("S", 1)));
    }

    /// The number is given again to another process, which must not get the signal.
    #[test]
    fn a_later_process_with_the_number_is_another() {
        let mut first = Command::new("true").spawn().unwrap();
        let pid = i32::try_from(first.id()).unwrap();
        let held = Process::find(pid).unwrap();
        first.wait().unwrap();
        // Only root may say which number is next, and another process may take it meanwhile.
        let taken = (0..100).find_map(|_| {
            std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).ok()?;
            let mut later = Command::new("sleep").arg("600").spawn().unwrap();
            let is_it = i32::try_from(later.id()).unwrap() == pid;
            if !is_it {
                later.kill().unwrap();
                later.wait().unwrap();
            }
            is_it.then_some(later)
        });
        let Some(mut later) = taken else {
            return;
        };
        let sent = held.signal(Signal::QUIT);
        let runs_on = later.try_wait().unwrap().is_none();
        later.kill().unwrap();
        later.wait().unwrap();
        assert_eq!((sent, runs_on), (Err(Errno::SRCH), true));
        assert!(!held.is_there());
    }
}
