//! What an agent sends to this command: a socket in the JVM's folder for temporary files, and what comes through it.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use format::{record, RECORD_HEADER_BYTES};
use indicatif::HumanBytes;
use rustix::fs::{chmodat, chownat, unlinkat, AtFlags, Gid, Mode, Uid};
use rustix::net::sockopt::socket_peercred;
use rustix::process::Pid;

use crate::attach::{Answer, Jvm};
use crate::outcome::Failure;
use crate::spinner::spinner;

/// Time between two looks for a connection, or whether there will be more bytes.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes read from the agent at once.
const BUFFER_BYTES: usize = 256 << 10;

/// What the last record of a whole stream is: its tag, no time, no bytes.
pub(crate) const END: [u8; RECORD_HEADER_BYTES] = [record::HEAP_DUMP_END, 0, 0, 0, 0, 0, 0, 0, 0];

/// A socket in the JVM's folder for temporary files; it goes when this is dropped.
pub(crate) struct Place {
    folder: OwnedFd,
    name: String,
    listener: UnixListener,
}

impl Place {
    /// A new one, which only the JVM's user may connect to. Errors: the JVM has no such folder; the name is there.
    pub(crate) fn new(jvm: &Jvm) -> Result<Self, Failure> {
        Self::made(jvm).map_err(|error| {
            Failure::Input(format!(
                "cannot make a socket where the JVM {} looks for it: {error} (/tmp)",
                jvm.pid()
            ))
        })
    }

    fn made(jvm: &Jvm) -> io::Result<Self> {
        let folder = jvm.root().folder(Path::new("/tmp"))?;
        let name = format!(".hprof_graph.{}.{}", jvm.own_pid(), std::process::id());
        // This is an error if the name is there already, whatever has it.
        let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
        let listener = UnixListener::bind(path)?;
        let place = Self {
            folder,
            name,
            listener,
        };
        place.give_to(jvm.owner())?;
        place.listener.set_nonblocking(true)?;
        Ok(place)
    }

    /// Lets only the JVM's user connect. [`Incoming::each`] still asks which process has connected.
    fn give_to(&self, (user, group): (u32, u32)) -> rustix::io::Result<()> {
        let (folder, name) = (&self.folder, self.name.as_str());
        chmodat(folder, name, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
        // A command that may not give it away runs as that user.
        let _ = chownat(
            folder,
            name,
            Some(Uid::from_raw(user)),
            Some(Gid::from_raw(group)),
            AtFlags::SYMLINK_NOFOLLOW,
        );
        Ok(())
    }

    /// The socket to which the JVM connects; it does not block.
    pub(crate) fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Its path as the JVM sees it.
    pub(crate) fn path(&self) -> PathBuf {
        Path::new("/tmp").join(&self.name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It does no harm where it is.
        let _ = unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
    }
}

/// What comes through the socket. Each connection is a try of the agent's.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    /// Nobody will connect any more.
    ended: AtomicBool,
    /// The agent has failed, so what is under way is not wanted either.
    given_up: AtomicBool,
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

    /// Has the JVM load the agent, and tells the user how many bytes are `done` meanwhile. After that nobody connects.
    pub(crate) fn load(
        &self,
        jvm: &Jvm,
        library: &Path,
        options: &str,
        done: &str,
    ) -> Result<Answer, String> {
        let bar = spinner();
        let answer = jvm.load(library, options, || {
            bar.set_message(format!("{} {done}", HumanBytes(self.bytes())));
            bar.tick();
        });
        bar.finish_and_clear();
        self.given_up.store(answer.is_err(), Ordering::Relaxed);
        self.end();
        answer
    }

    /// Nobody will connect any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Calls `take` with each connection of this process, until the end. Errors: those of `take`; the socket fails.
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

    /// Writes all that comes through a connection to `to`; whether it has its end. Errors: those of `to`.
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

    /// Connects once for each of these texts, one after the other, while `take` runs with the socket.
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
