//! What one dump or report shall be. The options say how all of them are made; an order is made of
//! them for one.

use crate::receiver::is_fifo;
use options::file_name::{FileName, Naming};
use options::{Destination, Format, HeapCopy, Leaks, Options, Product, StopTheWorld};
use std::path::{Path, PathBuf};
use std::time::Duration;
use writer::{Existing, GzipLevel, Peer};

/// What one dump or report shall be.
#[derive(Clone, Debug)]
pub(crate) struct Order<'o> {
    /// How it is made.
    pub(crate) options: &'o Options,
    /// What it is, if it is of the heap.
    pub(crate) product: Product,
    /// Where it goes.
    pub(crate) recipient: Recipient<'o>,
    /// How it is written.
    pub(crate) format: Format,
    /// Why it is made: the dump and stderr state it. `None` where that does not matter.
    pub(crate) because: Option<&'o str>,
    /// Least share of a reported row.
    pub(crate) cutoff: f64,
    /// Whether the file gets exactly its name, or there is none: for a command, whose user takes it
    /// from there.
    pub(crate) is_exact: bool,
    /// Whether it is the last one, at the JVM's end: no application thread is left that a pause
    /// would delay.
    pub(crate) is_last: bool,
}

/// Where a dump or a report goes.
#[derive(Clone, Debug)]
pub(crate) enum Recipient<'o> {
    /// To a file of its own, with this compression.
    File(&'o FileName, Option<GzipLevel>),
    /// To the connection to this peer.
    Net(&'o Peer),
    /// To the process that listens on this socket.
    Socket(&'o Path),
    /// To the reader of this named pipe.
    Pipe(PathBuf),
    /// To a command of its own, by its pattern.
    Command(&'o FileName),
    /// To `hprof leaks`, whose answer is added to a file.
    Leaks(&'o Leaks),
}

impl<'o> Order<'o> {
    /// What the options ask for.
    pub(crate) fn of(options: &'o Options) -> Self {
        Self {
            options,
            product: match options.destination {
                Destination::Socket(product, _) => product,
                _ => Product::Dump,
            },
            recipient: Recipient::of(options),
            format: options.format,
            because: None,
            cutoff: options.cutoff,
            is_exact: false,
            is_last: false,
        }
    }

    /// What the options ask for, for this reason.
    pub(crate) fn because(options: &'o Options, why: &'o str) -> Self {
        Self {
            because: options.tells_cause().then_some(why),
            ..Self::of(options)
        }
    }

    /// What the options of a command ask for.
    pub(crate) fn of_command(options: &'o Options) -> Self {
        Self {
            is_exact: options.is_named,
            ..Self::because(options, "command")
        }
    }

    /// The last one.
    pub(crate) fn at_end(options: &'o Options) -> Self {
        Self {
            is_last: true,
            ..Self::because(options, "end of the JVM")
        }
    }

    /// How long it may stop the application; `None` for no limit.
    pub(crate) fn max_pause(&self) -> Option<Duration> {
        self.options.max_pause.filter(|_| !self.is_last)
    }

    /// Whether it may stop the application for HotSpot's own dumper.
    pub(crate) fn stop_the_world(&self) -> StopTheWorld {
        match self.options.stop_the_world {
            StopTheWorld::IfNeeded if self.is_last => StopTheWorld::Allowed,
            said => said,
        }
    }

    /// How a heap that a fork could copy is copied. At the end nothing runs on.
    pub(crate) fn heap_copy(&self) -> HeapCopy {
        match self.options.heap_copy {
            HeapCopy::Auto if self.is_last => HeapCopy::Fork,
            said => said,
        }
    }

    /// Whether no dump is made, but the graph of objects or counts of them.
    pub(crate) fn has_no_dump(&self) -> bool {
        self.product != Product::Dump
    }

    /// Whether somebody takes what is made, with a limit of time for each wait. It cannot begin
    /// anew, so no dump is begun that may have to.
    pub(crate) fn has_reader(&self) -> bool {
        !matches!(self.recipient, Recipient::File(..) | Recipient::Net(_))
    }

    /// What becomes of files that are there.
    pub(crate) fn naming(&self) -> Naming {
        match (self.is_exact, self.options.force) {
            (true, true) => Naming::Exact(Existing::Replace),
            (true, false) => Naming::Exact(Existing::Keep),
            (false, true) => Naming::ReplaceOlder,
            (false, false) => Naming::Beside,
        }
    }
}

impl<'o> Recipient<'o> {
    fn of(options: &'o Options) -> Self {
        match &options.destination {
            Destination::File(name) => {
                // What goes to a pipe cannot begin anew.
                let path = name.first();
                match is_fifo(&path) {
                    true => Self::Pipe(path),
                    false => Self::File(name, options.gzip),
                }
            }
            Destination::Net(peer) => Self::Net(peer),
            Destination::Socket(_, socket) => Self::Socket(socket),
            Destination::Command(pattern) => Self::Command(pattern),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use options::Parsed;

    fn options(text: &str) -> Options {
        match options::parse(text) {
            Ok(Parsed::Options(options)) => *options,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_command_gets_the_file_that_it_names_and_no_other() {
        for (text, naming) in [
            ("heap=dump", Naming::Beside),
            ("heap=dump,file=a", Naming::Exact(Existing::Keep)),
            ("heap=dump,file=a,force=y", Naming::Exact(Existing::Replace)),
        ] {
            assert_eq!(Order::of_command(&options(text)).naming(), naming, "{text}");
        }
        assert_eq!(
            Order::of(&options("file=a,force=y")).naming(),
            Naming::ReplaceOlder
        );
    }

    #[test]
    fn the_last_dump_may_take_its_time() {
        let options = options("maxpause=5");
        let (first, last) = (Order::of(&options), Order::at_end(&options));
        assert_eq!(first.max_pause(), Some(Duration::from_millis(5)));
        assert_eq!(first.stop_the_world(), StopTheWorld::IfNeeded);
        assert_eq!(last.max_pause(), None);
        assert_eq!(last.stop_the_world(), StopTheWorld::Allowed);
    }

    #[test]
    fn what_goes_to_a_reader_cannot_begin_anew() {
        for (text, has_reader, has_no_dump) in [
            ("file=a", false, false),
            ("exec=cat", true, false),
            ("send=dump:/s", true, false),
            ("send=graph:/s", true, true),
            ("send=counts:/s", true, true),
        ] {
            let options = options(text);
            let order = Order::of(&options);
            let found = (order.has_reader(), order.has_no_dump());
            assert_eq!(found, (has_reader, has_no_dump), "{text}");
        }
    }
}
