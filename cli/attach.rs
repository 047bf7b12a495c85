//! Attach: HotSpot's own way for another process to have it load an agent (`attachListener_posix.cpp`, Linux), as `jcmd` uses it.
//!
//! A JVM listens on a socket in its folder for temporary files, once somebody has asked for it: by a file there and a SIGQUIT,
//! which would otherwise print all stacks, and would end a process that is no JVM.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{fchown, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};

/// Time for a JVM to begin to listen: it does at its next safepoint.
const LISTEN_LIMIT: Duration = Duration::from_secs(30);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// SIGQUIT in the masks of `/proc/PID/status`.
const QUIT_BIT: u64 = 1 << 2;

/// A process that runs a JVM.
#[derive(Debug)]
pub(crate) struct Jvm {
    pid: Pid,
    /// Its number in its own container, by which it names its socket.
    own_pid: String,
    /// What it sees as `/`.
    root: PathBuf,
    /// Its user and group, those that it acts as.
    owner: (u32, u32),
}

/// The JVM's answer to a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What the agent returned, 0 if all is well; `None` if it was not loaded.
    pub(crate) returned: Option<i32>,
    /// What the JVM says.
    pub(crate) text: String,
}

impl Jvm {
    /// The JVM of this process. Errors, as sentences: there is none, or it cannot be looked at.
    pub(crate) fn find(pid: i32) -> Result<Self, String> {
        // A number below 1 means many processes to the system, or to the library a fault.
        let known = (pid > 0).then(|| Pid::from_raw(pid)).flatten();
        let known = known.ok_or(format!("{pid} is no number of a process"))?;
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let status = fs::read_to_string(folder.join("status"))
            .map_err(|_| format!("there is no process {pid}"))?;
        let told = |error: io::Error| match error.kind() {
            ErrorKind::PermissionDenied => {
                format!("process {pid} is another user's: try as that user, or as root")
            }
            _ => format!("process {pid} cannot be looked at: {error}"),
        };
        let maps = fs::read(folder.join("maps")).map_err(told)?;
        if !contains(&maps, b"/libjvm.so") {
            return Err(format!("process {pid} is no JVM: it has no libjvm.so"));
        }
        let command = fs::read(folder.join("cmdline")).map_err(told)?;
        if contains(&command, b"-XX:+DisableAttachMechanism") {
            return Err(format!(
                "the JVM {pid} was started with -XX:+DisableAttachMechanism: nobody can attach to it"
            ));
        }
        if !handles_quit(&status) {
            return Err(format!(
                "the JVM {pid} does not handle SIGQUIT: it is just starting, or was started with -Xrs"
            ));
        }
        let owner =
            owner(&status).ok_or(format!("the system does not tell whose process {pid} is"))?;
        Ok(Self {
            pid: known,
            own_pid: own_pid(&status).unwrap_or_else(|| pid.to_string()),
            root: folder.join("root"),
            owner,
        })
    }

    /// Whether the JVM sees this file.
    pub(crate) fn sees(&self, file: &Path) -> bool {
        let inside = file.strip_prefix("/").unwrap_or(file);
        self.root.join(inside).exists()
    }

    /// Has the JVM load this library and run it with these options; `waiting` is called meanwhile, several times a second.
    ///
    /// Errors, as sentences: the JVM does not listen, or hangs up.
    pub(crate) fn load(
        &self,
        library: &Path,
        options: &str,
        waiting: impl FnMut(),
    ) -> Result<Answer, String> {
        let pid = self.pid.as_raw_nonzero();
        let hung_up = format!(
            "the JVM {pid} hung up: that of Java 8 obeys its own user alone, who has the number {}",
            self.owner.0
        );
        let gone = |error: io::Error| match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => hung_up.clone(),
            _ => format!("the JVM {pid} does not answer: {error}"),
        };
        let mut socket = self.connect()?;
        let library = library.to_string_lossy();
        // The version of the protocol, the command, its three arguments: the path is the whole one.
        let command = format!("1\0load\0{library}\0true\0{options}\0");
        socket.write_all(command.as_bytes()).map_err(gone)?;
        let text = read_all(&mut socket, waiting).map_err(gone)?;
        if text.is_empty() {
            return Err(hung_up);
        }
        Ok(answer(&text))
    }

    fn connect(&self) -> Result<UnixStream, String> {
        let pid = self.pid.as_raw_nonzero();
        let path = self
            .root
            .join("tmp")
            .join(format!(".java_pid{}", self.own_pid));
        if !path.exists() {
            self.wake(&path)?;
        }
        // Everybody may write to that folder, and what is sent there is obeyed.
        let is_its_own = fs::symlink_metadata(&path)
            .is_ok_and(|facts| facts.file_type().is_socket() && facts.uid() == self.owner.0);
        if !is_its_own {
            return Err(format!(
                "{} is no socket of the JVM's: remove it and try again",
                path.display()
            ));
        }
        UnixStream::connect(&path).map_err(|error| {
            format!(
                "the JVM {pid} does not listen: {error} ({})",
                path.display()
            )
        })
    }

    /// Has the JVM listen.
    fn wake(&self, socket: &Path) -> Result<(), String> {
        let pid = self.pid.as_raw_nonzero();
        let name = format!(".attach_pid{}", self.own_pid);
        let _trigger = Trigger::new(self.root.join("tmp").join(name), self.owner)?;
        kill_process(self.pid, Signal::QUIT)
            .map_err(|error| format!("the JVM {pid} cannot be sent a signal: {error}"))?;
        let until = Instant::now() + LISTEN_LIMIT;
        while !socket.exists() {
            if Instant::now() > until {
                return Err(format!(
                    "the JVM {pid} did not begin to listen within {} s; it may be stopped or very busy",
                    LISTEN_LIMIT.as_secs()
                ));
            }
            sleep(LOOK);
        }
        Ok(())
    }
}

/// The file that makes a SIGQUIT mean "listen"; it goes when it is dropped.
#[derive(Debug)]
struct Trigger(PathBuf);

impl Trigger {
    /// A new file of this user and group.
    fn new(path: PathBuf, (user, group): (u32, u32)) -> Result<Self, String> {
        // Never one that is there, which may be a link to anywhere: everybody may write to that folder.
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let file = made.map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        // HotSpot takes no notice of another user's file. Who may not give files away is that user, or is told later.
        let _ = fchown(&file, Some(user), Some(group));
        Ok(Self(path))
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        // It does no harm where it is.
        let _ = fs::remove_file(&self.0);
    }
}

fn contains(text: &[u8], words: &[u8]) -> bool {
    text.windows(words.len()).any(|window| window == words)
}

/// What stands behind a name in the text of `/proc/PID/status`.
fn value<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

fn handles_quit(status: &str) -> bool {
    let caught = value(status, "SigCgt").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & QUIT_BIT != 0)
}

/// The user and group as which the process acts: not those of its folder, which may be root's.
fn owner(status: &str) -> Option<(u32, u32)> {
    let effective = |name| value(status, name)?.split_whitespace().nth(1)?.parse().ok();
    Some((effective("Uid")?, effective("Gid")?))
}

/// The process's number in the innermost of the containers it is in.
fn own_pid(status: &str) -> Option<String> {
    let numbers = value(status, "NSpid")?;
    numbers.split_whitespace().last().map(str::to_owned)
}

/// Reads to the end.
fn read_all(socket: &mut UnixStream, mut waiting: impl FnMut()) -> io::Result<String> {
    socket.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    loop {
        match socket.read(&mut room) {
            Ok(0) => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(count) => bytes.extend(room.iter().take(count)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                waiting();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The first line says whether the command was carried out, the next what the agent returned: `return code: 0`, from Java 8
/// the number alone.
fn answer(text: &str) -> Answer {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let rest = rest.trim();
    let returned = rest.strip_prefix("return code: ").unwrap_or(rest).parse();
    Answer {
        returned: returned.ok().filter(|_| first.trim() == "0"),
        text: if rest.is_empty() { first } else { rest }.trim().to_owned(),
    }
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
            format!("process {this} is no JVM: it has no libjvm.so")
        );
        assert!(Jvm::find(0).is_err() && Jvm::find(-1).is_err());
        assert!(Jvm::find(i32::MAX)
            .unwrap_err()
            .starts_with("there is no process"));
    }

    #[test]
    fn what_stands_in_the_way_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, b"precious").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let owner = fs::metadata(&target).unwrap();
        let owner = (owner.uid(), owner.gid());
        let why = Trigger::new(link, owner).unwrap_err();
        assert!(why.contains("cannot make"), "{why}");
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        let new = folder.path().join("new");
        drop(Trigger::new(new.clone(), owner).unwrap());
        assert!(!new.exists());
    }

    #[test]
    fn an_answer_is_waited_for() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let mut looks = 0;
        let text = read_all(&mut here, || {
            looks += 1;
            if looks == 2 {
                there.write_all(b"0\nreturn ").unwrap();
                there.write_all(b"code: 0\n").unwrap();
                there.shutdown(std::net::Shutdown::Write).unwrap();
            }
        });
        assert_eq!(text.unwrap(), "0\nreturn code: 0\n");
        assert_eq!(looks, 2);
    }
}
