//! `hprof dump PID -o -`: the dump goes to standard output as the JVM makes it, and never to a disk.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::HumanBytes;
use rustix::net::sockopt::socket_peercred;
use rustix::process::Pid;

use crate::attach::{AnswerFile, Jvm};
use crate::dump::{judge, Arguments};
use crate::library::Library;
use crate::live::{Place, END};
use crate::number::grouped;
use crate::outcome::{Failure, Verdict};
use crate::spinner::spinner;

/// Time between two looks for a connection, or whether there will be more bytes.
const LOOK: Duration = Duration::from_millis(10);
/// An output that takes nothing of the rest of a dump for so long is given up.
const STALL_LIMIT: Duration = Duration::from_secs(120);
/// Bytes that are passed on at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Has the JVM send its dump, and passes it on. Nothing but a whole dump ends with success.
pub(crate) fn run(jvm: &Jvm, arguments: &Arguments) -> Result<Verdict, Failure> {
    if io::stdout().is_terminal() {
        return Err(Failure::Input(
            "standard output is a terminal, and a dump is not for reading: pass it to a command, or name a file with -o"
                .to_owned(),
        ));
    }
    let pid = jvm.pid();
    let library = Library::find(jvm, arguments.agent.as_deref())?;
    let said = jvm.answer_file();
    let place = Place::new(jvm).map_err(|error| {
        Failure::Input(format!(
            "cannot make a socket where the JVM {pid} looks for it: {error} (/tmp)"
        ))
    })?;
    let to = format!("stream={}", place.path().display());
    let mut told = arguments.told(&to);
    if let Some(said) = &said {
        told += &format!(",answer={}", said.path());
    }
    let began = Instant::now();
    let (flow, passing) = Flow::start(&place, jvm)?;
    let bar = spinner();
    let answer = jvm.load(library.path(), &told, || {
        let bytes = HumanBytes(flow.bytes.load(Ordering::Relaxed));
        bar.set_message(format!("{bytes} passed on"));
        bar.tick();
    });
    bar.finish_and_clear();
    flow.given_up.store(answer.is_err(), Ordering::Relaxed);
    flow.ended.store(true, Ordering::Relaxed);
    let said = said.map(AnswerFile::lines).unwrap_or_default();
    // An output that takes no more may be why the agent gave up, so nobody waits for it then.
    judge(pid, &answer.map_err(Failure::Input)?, &said)?;
    let is_whole = flow.wait(&passing).map_err(|error| {
        // Not as `head` closes a pipe: half a dump is no success.
        let why = "the dump is not whole, as standard output takes no more";
        Failure::Target(format!("{why}: {error}"))
    })?;
    for line in &said {
        writeln!(io::stderr(), "{line}")?;
    }
    if !is_whole {
        return Err(Failure::Input(format!(
            "what the JVM {pid} sent is not whole; its stderr may say why"
        )));
    }
    let bytes = grouped(flow.bytes.load(Ordering::Relaxed));
    let seconds = began.elapsed().as_secs_f64();
    writeln!(
        io::stderr(),
        "standard output: {bytes} bytes in {seconds:.1} s"
    )?;
    Ok(Verdict::Sound)
}

/// How the passing on ends.
type Passing = Receiver<io::Result<bool>>;

/// What the agent sends, on its way to standard output.
#[derive(Debug, Default)]
struct Flow {
    /// Nobody will connect any more.
    ended: AtomicBool,
    /// What is under way is not wanted either.
    given_up: AtomicBool,
    /// Bytes that were passed on.
    bytes: AtomicU64,
}

impl Flow {
    /// Passes on what the JVM sends, in a thread that the end of the process ends: the output may block it for ever.
    fn start(place: &Place, jvm: &Jvm) -> io::Result<(Arc<Self>, Passing)> {
        let flow = Arc::new(Self::default());
        let (listener, from) = (place.listener().try_clone()?, jvm.process());
        let (tell, passing) = channel();
        let passed = Arc::clone(&flow);
        thread::spawn(move || tell.send(passed.pass_on(&listener, from, &mut io::stdout())));
        Ok((flow, passing))
    }

    /// Whether all that was sent is passed on, and was whole. Errors: those of the output, also that it takes nothing.
    fn wait(&self, passing: &Passing) -> io::Result<bool> {
        let (mut bytes, mut since) = (0, Instant::now());
        loop {
            match passing.recv_timeout(Duration::from_secs(1)) {
                Ok(passed) => return passed,
                Err(RecvTimeoutError::Disconnected) => return Err(ErrorKind::Other.into()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.bytes.load(Ordering::Relaxed);
            if now != bytes {
                (bytes, since) = (now, Instant::now());
            } else if since.elapsed() > STALL_LIMIT {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }

    /// Passes on what this process sends, and tells whether it was whole. Of several connections, each a try, only the
    /// first with any bytes counts: what was passed on cannot be taken back. Errors: those of `to`.
    fn pass_on(&self, listener: &UnixListener, from: Pid, to: &mut dyn Write) -> io::Result<bool> {
        let mut is_whole = false;
        loop {
            // Asked first: who connects before the end is still heard.
            let is_last = self.ended.load(Ordering::Relaxed);
            match listener.accept() {
                Ok((stream, _)) if socket_peercred(&stream)?.pid == from => {
                    let is_first = self.bytes.load(Ordering::Relaxed) == 0;
                    is_whole = is_first && self.receive(stream, to)?;
                }
                Ok(_) => {}
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Err(_) if is_last => return Ok(is_whole),
                Err(_) => thread::sleep(LOOK),
            }
        }
    }

    /// All that comes through a connection; whether it has its end.
    fn receive(&self, mut stream: UnixStream, to: &mut dyn Write) -> io::Result<bool> {
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
                    last.extend_from_slice(
                        bytes
                            .get(count.saturating_sub(END.len())..)
                            .unwrap_or_default(),
                    );
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
mod tests {
    use super::*;

    /// What is passed on of these connections, one after the other, and whether it is whole.
    fn passed(tries: &[&[u8]]) -> (Vec<u8>, bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let flow = Flow::default();
        let this = rustix::process::getpid();
        let mut out = Vec::new();
        let is_whole = thread::scope(|scope| {
            let passing = scope.spawn(|| flow.pass_on(&listener, this, &mut out));
            for bytes in tries {
                // The command may have hung up already.
                let _ = UnixStream::connect(&path).unwrap().write_all(bytes);
            }
            flow.ended.store(true, Ordering::Relaxed);
            passing.join().unwrap().unwrap()
        });
        (out, is_whole)
    }

    #[test]
    fn only_the_first_dump_is_passed_on() {
        let (dump, other) = ([b"dump", &END[..]].concat(), [b"other", &END[..]].concat());
        assert_eq!(passed(&[&dump]), (dump.clone(), true));
        assert_eq!(passed(&[b"", b"", &dump]), (dump.clone(), true));
        assert_eq!(passed(&[&dump[..7], &other]), (dump[..7].to_vec(), false));
        assert_eq!(passed(&[]), (Vec::new(), false));
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
        let received = Flow::default().receive(ours, &mut Closed);
        assert_eq!(received.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert!(theirs.read(&mut [0]).is_ok_and(|count| count == 0));
    }
}
