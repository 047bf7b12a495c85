//! `net=HOST:PORT`: the connection that carries dumps and reports to the peer, and commands from
//! it.
//!
//! The crate `reader` parses the bytes of commands, [`answer`] executes them. The thread here reads
//! them.
//!
//! Commands run inside the gate, so the JVM's end waits for the one in progress. At the end the
//! sending side closes first.

mod answer;

pub(crate) use answer::Commanded;

use crate::agent_threads;
use crate::message::say;
use jvm::jni::Jni;
use options::{Destination, Options};
use parking_lot::{Condvar, Mutex};
use reader::command::{next, Command, Next};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;
use writer::{Connection, ConnectionOutlet, GzipLevel};

/// Name of the thread in thread dumps, as in the JDK's agent.
const THREAD_NAME: &str = "HPROF listener thread";
/// How long the JVM's end waits for the peer to close, too. If we closed while unread bytes from
/// the peer were waiting, the kernel would discard what it has not yet delivered to the peer.
const LAST_WAIT: Duration = Duration::from_secs(1);
/// Bytes per read.
const READ_BYTES: usize = 4096;

/// The session's connection. It may already be closed.
#[derive(Debug)]
pub(crate) struct Net {
    /// The connection.
    pub(crate) connection: Arc<Connection>,
    /// Whether the thread that reads commands is running.
    listens: Mutex<bool>,
    changed: Condvar,
}

impl Net {
    /// Connects if the options ask for it; `None`, with a line on stderr, if that fails. In
    /// `Agent_OnLoad`; blocks for a few seconds at most.
    pub(crate) fn connect(options: &Options) -> Option<Self> {
        let Destination::Net(peer) = &options.destination else {
            return None;
        };
        match Connection::open(peer.clone()) {
            Ok(connection) => Some(Self {
                connection: Arc::new(connection),
                listens: Mutex::new(false),
                changed: Condvar::new(),
            }),
            Err(error) => {
                say(&format!("there will be no dump and no report: {error}"));
                None
            }
        }
    }

    /// The connection as a place where dumps go; `gzip` is the compression level.
    pub(crate) fn outlet(&self, gzip: Option<GzipLevel>) -> ConnectionOutlet {
        ConnectionOutlet::new(Arc::clone(&self.connection), gzip)
    }

    /// Starts the thread that reads commands and executes them on `session`. At `VMInit`.
    pub(crate) fn start(&'static self, session: &'static dyn Commanded, jni: &mut Jni<'_>) {
        *self.listens.lock() = true;
        let body = |jni: &mut Jni<'_>| listen(self, session, jni);
        if agent_threads::start(session.env(), jni, THREAD_NAME, body).is_err() {
            *self.listens.lock() = false;
            say("no thread can be started, so commands of the peer are not read");
        }
    }

    /// Ends the connection after the peer has received everything. At `VMDeath`, after the last
    /// dump.
    pub(crate) fn end(&self) {
        self.connection.end_sending("the JVM has ended");
        let mut listens = self.listens.lock();
        if *listens {
            self.changed.wait_for(&mut listens, LAST_WAIT);
        }
        self.connection.close("the JVM has ended");
    }
}

/// Notes that listening has ended, however it ends.
struct Listening<'n>(&'n Net);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        *self.0.listens.lock() = false;
        self.0.changed.notify_all();
    }
}

/// The agent thread's main function.
fn listen(net: &Net, session: &dyn Commanded, jni: &mut Jni<'_>) {
    let listening = Listening(net);
    let mut input = Vec::new();
    while read(&net.connection, &mut input) {
        if !take_commands(session, jni, &net.connection, &mut input) {
            drain(&net.connection);
            break;
        }
    }
    drop(listening);
}

/// Reads more bytes. `false` if no more will come.
fn read(connection: &Connection, input: &mut Vec<u8>) -> bool {
    let mut bytes = [0; READ_BYTES];
    match connection.read(&mut bytes) {
        Ok(read @ 1..) => {
            input.extend_from_slice(bytes.get(..read).unwrap_or_default());
            true
        }
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => true,
        _ if input.is_empty() => false,
        _ => {
            say(&format!(
                "{} bytes of a command are ignored: the connection has ended before the rest",
                input.len()
            ));
            false
        }
    }
}

/// Discards what the peer still sends, until the peer or the JVM ends it.
fn drain(connection: &Connection) {
    let mut bytes = [0; READ_BYTES];
    while matches!(connection.read(&mut bytes), Ok(1..)) {}
}

/// Executes the complete commands in `input`. `false` if there will be no more.
fn take_commands(
    session: &dyn Commanded,
    jni: &mut Jni<'_>,
    connection: &Connection,
    input: &mut Vec<u8>,
) -> bool {
    loop {
        let bytes = match next(input) {
            Next::Unfinished => return true,
            Next::Command {
                command: Command::NoMore,
                ..
            } => return false,
            Next::Command { command, bytes } => {
                // Once the JVM is shutting down, no new command is started.
                let Some(_inside) = session.enter() else {
                    return false;
                };
                let answer = || answer::answer(session, jni, connection, command);
                // A panic in our code ends only this command.
                let _ = catch_unwind(AssertUnwindSafe(answer));
                bytes
            }
            Next::Bad {
                tag,
                body_bytes,
                why,
                bytes,
            } => {
                say(&format!(
                    "the command {tag:#04x} with {body_bytes} bytes is ignored: {why}"
                ));
                bytes
            }
            Next::TooLong { tag, body_bytes } => {
                say(&format!(
                    "the connection to {} is closed: the peer sent command {tag:#04x} with {body_bytes} bytes, which no command has",
                    connection.peer()
                ));
                connection.end_sending("the peer sent no valid command");
                connection.close("the peer sent no valid command");
                return false;
            }
        };
        input.drain(..bytes);
    }
}
