//! Where dumps and reports are written, and in which format.

use super::row::Row;
use crate::condition::bytes;
use crate::values::{within, yes_no};
use crate::{Destination, Product, Said};
use writer::{FileMode, GzipLevel, Peer};

const MOST_FILES: usize = 10_000;

/// The options, in the order of the help.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "file",
        values: "NAME",
        default: "java.hprof",
        help: "name of the file; `java.hprof.txt` for text. `%p`: process id, `%t`: time (UTC), \
               `%n`: number of the dump, `%h`: host, `%%`: a percent sign. A named pipe \
               receives each dump as it is made",
        set: |said, value| goes_to(said, value, Destination::File(value.to_owned())),
    },
    Row {
        name: "exec",
        values: "COMMAND",
        default: "off",
        help: "a command that receives each dump on its standard input, started with `/bin/sh \
               -c`; replaces `file=`. The dump counts if the exit code is 0. `%` as in `file=`; \
               no comma",
        set: |said, value| goes_to(said, value, Destination::Command(value.to_owned())),
    },
    Row {
        name: "net",
        values: "HOST:PORT",
        default: "off",
        help: "sends the files through a socket and reads commands from it; replaces `file=`",
        set: |said, value| {
            let peer = Peer::parse(value).ok_or("")?;
            goes_to(said, value, Destination::Net(peer))
        },
    },
    Row {
        name: "format",
        values: "a|b",
        default: "by file",
        help: "`a`: text. `b`: binary. A heap dump is binary by default, except with \
               `cpu=times`, `cpu=old` or `monitor=y`; a file named `NAME.hprof` is binary",
        set: |said, value| match value {
            "a" | "b" => {
                said.format = value.chars().next();
                Ok(())
            }
            _ => Err(""),
        },
    },
    Row {
        name: "gz",
        values: "1..9",
        default: "off",
        help: "compresses; 1 is fastest, 9 smallest. A file name that ends in `.gz` means 1",
        set: |said, value| {
            said.options.gzip = Some(value.parse().ok().and_then(GzipLevel::new).ok_or("")?);
            Ok(())
        },
    },
    Row {
        name: "force",
        values: "y|n",
        default: "n",
        help: "`y` replaces a file from before this JVM. `n` writes to a free name beside it \
               (`out.1.hprof`); an attached agent makes no dump then",
        set: |said, value| yes_no(value).map(|on| said.options.force = on),
    },
    Row {
        name: "mode",
        values: "OCTAL",
        default: "0600",
        help: "mode of each file that the agent makes, whatever the umask: `0640` lets a group \
               read dumps. Without it, `do=histo` has 0644 less the umask",
        set: |said, value| {
            let mode = FileMode::parse(value).ok_or(
                "mode must be octal from 0600 to 0666, as in 0640, and nothing executable",
            )?;
            said.options.mode = Some(mode);
            Ok(())
        },
    },
    Row {
        name: "files",
        values: "N",
        default: "all",
        help: "number of dumps to keep, of those that name their cause (`on=` or `files=`). \
               Removes older ones of the JVM's own user or root whose name fits \
               `file=`, also those of earlier JVMs",
        set: |said, value| {
            within(value, 1..=MOST_FILES, "files must be from 1 to 10000")
                .map(|files| said.options.kept = Some(files))
        },
    },
    Row {
        name: "minfree",
        values: "BYTES",
        default: "256m with on=",
        help: "free space that stays on the disk; a dump that would take it is given up",
        set: |said, value| {
            said.min_free_bytes =
                Some(bytes(value).ok_or("minfree must be a number of bytes, as in 1g")?);
            Ok(())
        },
    },
    Row {
        name: "verbose",
        values: "y|n",
        default: "y",
        help: "reports dumps on stderr, and warns at the start if dumps will stop the \
               application. `n`: only failures and losses",
        set: |said, value| yes_no(value).map(|on| said.options.verbose = on),
    },
    // For the command `hprof` and the jar, about an attached agent: `graph:SOCKET`, `counts:SOCKET`
    // or `dump:SOCKET` goes to the process that listens there. With `answer:FILE`, the messages on
    // stderr are also appended to this file, if it exists; with a socket, the JVM's answer then is
    // that the dump has begun, and the file's last line is how it ended.
    Row {
        name: "send",
        values: "graph:SOCKET|counts:SOCKET|dump:SOCKET|answer:FILE",
        default: "none",
        help: "",
        set: |said, value| {
            let (what, path) = value.split_once(':').ok_or("")?;
            let product = match what {
                "graph" => Product::Graph,
                "counts" => Product::Counts,
                "dump" => Product::Dump,
                // It is taken from the text before the options are parsed.
                "answer" => return Ok(()),
                _ => return Err(""),
            };
            goes_to(said, path, Destination::Socket(product, path.into()))
        },
    },
];

/// The output has only one destination, which has a name.
fn goes_to(
    said: &mut Said,
    value: &str,
    destination: Destination<String>,
) -> Result<(), &'static str> {
    if value.is_empty() {
        return Err("");
    }
    if said.destination.is_some() {
        return Err("file or net options should only appear once");
    }
    said.destination = Some(destination);
    Ok(())
}
