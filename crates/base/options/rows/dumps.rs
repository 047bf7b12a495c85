//! How a heap is dumped.

use super::row::Row;
use crate::values::{within, yes_no};
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
        set: |said, value| yes_no(value).map(|on| said.options.primitive_fields = on),
    },
    Row {
        name: "primarrays",
        values: "y|n",
        default: "y",
        help: "",
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
        set: |said, value| Redacted::parse(value).ok_or("").map(|it| said.options.redaction.what = it),
    },
    Row {
        name: "keep",
        values: "CLASS#FIELD",
        default: "none",
        help: "with `redact=`: fields whose value stays, or the text of the string or the elements of the \
               primitive array that they refer to: `com.acme.Order#id;com.acme.*#currency`. A star matches any \
               letters; `;` or `+` separates",
        set: |said, value| FieldPatterns::parse(value).ok_or("").map(|it| said.options.redaction.keep = it),
    },
    Row {
        name: "drop",
        values: "CLASS#FIELD",
        default: "none",
        help: "the same for fields whose value becomes zeros; stronger than `redact=` and \
               `keep=`",
        set: |said, value| FieldPatterns::parse(value).ok_or("").map(|it| said.options.redaction.drop = it),
    },
    Row {
        name: "stop",
        values: "auto|y|n|always",
        default: "auto",
        help: "whether a dump may stop the application while HotSpot's own dumper writes. \
               `auto`: only if there can be no copy of the heap. `y`: whenever there is no \
               forked copy. `n`: never; the dump is refused, with an estimate. `always`: the \
               heap is not forked",
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
        set: |said, value| within(value, 1..=MOST_MILLISECONDS, "maxpause must be from 1 to 86400000").map(|milliseconds| said.options.max_pause = Some(Duration::from_millis(milliseconds))),
    },
    // `fork`, `image`, or `both`: an image that is compared with the heap. Tests choose.
    Row {
        name: "copy",
        values: "auto|fork|image|both",
        default: "auto",
        help: "",
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
        set: |said, value| within(value, 1..=MOST_THREADS, "threads must be from 1 to 256").map(|threads| said.options.threads = Some(threads)),
    },
    Row {
        name: "timeout",
        values: "S",
        default: "120",
        help: "seconds without progress after which a forked copy is ended. A named pipe, a command or \
               `hprof dump -o -` has thirty times as long for a whole dump",
        set: |said, value| within(value, 1..=MOST_SECONDS, "timeout must be from 1 to 86400").map(|seconds| said.options.timeout_s = seconds),
    },
];
