//! The receivers of a dump as it is made: a command, the reader of a named pipe, or the process
//! that listens on a socket; and whether a dump can go to the options' place.

mod fifo;
mod shell_command;

use crate::message::say;
use jvm::os::{owner, room};
use options::{Destination, Options};
use std::path::{Path, PathBuf};
use std::time::Duration;
use writer::{Existing, Patience, StreamOutlet, WriteError};

pub(crate) use fifo::is_fifo;
use fifo::{refused_fifo, Fifo};
use shell_command::ShellCommand;

/// How long a command that listens for a graph may take nothing.
const GRAPH_SILENCE: Duration = Duration::from_secs(10);

/// A whole dump may take this many times as long as a silence.
const WHOLE: u32 = 30;

/// How long who takes a dump may take.
pub(crate) fn patience(options: &Options) -> Patience {
    let silence = Duration::from_secs(u64::from(options.timeout_s));
    Patience {
        silence,
        total: silence * WHOLE,
        wait: room::wait,
    }
}

/// The process that listens on this socket, for a dump.
pub(crate) fn socket(path: &Path, options: &Options) -> StreamOutlet {
    StreamOutlet::to_socket(path.to_owned(), owner::check, patience(options))
}

/// The same for the graph of the heap, or its counts.
pub(crate) fn graph_socket(path: &Path, options: &Options) -> StreamOutlet {
    let patience = Patience {
        silence: GRAPH_SILENCE,
        ..patience(options)
    };
    StreamOutlet::to_socket(path.to_owned(), owner::check, patience)
}

/// The reader of this named pipe.
pub(crate) fn fifo(path: PathBuf, options: &Options) -> StreamOutlet {
    StreamOutlet::new(Box::new(Fifo(path)), patience(options), options.gzip)
}

/// A command, which is started when there is a dump for it.
pub(crate) fn command(text: String, options: &Options) -> StreamOutlet {
    let patience = patience(options);
    let command = ShellCommand {
        text,
        limit: patience.silence,
    };
    StreamOutlet::new(Box::new(command), patience, options.gzip)
}

/// Warns now, rather than when the data is at stake, if a dump could not be written. Leaves no file
/// behind.
///
/// The application starts all the same: the directory may be created later, and a dump is never
/// worth a service.
pub(crate) fn look_at_target(options: &Options) {
    let Destination::File(name) = &options.destination else {
        return;
    };
    let path = name.first();
    if is_fifo(&path) {
        if let Some(why) = refused_fifo(&path) {
            no_dump_unless(&why);
        }
        return;
    }
    let target = options.target(path, Existing::Replace);
    match target.look() {
        Ok(()) => {}
        Err(error @ WriteError::NoRename { .. }) => say(&error.to_string()),
        Err(error) => no_dump_unless(&error.to_string()),
    }
}

fn no_dump_unless(why: &str) {
    say(&format!("there will be no dump unless this changes: {why}"));
}
