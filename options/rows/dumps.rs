//! How a heap is dumped.

use super::row::{Row, Standing};
use crate::values::yes_no;
use crate::{HeapCopy, StopTheWorld};
use format::redaction::{FieldPatterns, Redacted};
use std::time::Duration;

/// A day.
const MOST_SECONDS: u32 = 86_400;
const MOST_MILLISECONDS: u64 = 86_400_000;
/// More threads than this do not read a heap faster.
const MOST_THREADS: usize = 256;

/// The options, in the order of the help.
pub(super) const ROWS: &[Row] = &[
    // Of the JDK's agent; `redact=values` does both.
    Row {
        name: "primfields",
        values: "y|n",
        default: "y",
        help: "",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.options.primitive_fields = on),
    },
    Row {
        name: "primarrays",
        values: "y|n",
        default: "y",
        help: "",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.options.primitive_arrays = on),
    },
    Row {
        name: "redact",
        values: "strings|arrays|values|all",
        default: "off",
        help: "writes zeros in place of values. `strings`: the text of strings. `arrays`: \
               elements of all primitive arrays. `values`: `arrays`, and primitive fields. \
               `all`: `values`, and stars for the names of threads and source files. Needs a \
               fork: no value leaves the process",
        standing: Standing::Built,
        set: |said, value| {
            said.options.redaction.what = Redacted::parse(value).ok_or("")?;
            Ok(())
        },
    },
    Row {
        name: "keep",
        values: "CLASS#FIELD",
        default: "none",
        help: "with `redact=`: fields whose value stays, or the text of the string or the elements of the \
               primitive array that they refer to: `com.acme.Order#id;com.acme.*#currency`. A star matches any \
               letters; `;` or `+` separates",
        standing: Standing::Built,
        set: |said, value| {
            said.options.redaction.keep = FieldPatterns::parse(value).ok_or("")?;
            Ok(())
        },
    },
    Row {
        name: "drop",
        values: "CLASS#FIELD",
        default: "none",
        help: "the same for fields whose value becomes zeros; stronger than `redact=` and \
               `keep=`",
        standing: Standing::Built,
        set: |said, value| {
            said.options.redaction.drop = FieldPatterns::parse(value).ok_or("")?;
            Ok(())
        },
    },
    Row {
        name: "stop",
        values: "auto|y|n|always",
        default: "auto",
        help: "whether a dump may stop the application while HotSpot's own dumper writes. \
               `auto`: only if there can be no copy of the heap. `y`: whenever there is no \
               forked copy. `n`: never; the dump is refused, with an estimate. `always`: the \
               heap is not forked",
        standing: Standing::Built,
        set: |said, value| {
            said.options.stop_the_world = match value {
                "auto" => StopTheWorld::IfNeeded,
                "y" => StopTheWorld::Allowed,
                "n" => StopTheWorld::Never,
                "always" => StopTheWorld::Always,
                _ => return Err(""),
            };
            Ok(())
        },
    },
    Row {
        name: "maxpause",
        values: "MS",
        default: "no limit",
        help: "milliseconds for which a dump may stop the application, by an estimate. Not for \
               the dump at the JVM's end",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(milliseconds @ 1..=MOST_MILLISECONDS) => {
                said.options.max_pause = Some(Duration::from_millis(milliseconds));
                Ok(())
            }
            _ => Err("maxpause must be from 1 to 86400000"),
        },
    },
    // `fork`, `image`, or `both`: an image that is compared with the fork. Tests choose.
    Row {
        name: "copy",
        values: "auto|fork|image|both",
        default: "auto",
        help: "",
        standing: Standing::Built,
        set: |said, value| {
            said.options.heap_copy = match value {
                "auto" => HeapCopy::Auto,
                "fork" => HeapCopy::Fork,
                "image" => HeapCopy::Image,
                "both" => HeapCopy::Compared,
                _ => return Err(""),
            };
            Ok(())
        },
    },
    // Threads of the forked copy: docs/production.md.
    Row {
        name: "threads",
        values: "N",
        default: "processors",
        help: "",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(threads @ 1..=MOST_THREADS) => {
                said.options.threads = Some(threads);
                Ok(())
            }
            _ => Err("threads must be from 1 to 256"),
        },
    },
    Row {
        name: "timeout",
        values: "S",
        default: "120",
        help: "seconds without progress after which a forked copy is ended. A named pipe, a command or \
               `hprof dump -o -` has thirty times as long for a whole dump",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(seconds @ 1..=MOST_SECONDS) => {
                said.options.timeout_s = seconds;
                Ok(())
            }
            _ => Err("timeout must be from 1 to 86400"),
        },
    },
];
