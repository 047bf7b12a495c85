//! `hprof dump PID -o -`: the dump goes to standard output as the JVM makes it, and never to a
//! disk.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use crate::attach::agent_request::AgentRequest;
use crate::attach::agent_stream::{AgentSocket, Incoming};
use crate::attach::protocol::Jvm;
use crate::output::{grouped, Failure, Verdict};

/// Has the JVM send its dump, and passes it on. Nothing but a whole dump ends with success.
///
/// `options` are the agent's for this destination. The output may take nothing for as long as
/// `limit`.
pub(crate) fn run(
    jvm: &Jvm,
    agent: Option<&Path>,
    limit: Duration,
    options: impl FnOnce(&str) -> String,
) -> Result<Verdict, Failure> {
    if io::stdout().is_terminal() {
        return Err(Failure::Input(
            "standard output is a terminal: pipe the dump to a command, or name a file with -o"
                .to_owned(),
        ));
    }
    let place = AgentSocket::new(jvm)?;
    let options = options(&format!("send=dump:{}", place.path().display()));
    let request = AgentRequest::new(jvm, agent, options)?;
    let began = Instant::now();
    let incoming = Arc::new(Incoming::default());
    let passing = start(&incoming, &place, jvm)?;
    let reply = request
        .send(|library, options, file| incoming.load(jvm, library, options, file, "passed on"))?;
    // Not as `head` closes a pipe: half a dump is no success.
    let not_taken = |error: io::Error| {
        let why = "the dump is not whole, as standard output takes no more";
        Failure::Input(format!("{why}: {error}"))
    };
    // An output that takes no more may be why the agent gave up, so nobody waits for it then.
    reply
        .check_dumped()
        .map_err(|why| match passing.try_recv() {
            Ok(Err(error)) => not_taken(error),
            _ => why,
        })?;
    let is_whole = wait(&incoming, &passing, limit).map_err(not_taken)?;
    reply.print()?;
    if !is_whole {
        return Err(Failure::Input(format!(
            "what the JVM {} sent is not whole; see its stderr",
            jvm.pid
        )));
    }
    let bytes = grouped(incoming.bytes());
    let seconds = began.elapsed().as_secs_f64();
    writeln!(
        io::stderr(),
        "standard output: {bytes} bytes in {seconds:.1} s"
    )?;
    Ok(Verdict::Sound)
}

/// How the passing on ends.
type Passing = Receiver<io::Result<bool>>;

/// Passes on what the JVM sends, in a thread that the end of the process ends: the output may block
/// it for ever.
fn start(incoming: &Arc<Incoming>, place: &AgentSocket, jvm: &Jvm) -> io::Result<Passing> {
    let (listener, from) = (place.listener.try_clone()?, jvm.process.pid);
    let (tell, passing) = channel();
    let incoming = Arc::clone(incoming);
    thread::spawn(move || tell.send(pass_on(&incoming, &listener, from, &mut io::stdout())));
    Ok(passing)
}

/// Whether everything was passed on, and was whole. Errors: those of the output, also that it takes
/// nothing for longer than `limit`.
fn wait(incoming: &Incoming, passing: &Passing, limit: Duration) -> io::Result<bool> {
    let (mut bytes, mut since) = (0, Instant::now());
    loop {
        match passing.recv_timeout(Duration::from_secs(1)) {
            Ok(passed) => return passed,
            Err(RecvTimeoutError::Disconnected) => return Err(ErrorKind::Other.into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = incoming.bytes();
        if now != bytes {
            (bytes, since) = (now, Instant::now());
        } else if since.elapsed() > limit {
            return Err(ErrorKind::TimedOut.into());
        }
    }
}

/// Passes on what this process sends, and tells whether it was whole. Of several connections, each
/// a try, only the first with any bytes counts: what was passed on cannot be taken back. Errors:
/// those of `to`.
fn pass_on(
    incoming: &Incoming,
    listener: &UnixListener,
    from: Pid,
    to: &mut dyn Write,
) -> io::Result<bool> {
    let mut is_whole = false;
    incoming.each(listener, from, |stream| {
        let is_first = incoming.bytes() == 0;
        is_whole = is_first && incoming.receive(stream, to)?;
        Ok(())
    })?;
    Ok(is_whole)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::attach::agent_stream::tests::sent;
    use crate::attach::agent_stream::END;

    /// The bytes passed on from these connections, one after the other, and whether they are whole.
    fn passed(tries: &[&[u8]]) -> (Vec<u8>, bool) {
        let (incoming, this) = (Incoming::default(), rustix::process::getpid());
        let mut out = Vec::new();
        let is_whole = sent(&incoming, tries, |listener| {
            pass_on(&incoming, listener, this, &mut out)
        });
        (out, is_whole.unwrap())
    }

    #[test]
    fn only_the_first_dump_is_passed_on() {
        let (dump, other) = ([b"dump", &END[..]].concat(), [b"other", &END[..]].concat());
        assert_eq!(passed(&[&dump]), (dump.clone(), true));
        assert_eq!(passed(&[b"", b"", &dump]), (dump.clone(), true));
        assert_eq!(passed(&[&dump[..7], &other]), (dump[..7].to_vec(), false));
        assert_eq!(passed(&[]), (Vec::new(), false));
    }
}
