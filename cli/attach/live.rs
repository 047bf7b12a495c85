//! The objects of a JVM that runs, or how many there are, without a file: the agent's forked copy
//! sends them to a socket of this command's.
//!
//! This command keeps the bytes, not the child: memory that the child fills is charged to the JVM's
//! container. It accepts only the JVM's process (`SO_PEERCRED`), and at most twice the JVM's
//! memory: a process may only pretend to be a JVM.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use format::CountedClass;
use graph::GraphError;
use rustix::fs::{memfd_create, MemfdFlags};
use rustix::process::Pid;

use crate::attach::agent_request::{AgentRequest, Reply};
use crate::attach::agent_stream::{AgentSocket, Incoming, END};
use crate::attach::memory_watch;
use crate::attach::protocol::Jvm;
use crate::output::outcome::Failure;

/// Makes the JVM of this process count its objects: the classes that have some, and how many
/// milliseconds the application paused, if the agent has reported it.
///
/// Errors: those of [`sent`].
pub(crate) fn counts_of(
    pid: i32,
    agent: Option<&Path>,
) -> Result<(Vec<CountedClass>, Option<u64>), Failure> {
    let (mut file, pause_ms) = sent(pid, agent, "counts")?;
    let mut stream = Vec::new();
    file.read_to_end(&mut stream)?;
    let counted = stream.strip_suffix(&END).and_then(CountedClass::decode);
    match counted {
        Some(classes) => Ok((classes, pause_ms)),
        None => Err(Failure::Input(format!(
            "JVM {pid}: {}",
            GraphError::OtherStream
        ))),
    }
}

/// Asks the agent in the JVM of this process for its `graph` or `counts`: a file without a place on
/// a disk that keeps what it sends, and how many milliseconds the application paused, if the agent
/// has reported it.
///
/// Errors: there is no such JVM, its heap cannot be copied, or what it sent is not whole.
pub(crate) fn sent(
    pid: i32,
    agent: Option<&Path>,
    what: &str,
) -> Result<(File, Option<u64>), Failure> {
    let jvm = Jvm::find(pid).map_err(Failure::Input)?;
    let mut file = memfd_create("hprof graph", MemfdFlags::CLOEXEC)
        .map(File::from)
        .map_err(|error| {
            Failure::Input(format!(
                "cannot keep the objects of the JVM {pid} in memory: {error} (memfd_create); hprof dump {pid} writes a file"
            ))
        })?;
    memory_watch::begin()?;
    let place = AgentSocket::new(&jvm)?;
    let options = format!("heap=dump,stop=n,send={what}:{}", place.path().display());
    let request = AgentRequest::new(&jvm, agent, options)?;
    let (reply, taken) = asked(request, &jvm, &place, &mut file);
    if matches!(&taken, Err(error) if error.kind() == ErrorKind::FileTooLarge) {
        return Err(Failure::Input(format!(
            "what the JVM {pid} sends is no heap of its own: it is more than {GRAPH_PART} times the memory that the JVM has"
        )));
    }
    let reply = reply?;
    reply.check_sent()?;
    reply.print_pause()?;
    match taken {
        Ok(true) => Ok((file, reply.pause_ms())),
        Ok(false) => Err(Failure::Input(format!(
            "what the JVM {pid} sent is not whole; see its stderr"
        ))),
        Err(error) => Err(Failure::Input(format!(
            "what the JVM {pid} sent cannot be kept: {error}; it takes some 6 bytes of memory for each object"
        ))),
    }
}

/// Sends the request, and meanwhile takes what comes: the agent's answer, and whether the file has
/// all of it.
fn asked(
    request: AgentRequest<'_>,
    jvm: &Jvm,
    place: &AgentSocket,
    file: &mut File,
) -> (Result<Reply, Failure>, io::Result<bool>) {
    let (incoming, from) = (Incoming::default(), jvm.process.pid);
    thread::scope(|scope| {
        let taking = scope.spawn(|| {
            let memory_bytes = || jvm.memory_bytes();
            let taken = take(&incoming, &place.listener, from, file, &memory_bytes);
            if taken.is_err() {
                incoming.refuse();
            }
            taken
        });
        let reply = request
            .send(|library, options, file| incoming.load(jvm, library, options, file, "received"));
        let taken = taking.join();
        let taken = taken.unwrap_or_else(|_| Err(ErrorKind::Other.into()));
        (reply, taken)
    })
}

/// The graph of a heap is smaller than the heap, or a little larger where its references lead far.
const GRAPH_PART: u64 = 2;

/// So much is taken of any JVM.
const GRAPH_BYTES_LEAST: u64 = 64 << 20;

/// The kept bytes of a connection, up to a limit: what comes in the name of a JVM may be anything,
/// without an end. More is an error (`FileTooLarge`).
struct Kept<'k> {
    to: &'k mut File,
    bytes: u64,
    most_bytes: u64,
    /// The memory that the JVM has.
    memory_bytes: &'k dyn Fn() -> u64,
}

impl Write for Kept<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let all = self.bytes.saturating_add(bytes.len() as u64);
        if all > self.most_bytes {
            let allowed = (self.memory_bytes)().saturating_mul(GRAPH_PART);
            self.most_bytes = allowed.max(GRAPH_BYTES_LEAST);
        }
        if all > self.most_bytes {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let count = self.to.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Takes what this process sends: of several connections, each a try, the last one's. Whether `to`
/// has all of that.
fn take(
    incoming: &Incoming,
    listener: &UnixListener,
    from: Pid,
    to: &mut File,
    memory_bytes: &dyn Fn() -> u64,
) -> io::Result<bool> {
    let mut is_whole = false;
    incoming.each(listener, from, |stream| {
        to.set_len(0)?;
        to.rewind()?;
        incoming.restart();
        let mut kept = Kept {
            to,
            bytes: 0,
            most_bytes: GRAPH_BYTES_LEAST,
            memory_bytes,
        };
        is_whole = incoming.receive(stream, &mut kept)?;
        Ok(())
    })?;
    to.rewind()?;
    Ok(is_whole)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::attach::agent_stream::tests::sent;

    /// The kept bytes of these connections, one after the other.
    fn kept(tries: &[&[u8]]) -> Option<Vec<u8>> {
        let (incoming, this) = (Incoming::default(), rustix::process::getpid());
        let mut file = tempfile::tempfile().unwrap();
        let taken = sent(&incoming, tries, |listener| {
            take(&incoming, listener, this, &mut file, &|| 0)
        });
        let mut all = Vec::new();
        file.read_to_end(&mut all).unwrap();
        taken.unwrap().then_some(all)
    }

    #[test]
    fn the_limit_grows_with_the_jvm() {
        let memory = std::cell::Cell::new(0);
        let mut file = tempfile::tempfile().unwrap();
        let mut kept = Kept {
            to: &mut file,
            bytes: GRAPH_BYTES_LEAST - 1,
            most_bytes: GRAPH_BYTES_LEAST,
            memory_bytes: &|| memory.get(),
        };
        kept.write_all(b"x").unwrap();
        let fault = kept.write_all(b"x").unwrap_err();
        assert_eq!(fault.kind(), ErrorKind::FileTooLarge);
        memory.set(GRAPH_BYTES_LEAST);
        kept.bytes = GRAPH_PART * GRAPH_BYTES_LEAST - 1;
        kept.write_all(b"x").unwrap();
        assert!(kept.write_all(b"x").is_err());
    }

    #[test]
    fn the_last_try_counts_if_it_is_whole() {
        let (first, last) = ([b"first", &END[..]].concat(), [b"last", &END[..]].concat());
        assert_eq!(kept(&[&first, b"half", &last]), Some(last.clone()));
        assert_eq!(kept(&[&first, &last[..8]]), None);
        assert_eq!(kept(&[b""]), None);
        assert_eq!(kept(&[]), None);
    }
}
