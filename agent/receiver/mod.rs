//! Who gets a dump as it is made: a command, the reader of a named pipe, or the process that listens on a socket.

mod fifo;
mod shell_command;

use crate::options::Options;
use crate::os::room;
use std::path::{Path, PathBuf};
use std::time::Duration;
use writer::{Patience, StreamOutlet};

use fifo::Fifo;
pub(crate) use fifo::{is_fifo, refused_fifo};
use shell_command::ShellCommand;

/// How long a command that listens for a graph may take nothing.
const GRAPH_SILENCE: Duration = Duration::from_secs(10);

/// How long who takes a dump may take.
pub(crate) fn patience(options: &Options) -> Patience {
    Patience {
        silence: Duration::from_secs(u64::from(options.timeout_s)),
        total: Duration::from_secs(u64::from(options.within_s)),
        wait: room::wait,
    }
}

/// The process that listens on this socket, for a dump.
pub(crate) fn socket(path: &Path, options: &Options) -> StreamOutlet {
    StreamOutlet::to_socket(path.to_owned(), patience(options))
}

/// The same for the graph of the heap.
pub(crate) fn graph_socket(path: &Path, options: &Options) -> StreamOutlet {
    let patience = Patience {
        silence: GRAPH_SILENCE,
        ..patience(options)
    };
    StreamOutlet::to_socket(path.to_owned(), patience)
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
