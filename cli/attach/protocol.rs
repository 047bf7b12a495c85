//! Attach: HotSpot's own way for another process to make it load an agent
//! (`attachListener_posix.cpp`, Linux), as `jcmd` uses it.
//!
//! A JVM listens on a socket in its folder for temporary files once it was asked to: by a file
//! there and a SIGQUIT. Without the file, SIGQUIT would print all stacks; in a process that is not
//! a JVM, it would end the process.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{fstat, openat, statat, AtFlags, FileType, Mode, OFlags};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{getegid, geteuid, Signal};

use crate::attach::attach_switch::{is_closed, is_java_8};
use crate::output::{plain, shown};
use crate::proc::c_library::CLibrary;
use crate::proc::ended::{Ended, INTERRUPTED};
use crate::proc::inside::{self, Inside};
use crate::proc::made_file::MadeFile;
use crate::proc::process::Process;
use crate::proc::reach::{mask, memory_bytes, owner, value, Reach};

/// How long a JVM may take to start listening, which it does at its next safepoint.
const LISTEN_LIMIT: Duration = Duration::from_secs(30);
/// How long after its connections a JVM that ends may be there.
const END_LIMIT: Duration = Duration::from_secs(1);
/// Time between two checks.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// Most bytes read of an answer.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// SIGQUIT in the masks of `/proc/PID/status`.
const QUIT_BIT: u64 = 1 << 2;

/// A process that runs a JVM.
#[derive(Debug)]
pub(crate) struct Jvm {
    /// Its process id here.
    pub(crate) pid: i32,
    pub(crate) process: Process,
    /// Its process id in its own container, which is part of its socket's name.
    pub(crate) own_pid: String,
    /// Its root folder.
    pub(crate) root: Inside,
    /// Its effective user and group.
    pub(crate) owner: (u32, u32),
    /// The C library that it runs on, if that is known.
    pub(crate) c_library: Option<CLibrary>,
    /// Whether it may be one of Java 8.
    may_be_8: bool,
}

/// The JVM's answer to a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The agent's return value, 0 for success; `None` if the agent was not loaded.
    pub(crate) returned: Option<i32>,
    /// The JVM's answer as text.
    pub(crate) text: String,
}

impl Answer {
    /// Whether the JVM loads no agents while it runs (JEP 451).
    pub(crate) fn is_refused(&self) -> bool {
        self.returned.is_none() && self.text.contains("EnableDynamicAgentLoading")
    }

    /// Why the agent was not loaded.
    pub(crate) fn not_loaded(&self, pid: i32) -> String {
        let why = format!("the JVM {pid} could not load the agent: {}", self.text);
        if self.is_refused() {
            return why
                + "; hprof dump --stop-the-world -o FILE has HotSpot's own dumper stop the application instead";
        }
        why
    }
}

impl Jvm {
    /// The JVM with this process id. The errors are sentences: there is no such JVM, or it cannot
    /// be inspected.
    pub(crate) fn find(pid: i32) -> Result<Self, String> {
        let process = Process::find(pid)?;
        let status = process.text("status");
        let status = status.map_err(|_| format!("there is no process {pid}"))?;
        let Reach { root, maps } = Reach::of(&process, &status)?;
        let maps = maps.as_deref();
        let owner = owner(&status).ok_or(format!("the system hides the owner of process {pid}"))?;
        let own_pid = own_pid(&status).unwrap_or_else(|| pid.to_string());
        if is_closed(&process, &root, &own_pid, owner.0, maps) {
            return Err(format!(
                "the JVM {pid} was started with -XX:+DisableAttachMechanism: no command can attach to it"
            ));
        }
        if !handles_quit(&status) {
            return Err(format!(
                "the JVM {pid} does not handle SIGQUIT: it is just starting, or was started with -Xrs"
            ));
        }
        Ok(Self {
            pid,
            process,
            own_pid,
            root,
            owner,
            c_library: maps.and_then(CLibrary::of_process),
            may_be_8: maps.is_none_or(is_java_8),
        })
    }

    /// How much memory it has; 0 if it has ended.
    pub(crate) fn memory_bytes(&self) -> u64 {
        memory_bytes(&self.process.text("status").unwrap_or_default())
    }

    /// Makes the JVM load this library and run it with these options; calls `waiting` several times
    /// a second meanwhile, and gives up when it returns false.
    ///
    /// The errors are sentences: the JVM does not listen, or closes the connection.
    pub(crate) fn load(
        &self,
        library: &Path,
        options: &str,
        waiting: impl FnMut() -> bool,
    ) -> Result<Answer, String> {
        let library = library.to_string_lossy();
        // `true` means that the path is absolute.
        let words: [&[u8]; 4] = [b"load", library.as_bytes(), b"true", options.as_bytes()];
        self.ask(words, waiting).map(|text| answer(&text))
    }

    /// Sends the JVM a command of the attach protocol with its three arguments, and returns the
    /// answer, whose first line is a number. Otherwise as [`load`](Self::load).
    pub(crate) fn ask(
        &self,
        words: [&[u8]; 4],
        waiting: impl FnMut() -> bool,
    ) -> Result<String, String> {
        let pid = self.pid;
        let gone = |error: io::Error| match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => self.hung_up(),
            ErrorKind::Interrupted => INTERRUPTED.to_owned(),
            _ => format!("the JVM {pid} does not answer: {error}"),
        };
        let ended = Ended::new();
        let mut socket = self.connect(&ended)?;
        // The version of the protocol comes first.
        let mut command = b"1\0".to_vec();
        for word in words {
            command.extend_from_slice(word);
            command.push(0);
        }
        socket.write_all(&command).map_err(gone)?;
        let text = read_all(&mut socket, &ended, waiting).map_err(gone)?;
        if text.is_empty() {
            return Err(self.hung_up());
        }
        Ok(text)
    }

    /// Why it has closed the connection without an answer, as far as that is known.
    fn hung_up(&self) -> String {
        let pid = self.pid;
        let user = (geteuid().as_raw(), getegid().as_raw());
        let until = Instant::now() + END_LIMIT;
        while !self.process.has_ended() && Instant::now() < until {
            sleep(LOOK);
        }
        if self.process.has_ended() {
            format!("the JVM {pid} ended before it answered")
        } else if self.may_be_8 && user != self.owner {
            format!(
                "the JVM {pid} closed the connection: a JVM of Java 8 accepts only its own user; run this command as the user with id {}",
                self.owner.0
            )
        } else {
            format!(
                "the JVM {pid} closed the connection without an answer: it may be ending, or have no file descriptors left; try again"
            )
        }
    }

    fn connect(&self, ended: &Ended) -> Result<UnixStream, String> {
        let pid = self.pid;
        let name = format!(".java_pid{}", self.own_pid);
        let folder = self
            .root
            .folder(Path::new("/tmp"))
            .map_err(|error| format!("the JVM {pid} has no folder /tmp to listen in: {error}"))?;
        if statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            self.wake(&folder, &name, ended)?;
        }
        // Everybody may write to that folder, and the receiver obeys our commands. So we connect to
        // exactly the file that was checked.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = openat(&folder, &name, flags, Mode::empty());
        let is_its_own = |held: &OwnedFd| {
            let facts = fstat(held);
            facts.is_ok_and(|facts| {
                FileType::from_raw_mode(facts.st_mode).is_socket() && facts.st_uid == self.owner.0
            })
        };
        let Some(held) = held.ok().filter(is_its_own) else {
            return Err(format!(
                "/tmp/{name} is not a socket of the JVM {pid}: remove it and try again"
            ));
        };
        let socket = UnixStream::connect(inside::path_of(&held))
            .map_err(|error| format!("the JVM {pid} does not listen: {error} (/tmp/{name})"))?;
        let peer = socket_peercred(&socket)
            .map_err(|error| format!("the system hides which process listens: {error}"))?;
        if peer.pid != self.process.pid || !self.process.is_there() {
            return Err(format!(
                "/tmp/{name} is a socket of process {}, not of the JVM {pid}: remove it and try again",
                peer.pid.as_raw_nonzero()
            ));
        }
        Ok(socket)
    }

    /// Makes the JVM listen.
    fn wake(&self, folder: &OwnedFd, socket: &str, ended: &Ended) -> Result<(), String> {
        let pid = self.pid;
        let _trigger = self.trigger(folder)?;
        self.process
            .signal(Signal::QUIT)
            .map_err(|error| format!("the JVM {pid} cannot be sent a signal: {error}"))?;
        let until = Instant::now() + LISTEN_LIMIT;
        while statat(folder, socket, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            if ended.is_set() {
                return Err(INTERRUPTED.to_owned());
            }
            if Instant::now() > until {
                return Err(format!(
                    "the JVM {pid} did not begin to listen within {} s; it may be stopped or very busy, or was started \
                     with -XX:+DisableAttachMechanism",
                    LISTEN_LIMIT.as_secs()
                ));
            }
            sleep(LOOK);
        }
        Ok(())
    }

    /// Creates the file that makes a SIGQUIT mean "listen": in the folder for temporary files, or
    /// if that is not writable, in the JVM's working folder, where HotSpot searches, too.
    fn trigger(&self, folder: &OwnedFd) -> Result<Option<MadeFile>, String> {
        let name = format!(".attach_pid{}", self.own_pid);
        let first = match MadeFile::new(folder, &name, self.owner) {
            Ok(trigger) => return Ok(trigger),
            Err(error) => error,
        };
        self.process.folder("cwd")
            .and_then(|folder| MadeFile::new(&folder, &name, self.owner))
            .map_err(|second| {
                format!(
                    "cannot make {name} where the JVM looks for it: {first} (/tmp), {second} (its working folder)"
                )
            })
    }
}

fn handles_quit(status: &str) -> bool {
    mask(status, "SigCgt").is_some_and(|caught| caught & QUIT_BIT != 0)
}

/// The process's id in its innermost container.
fn own_pid(status: &str) -> Option<String> {
    let numbers = value(status, "NSpid")?;
    numbers.split_whitespace().last().map(str::to_owned)
}

/// Reads to the end, or as much as any JVM would send.
fn read_all(
    socket: &mut UnixStream,
    ended: &Ended,
    mut waiting: impl FnMut() -> bool,
) -> io::Result<String> {
    socket.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    while bytes.len() < ANSWER_BYTES_MAX {
        if ended.is_set() {
            return Err(ErrorKind::Interrupted.into());
        }
        match socket.read(&mut room) {
            Ok(0) => break,
            Ok(count) => bytes.extend(room.iter().take(count)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if !waiting() {
                    return Err(error);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line is whether the command was executed, the next the agent's return code:
/// `return code: 0`, on Java 8 just the number.
fn answer(text: &str) -> Answer {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let rest = rest.trim();
    let returned = rest.strip_prefix("return code: ").unwrap_or(rest).parse();
    Answer {
        returned: returned.ok().filter(|_| first.trim() == "0"),
        text: one_line(if rest.is_empty() { first } else { rest }),
    }
}

/// A JVM's answer, safe to print on a terminal, because any program may have sent it.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<String> = text.trim().lines().map(plain).collect();
    shown(&lines.join("; ")).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tjava\nUid:\t1000\t1001\t1000\t1000\nGid:\t50\t51\t50\t50\nNSpid:\t4711\t17\nSigBlk:\t0\nSigCgt:\t2000000181005ccf\n";

    #[test]
    fn the_system_tells_of_a_process() {
        assert!(handles_quit(STATUS));
        assert!(!handles_quit("SigCgt:\t0000000000000000\n") && !handles_quit(""));
        assert_eq!(own_pid(STATUS).unwrap(), "17");
        assert_eq!(owner(STATUS), Some((1001, 51)));
        assert_eq!(owner("Uid:\t1000\n"), None);
        assert_eq!(own_pid("Name:\tjava\n"), None);
    }

    #[test]
    fn each_java_answers_in_its_own_way() {
        let returned = |text| answer(text).returned;
        assert_eq!(returned("0\nreturn code: 0\n"), Some(0));
        assert_eq!(returned("0\nreturn code: 200\n"), Some(200));
        assert_eq!(returned("0\n100\n"), Some(100));
        assert_eq!(returned("0\n"), None);
        let refused = answer("0\n/x.so was not loaded.\n/x.so: no such file\n");
        assert_eq!(refused.returned, None);
        assert!(refused.text.starts_with("/x.so was not loaded."));
        assert_eq!(returned("101\nreturn code: 0\n"), None);
        assert_eq!(answer("101\n").text, "101");
    }

    #[test]
    fn only_jvms_are_found() {
        let this = i32::try_from(std::process::id()).unwrap();
        let why = Jvm::find(this).unwrap_err();
        assert_eq!(
            why,
            format!("process {this} is not a JVM: it has no libjvm.so")
        );
        assert!(Jvm::find(0).is_err() && Jvm::find(-1).is_err());
        assert!(Jvm::find(i32::MAX)
            .unwrap_err()
            .starts_with("there is no process"));
    }

    #[test]
    fn an_answer_is_bounded_and_harmless() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let writer = std::thread::spawn(move || while there.write_all(&[b'x'; 4096]).is_ok() {});
        let text = read_all(&mut here, &Ended::new(), || true).unwrap();
        assert!(text.len() <= ANSWER_BYTES_MAX + 4096);
        drop(here);
        writer.join().unwrap();
        let evil = answer("0\n\x1b]0;pwned\x07\x1b[2J\nmore\u{202e}\n");
        assert_eq!(
            evil.text,
            "\u{fffd}]0;pwned\u{fffd}\u{fffd}[2J; more\u{fffd}"
        );
    }

    #[test]
    fn an_answer_is_waited_for() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let mut looks = 0;
        let text = read_all(&mut here, &Ended::new(), || {
            looks += 1;
            if looks == 2 {
                there.write_all(b"0\nreturn ").unwrap();
                there.write_all(b"code: 0\n").unwrap();
                there.shutdown(std::net::Shutdown::Write).unwrap();
            }
            true
        });
        assert_eq!(text.unwrap(), "0\nreturn code: 0\n");
        assert_eq!(looks, 2);
    }
}
