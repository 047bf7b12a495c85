//! Receives what an agent sends to this command: a socket in the JVM's folder for temporary files,
//! and the bytes that come through it.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use format::{record, RECORD_HEADER_BYTES};
use indicatif::HumanBytes;
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{umask, Pid};

use crate::attach::answer_file::AnswerFile;
use crate::attach::protocol::{Answer, Jvm};
use crate::output::outcome::Failure;
use crate::output::spinner::spinner;
use crate::proc::as_user::as_user;
use crate::proc::leftover::{making, Leftover};

/// Time between two checks for a connection, or for the end of the bytes.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes read from the agent at once.
const BUFFER_BYTES: usize = 256 << 10;

/// The last record of a whole stream: its tag, no time, no bytes.
pub(crate) const END: [u8; RECORD_HEADER_BYTES] = [record::HEAP_DUMP_END, 0, 0, 0, 0, 0, 0, 0, 0];

/// Permissions that nobody gets: only the JVM's user may connect.
const NOBODY_ELSE: Mode = Mode::XUSR.union(Mode::RWXG).union(Mode::RWXO);

/// A socket in the JVM's folder for temporary files; it goes when this is dropped.
pub(crate) struct AgentSocket {
    name: String,
    /// The JVM connects to it; it does not block.
    pub(crate) listener: UnixListener,
    _left: Leftover,
}

impl AgentSocket {
    /// A new one, which only the JVM's user may connect to. Errors: the JVM has no such folder; the
    /// name is there; the JVM's user may not make it there.
    pub(crate) fn new(jvm: &Jvm) -> Result<Self, Failure> {
        let name = format!(".hprof_graph.{}.{}", jvm.own_pid, std::process::id());
        let folder = jvm.root.folder(Path::new("/tmp"));
        let made = folder.and_then(|folder| Self::made(&folder, name, jvm.owner));
        made.map_err(|error| {
            Failure::Input(format!(
                "cannot make a socket where the JVM {} looks for it: {error} (/tmp)",
                jvm.pid
            ))
        })
    }

    /// It belongs to this user and group from its beginning: a user with rights to the folder could
    /// exchange it later.
    fn made(folder: &OwnedFd, name: String, owner: (u32, u32)) -> rustix::io::Result<Self> {
        // This is an error if the name is there already, whatever has it.
        let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
        let making = making();
        let bound = as_user(owner, || {
            let before = umask(NOBODY_ELSE);
            let bound = UnixListener::bind(path);
            umask(before);
            bound.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
        });
        let place = Self {
            listener: bound?,
            _left: Leftover::new(making, folder, &name, owner)?,
            name,
        };
        rustix::io::ioctl_fionbio(&place.listener, true)?;
        Ok(place)
    }

    /// Its path as the JVM sees it.
    pub(crate) fn path(&self) -> PathBuf {
        Path::new("/tmp").join(&self.name)
    }
}

/// What comes through the socket. Each connection is a try of the agent's.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    /// Nobody will connect any more.
    ended: AtomicBool,
    /// The agent has failed, so what is under way is not wanted either.
    given_up: AtomicBool,
    /// What comes is not taken, so no answer is waited for.
    refused: AtomicBool,
    /// Bytes that have come.
    bytes: AtomicU64,
}

impl Incoming {
    /// Bytes that have come since the last [`Incoming::restart`].
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts the bytes from 0.
    pub(crate) fn restart(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Makes the JVM load the agent, and shows the user how many bytes are `done` until the agent
    /// has answered in `said`. After that nobody connects.
    pub(crate) fn load(
        &self,
        jvm: &Jvm,
        library: &Path,
        options: &str,
        said: Option<&AnswerFile>,
        done: &str,
    ) -> Result<Answer, String> {
        let bar = spinner();
        let waiting = || {
            bar.set_message(format!("{} {done}", HumanBytes(self.bytes())));
            bar.tick();
            !self.refused.load(Ordering::Relaxed)
        };
        let first = jvm.load(library, options, waiting);
        let answer = first.and_then(|first| match said {
            Some(said) => said.last_word(jvm, first, waiting),
            None => Ok(first),
        });
        bar.finish_and_clear();
        self.given_up.store(answer.is_err(), Ordering::Relaxed);
        self.end();
        answer
    }

    /// What comes is not taken: [`Incoming::load`] ends without an answer.
    pub(crate) fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }

    /// Nobody will connect any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Calls `take` with each connection of this process, until the end. Errors: those of `take`;
    /// the socket fails.
    pub(crate) fn each(
        &self,
        listener: &UnixListener,
        from: Pid,
        mut take: impl FnMut(UnixStream) -> io::Result<()>,
    ) -> io::Result<()> {
        loop {
            // Read first: a connection that was made before the end is still taken.
            let is_last = self.ended.load(Ordering::Relaxed);
            match listener.accept() {
                Ok((stream, _)) if socket_peercred(&stream)?.pid == from => take(stream)?,
                Ok(_) => {}
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Err(_) if is_last => return Ok(()),
                Err(_) => thread::sleep(LOOK),
            }
        }
    }

    /// Writes all that comes through a connection to `to`; whether it has its end. Errors: those of
    /// `to`.
    pub(crate) fn receive(&self, mut stream: UnixStream, to: &mut dyn Write) -> io::Result<bool> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LOOK))?;
        let (mut room, mut last) = (vec![0; BUFFER_BYTES], Vec::new());
        loop {
            match stream.read(&mut room) {
                Ok(0) => break,
                Ok(count) => {
                    let bytes = room.get(..count).unwrap_or_default();
                    to.write_all(bytes)?;
                    self.bytes.fetch_add(count as u64, Ordering::Relaxed);
                    let tail = bytes.get(count.saturating_sub(END.len())..);
                    last.extend_from_slice(tail.unwrap_or_default());
                    last.drain(..last.len().saturating_sub(END.len()));
                }
                Err(_) if self.given_up.load(Ordering::Relaxed) => return Ok(false),
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                // A JVM that was killed.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
                Err(error) => return Err(error),
            }
        }
        to.flush()?;
        Ok(last == END)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub(crate) mod tests {
    use super::*;

    /// Connects once for each of these texts, one after the other, while `take` runs with the
    /// socket.
    pub(crate) fn sent<R: Send>(
        incoming: &Incoming,
        tries: &[&[u8]],
        take: impl FnOnce(&UnixListener) -> R + Send,
    ) -> R {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        thread::scope(|scope| {
            let taking = scope.spawn(|| take(&listener));
            for bytes in tries {
                // The command may have hung up already.
                let _ = UnixStream::connect(&path).unwrap().write_all(bytes);
            }
            incoming.end();
            taking.join().unwrap()
        })
    }

    /// Not by a change afterwards: what has the name by then may be another file.
    #[test]
    fn the_socket_is_its_users_from_the_beginning() {
        use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let held = OwnedFd::from(std::fs::File::open(folder.path()).unwrap());
        let own = std::fs::metadata(folder.path()).unwrap();
        let is_root = own.uid() == 0;
        let (user, group) = match is_root {
            true => (54_321, 54_322),
            false => (own.uid(), own.gid()),
        };
        let made = || AgentSocket::made(&held, "socket".to_owned(), (user, group));
        if is_root {
            // Root does not do there what that user may not.
            assert_eq!(made().err(), Some(Errno::ACCESS));
            let all = std::fs::Permissions::from_mode(0o1777);
            std::fs::set_permissions(folder.path(), all).unwrap();
        }
        let place = made().unwrap();
        let facts = std::fs::symlink_metadata(folder.path().join("socket")).unwrap();
        assert!(facts.file_type().is_socket());
        assert_eq!((facts.uid(), facts.gid()), (user, group));
        assert_eq!(facts.mode() & 0o777, 0o600);
        assert_eq!(made().err(), Some(Errno::ADDRINUSE));
        drop(place);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_the_jvm_is_heard() {
        for (from, expected) in [(Pid::INIT, 0), (rustix::process::getpid(), 2)] {
            let incoming = Incoming::default();
            let mut heard = 0;
            sent(&incoming, &[&END, b""], |listener| {
                incoming.each(listener, from, |_| {
                    heard += 1;
                    Ok(())
                })
            })
            .unwrap();
            assert_eq!(heard, expected);
        }
    }

    #[test]
    fn a_stream_is_whole_if_it_has_its_end() {
        for (bytes, is_whole) in [
            ([b"dump", &END[..]].concat(), true),
            ([b"dump", &END[..8]].concat(), false),
            ([&END[..], b"more"].concat(), false),
            (Vec::new(), false),
        ] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            theirs.write_all(&bytes).unwrap();
            drop(theirs);
            let mut to = Vec::new();
            let received = Incoming::default().receive(ours, &mut to).unwrap();
            assert_eq!((received, to), (is_whole, bytes));
        }
    }

    /// Takes nothing.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_output_that_is_closed_is_an_error() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"dump").unwrap();
        let received = Incoming::default().receive(ours, &mut Closed);
        assert_eq!(received.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert!(theirs.read(&mut [0]).is_ok_and(|count| count == 0));
    }
}
