//! Where dumps and reports are written, and in which format.

use super::row::{Row, Standing};
use crate::values::yes_no;
use crate::Place;
use crate::Said;
use trigger::bytes;
use writer::{FileMode, GzipLevel, Peer};

const MOST_FILES: usize = 10_000;
/// A day.
const MOST_SECONDS: u32 = 86_400;

/// The options, in the order of the help.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "file",
        values: "NAME",
        default: "java.hprof",
        help: "name of the file; `java.hprof.txt` for text. `%p`: process id, `%t`: time (UTC), \
               `%n`: number of the dump, `%h`: host, `%%`: a percent sign. A named pipe \
               receives each dump as it is made",
        standing: Standing::Built,
        set: |said, value| goes_to(said, value, Place::File(value.to_owned())),
    },
    Row {
        name: "exec",
        values: "COMMAND",
        default: "off",
        help: "a command that receives each dump on its standard input, started with `/bin/sh \
               -c`; replaces `file=`. The dump counts if the exit code is 0. `%` as in `file=`; \
               no comma",
        standing: Standing::Built,
        set: |said, value| goes_to(said, value, Place::Exec(value.to_owned())),
    },
    Row {
        name: "within",
        values: "S",
        default: "3600",
        help: "seconds in which a named pipe, a command or `hprof dump -o -` must read a whole \
               dump",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(seconds @ 1..=MOST_SECONDS) => {
                said.options.within_s = seconds;
                Ok(())
            }
            _ => Err("within must be from 1 to 86400"),
        },
    },
    Row {
        name: "net",
        values: "HOST:PORT",
        default: "off",
        help: "sends the files through a socket and reads commands from it; replaces `file=`",
        standing: Standing::Built,
        set: |said, value| {
            let peer = Peer::parse(value).ok_or("")?;
            goes_to(said, value, Place::Net(peer))
        },
    },
    Row {
        name: "format",
        values: "a|b",
        default: "by file",
        help: "`a`: text. `b`: binary. A heap dump is binary by default, except with \
               `cpu=times`, `cpu=old` or `monitor=y`; a file named `NAME.hprof` is binary",
        standing: Standing::Built,
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
        standing: Standing::Built,
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
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.options.force = on),
    },
    Row {
        name: "mode",
        values: "OCTAL",
        default: "0600",
        help: "mode of each file that the agent makes, whatever the umask: `0640` lets a group \
               read dumps. Without it, `do=histo` and `metrics=` have 0644 less the umask",
        standing: Standing::Built,
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
        help: "number of dumps to keep, of those that name their cause (`on=`, `files=` or \
               `maxsize=`). Removes older ones of the JVM's own user or root whose name fits \
               `file=`, also those of earlier JVMs",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(files @ 1..=MOST_FILES) => {
                said.options.kept.files = Some(files);
                Ok(())
            }
            _ => Err("files must be from 1 to 10000"),
        },
    },
    Row {
        name: "maxsize",
        values: "BYTES",
        default: "all",
        help: "bytes of such dumps to keep, as in `20g`; the newest one always stays",
        standing: Standing::Built,
        set: |said, value| {
            said.options.kept.bytes =
                Some(bytes(value).ok_or("maxsize must be a number of bytes, as in 20g")?);
            Ok(())
        },
    },
    Row {
        name: "minfree",
        values: "BYTES",
        default: "256m with on=",
        help: "free space that stays on the disk; a dump that would take it is given up",
        standing: Standing::Built,
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
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.options.verbose = on),
    },
    // For `hprof leaks PID`: the objects, who refers to whom and where the threads stand, without
    // any value, go to the process that listens on this socket.
    Row {
        name: "graph",
        values: "SOCKET",
        default: "none",
        help: "",
        standing: Standing::Built,
        set: |said, value| goes_to(said, value, Place::Graph(value.into())),
    },
    // For `hprof histo PID`: the number and size of the objects of each class go to the process
    // that listens on this socket.
    Row {
        name: "counts",
        values: "SOCKET",
        default: "none",
        help: "",
        standing: Standing::Built,
        set: |said, value| goes_to(said, value, Place::Counts(value.into())),
    },
    Row {
        name: "stream",
        values: "SOCKET",
        default: "none",
        help: "for an attached agent: sends the dump to the process that listens on this \
               socket; `hprof dump PID -o -` uses it",
        standing: Standing::Built,
        set: |said, value| goes_to(said, value, Place::Stream(value.into())),
    },
    // For `hprof dump PID`: the messages on stderr are also appended to this file, if it exists.
    // With `stream=`, `graph=` or `counts=`, the JVM's answer then is that the dump has begun, and
    // the file's last line is how it ended.
    Row {
        name: "answer",
        values: "FILE",
        default: "none",
        help: "",
        standing: Standing::Built,
        // It is taken from the text before the options are parsed.
        set: |_, _| Ok(()),
    },
];

/// The output has only one destination, which has a name.
fn goes_to(said: &mut Said, value: &str, place: Place) -> Result<(), &'static str> {
    if value.is_empty() {
        return Err("");
    }
    if said.place.is_some() {
        return Err("file or net options should only appear once");
    }
    said.place = Some(place);
    Ok(())
}
