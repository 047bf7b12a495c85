//! The objects of a JVM that runs, without a file: the agent's forked copy sends them to a socket of this command's.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use format::{record, RECORD_HEADER_BYTES};
use indicatif::HumanBytes;
use rustix::fs::{chmodat, chownat, memfd_create, unlinkat, AtFlags, Gid, MemfdFlags, Mode, Uid};
use rustix::net::sockopt::socket_peercred;
use rustix::process::Pid;

use crate::attach::{Answer, AnswerFile, Jvm};
use crate::library::Library;
use crate::outcome::Failure;
use crate::spinner::spinner;

/// Time between two looks for a connection, or whether there will be more bytes.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes read from the agent at once.
const BUFFER_BYTES: usize = 256 << 10;

/// What the last record of a whole stream is: its tag, no time, no bytes.
pub(crate) const END: [u8; RECORD_HEADER_BYTES] = [record::HEAP_DUMP_END, 0, 0, 0, 0, 0, 0, 0, 0];

/// The process that a file's name means: a number that no file has.
pub(crate) fn process_named(file: &Path) -> Option<i32> {
    let pid = file.to_str()?.parse().ok().filter(|pid| *pid > 0)?;
    (!file.exists()).then_some(pid)
}

/// Has the JVM of this process send its objects, and keeps them in memory: a file without a place on a disk, and how many
/// milliseconds the application paused, if the agent has said so.
///
/// Errors: there is no such JVM, it cannot be forked, or what it sent is not whole.
pub(crate) fn graph_of(pid: i32, agent: Option<&Path>) -> Result<(File, Option<u64>), Failure> {
    let jvm = Jvm::find(pid).map_err(Failure::Input)?;
    let library = Library::find(&jvm, agent)?;
    let said = jvm.answer_file();
    let place = Place::new(&jvm).map_err(|error| {
        Failure::Input(format!(
            "cannot make a socket where the JVM {pid} looks for it: {error} (/tmp)"
        ))
    })?;
    let mut told = format!("heap=dump,stop=n,graph={}", place.path().display());
    if let Some(said) = &said {
        told += &format!(",answer={}", said.path());
    }
    let flow = Flow::default();
    let (answer, taken) = thread::scope(|scope| {
        let taking = scope.spawn(|| flow.take(&place.listener, jvm.process()));
        let bar = spinner();
        let answer = jvm.load(library.path(), &told, || {
            let bytes = HumanBytes(flow.bytes.load(Ordering::Relaxed));
            bar.set_message(format!("{bytes} received"));
            bar.tick();
        });
        bar.finish_and_clear();
        flow.given_up.store(answer.is_err(), Ordering::Relaxed);
        flow.ended.store(true, Ordering::Relaxed);
        let taken = taking.join();
        (
            answer,
            taken.unwrap_or_else(|_| Err(ErrorKind::Other.into())),
        )
    });
    let answer = answer.map_err(Failure::Input)?;
    let said = said.map(AnswerFile::lines).unwrap_or_default();
    judge(pid, &answer, &said)?;
    for line in &said {
        writeln!(io::stderr(), "{line}")?;
    }
    let taken = taken.map_err(|error| {
        Failure::Input(format!(
            "what the JVM {pid} sent cannot be kept: {error}; it takes some 6 bytes of memory for each object"
        ))
    })?;
    let file = taken.ok_or_else(|| {
        Failure::Input(format!(
            "what the JVM {pid} sent is not whole; its stderr may say why"
        ))
    })?;
    Ok((file, said.iter().find_map(|line| pause_millis(line))))
}

/// The pause in the agent's line about what it has sent.
fn pause_millis(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("application paused for ")?;
    rest.split_once(" ms")?.0.parse().ok()
}

/// What the agent's return code means, and what it has said about it.
fn judge(pid: i32, answer: &Answer, said: &[String]) -> Result<(), Failure> {
    let advice = format!("hprof dump {pid} writes a file");
    Err(Failure::Input(match answer.returned {
        Some(0) => return Ok(()),
        Some(_) if !said.is_empty() => format!("{}. {advice}", said.join("; ")),
        Some(_) => {
            format!("nothing was sent; the reason is on the stderr of the JVM {pid}. {advice}")
        }
        None => format!("the JVM {pid} could not load the agent: {}", answer.text),
    }))
}

/// A socket in the JVM's folder for temporary files; it goes when this is dropped.
pub(crate) struct Place {
    folder: OwnedFd,
    name: String,
    listener: UnixListener,
}

impl Place {
    /// A new one, which only the JVM's user may connect to. Errors: the JVM has no such folder; the name is there.
    pub(crate) fn new(jvm: &Jvm) -> io::Result<Self> {
        let folder = jvm.root().folder(Path::new("/tmp"))?;
        let name = format!(".hprof_graph.{}.{}", jvm.own_pid(), std::process::id());
        // Of a name that is there already this makes an error, whatever has it.
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

    /// Lets nobody connect but the JVM's user. Who connects is asked all the same.
    fn give_to(&self, (user, group): (u32, u32)) -> rustix::io::Result<()> {
        let (folder, name) = (&self.folder, self.name.as_str());
        chmodat(folder, name, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
        // Who may not give it away is that user.
        let _ = chownat(
            folder,
            name,
            Some(Uid::from_raw(user)),
            Some(Gid::from_raw(group)),
            AtFlags::SYMLINK_NOFOLLOW,
        );
        Ok(())
    }

    /// Whom the JVM connects to; it does not block.
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

/// What the agent sends, on its way into memory.
#[derive(Debug, Default)]
struct Flow {
    /// Nobody will connect any more.
    ended: AtomicBool,
    /// What is under way is not wanted either.
    given_up: AtomicBool,
    /// Bytes that have come in the last connection.
    bytes: AtomicU64,
}

impl Flow {
    /// Takes what this process sends: of several connections, each a try, the last one's. `None` if that is not whole.
    fn take(&self, listener: &UnixListener, from: Pid) -> io::Result<Option<File>> {
        let mut whole = None;
        loop {
            // Asked first: who connects before the end is still heard.
            let is_last = self.ended.load(Ordering::Relaxed);
            match listener.accept() {
                Ok((stream, _)) if socket_peercred(&stream)?.pid == from => {
                    whole = self.receive(stream)?;
                }
                Ok(_) => {}
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Err(_) if is_last => return Ok(whole),
                Err(_) => thread::sleep(LOOK),
            }
        }
    }

    /// All that comes through a connection; `None` if its end is missing.
    fn receive(&self, mut stream: UnixStream) -> io::Result<Option<File>> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(LOOK))?;
        let mut file = File::from(memfd_create("hprof graph", MemfdFlags::CLOEXEC)?);
        let mut room = vec![0; BUFFER_BYTES];
        self.bytes.store(0, Ordering::Relaxed);
        loop {
            match stream.read(&mut room) {
                Ok(0) => break,
                Ok(count) => {
                    file.write_all(room.get(..count).unwrap_or_default())?;
                    self.bytes.fetch_add(count as u64, Ordering::Relaxed);
                }
                Err(_) if self.given_up.load(Ordering::Relaxed) => return Ok(None),
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
        let is_whole = ends_whole(&mut file)?;
        file.rewind()?;
        Ok(is_whole.then_some(file))
    }
}

fn ends_whole(file: &mut File) -> io::Result<bool> {
    let bytes = file.stream_position()?;
    let Some(start) = bytes.checked_sub(END.len() as u64) else {
        return Ok(false);
    };
    let mut end = [0; END.len()];
    std::os::unix::fs::FileExt::read_exact_at(file, &mut end, start)?;
    Ok(end == END)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

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
    fn the_agents_line_tells_the_pause() {
        let line = "sent the graph: 5 bytes; application paused for 12 ms, total 80 ms";
        assert_eq!(pause_millis(line), Some(12));
        for line in ["", "application paused for a while", "paused for 3 ms"] {
            assert_eq!(pause_millis(line), None);
        }
    }

    /// What is kept of these connections, one after the other.
    fn kept(tries: &[&[u8]]) -> Option<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let flow = Flow::default();
        let this = rustix::process::getpid();
        thread::scope(|scope| {
            let taking = scope.spawn(|| flow.take(&listener, this));
            for bytes in tries {
                UnixStream::connect(&path)
                    .unwrap()
                    .write_all(bytes)
                    .unwrap();
            }
            flow.ended.store(true, Ordering::Relaxed);
            let mut file = taking.join().unwrap().unwrap()?;
            let mut all = Vec::new();
            file.read_to_end(&mut all).unwrap();
            Some(all)
        })
    }

    #[test]
    fn the_last_try_counts_if_it_is_whole() {
        let (first, last) = ([b"first", &END[..]].concat(), [b"last", &END[..]].concat());
        assert_eq!(kept(&[&first, b"half", &last]), Some(last.clone()));
        assert_eq!(kept(&[&first, &last[..8]]), None);
        assert_eq!(kept(&[b""]), None);
        assert_eq!(kept(&[]), None);
    }

    #[test]
    fn strangers_are_not_heard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let flow = Flow::default();
        flow.ended.store(true, Ordering::Relaxed);
        UnixStream::connect(&path).unwrap().write_all(&END).unwrap();
        assert!(flow.take(&listener, Pid::INIT).unwrap().is_none());
    }
}
