//! The options: one row an option, with its values, default, meaning and parser.
//!
//! They are those of the JDK's HPROF agent (its manual page and `hprof_init.c`), under their old names, and some of our own.

use super::values::{basis_points, bytes, micros, yes_no};
use super::{Engine, OnOutOfMemory, Said, SnapshotBy, StopTheWorld, TimesLayout};
use crate::os::cpu_clock::Clock;
use crate::profile::ClassPatterns;
use writer::{GzipLevel, Peer};

/// One option.
pub(super) struct Row {
    /// Name before the `=`.
    pub(super) name: &'static str,
    /// Values, as help and refusals show them.
    pub(super) values: &'static str,
    /// Default, as help shows it.
    pub(super) default: &'static str,
    /// Meaning, in one line.
    pub(super) help: &'static str,
    /// Whether the option does something.
    pub(super) standing: Standing,
    /// Notes the value. Err: why it is wrong; "" for "takes `values`".
    pub(super) set: fn(&mut Said, &str) -> Result<(), &'static str>,
}

impl Row {
    /// Shown in help: all but the old agent's debug options.
    pub(super) fn is_public(&self) -> bool {
        !self.help.is_empty()
    }
}

/// Whether an option does something.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    /// It does, or `resolve` says what is missing.
    Built,
    /// Accepted for old scripts, and said to do nothing.
    Nothing(&'static str),
    /// Known from the old agent, and refused whatever its value.
    Refused(&'static str),
}

/// A day.
const MOST_SECONDS: u32 = 86_400;
/// More threads than this read a heap no faster.
const MOST_THREADS: usize = 256;
/// More samples cost collections too much.
const MOST_LIVE: usize = 1 << 24;
/// An hour of CPU time.
const MOST_INTERVAL_US: u32 = 3_600_000_000;
const DEBUG: &str = "a switch for debugging the JDK's own agent; this one has none of the kind";
const REMOVED: &str = "was removed from the JDK's agent, too; use the JVM's -XX:OnError";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "heap",
        values: "dump|sites|all",
        default: "all",
        help: "heap dump, allocation sites, or both with the sites' stacks in the dump",
        standing: Standing::Built,
        set: |said, value| {
            match value {
                "dump" => said.heap_dump = true,
                "sites" => said.heap_sites = true,
                "all" => (said.heap_dump, said.heap_sites) = (true, true),
                _ => return Err(""),
            }
            Ok(())
        },
    },
    Row {
        name: "cpu",
        values: "samples|times|old",
        default: "off",
        help: "CPU usage: stacks of running threads by the time they run, or every call timed; give it twice for both",
        standing: Standing::Built,
        set: |said, value| {
            // As with the JDK's agent: `cpu=samples,cpu=times` asks for both.
            match value {
                "y" | "samples" => said.cpu_samples = true,
                "times" => said.cpu_times = Some(TimesLayout::Stacks),
                "old" => said.cpu_times = Some(TimesLayout::Old),
                _ => return Err(""),
            }
            Ok(())
        },
    },
    Row {
        name: "monitor",
        values: "y|n",
        default: "n",
        help: "contention and waits, who owns what; text only",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.monitor = on),
    },
    Row {
        name: "format",
        values: "a|b",
        default: "by file",
        help: "text or binary; by default a heap dump is binary unless cpu=times or monitor=y is with it, and so is NAME.hprof",
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
        name: "file",
        values: "NAME",
        default: "java.hprof",
        help: "the dump's file; see below for %p %t %n %h",
        standing: Standing::Built,
        set: |said, value| {
            if value.is_empty() {
                return Err("");
            }
            once(said)?;
            said.file = Some(value.to_owned());
            Ok(())
        },
    },
    Row {
        name: "net",
        values: "HOST:PORT",
        default: "off",
        help: "send what would go into files down a socket, and take commands from it",
        standing: Standing::Built,
        set: |said, value| {
            let peer = Peer::parse(value).ok_or("")?;
            once(said)?;
            said.net = Some(peer);
            Ok(())
        },
    },
    Row {
        name: "depth",
        values: "FRAMES",
        default: "all",
        help: "most frames of a stack; without it samples have 32, exact counts and times 4",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(frames) => {
                said.depth_frames = Some(frames);
                Ok(())
            }
            Err(_) => Err("depth must be decimal and >= 0"),
        },
    },
    Row {
        name: "interval",
        values: "MS",
        default: "10",
        help: "CPU time of a thread from sample to sample; 500us is half a millisecond",
        standing: Standing::Built,
        set: |said, value| match micros(value) {
            Some(micros @ 1..=MOST_INTERVAL_US) => {
                said.cpu_interval_us = Some(micros);
                Ok(())
            }
            Some(1..) => Err("interval must be at most an hour"),
            _ => Err("interval must be decimal and > 0"),
        },
    },
    Row {
        name: "cutoff",
        values: "RATIO",
        default: "0.0001",
        help: "least share of a row in a report",
        standing: Standing::Built,
        set: |said, value| match value.parse::<f64>() {
            Ok(ratio) if ratio >= 0.0 => {
                said.cutoff = ratio;
                Ok(())
            }
            _ => Err("cutoff must be decimal and >= 0"),
        },
    },
    Row {
        name: "sampling",
        values: "BYTES",
        default: "512k",
        help:
            "bytes from one sampled allocation to the next; k and m may follow; 0 counts every one",
        standing: Standing::Built,
        set: |said, value| match bytes(value) {
            Some(interval_bytes) => {
                said.sampling.interval_bytes = interval_bytes;
                Ok(())
            }
            None => Err("sampling must be a number of bytes below 2g, as in 512k"),
        },
    },
    Row {
        name: "maxlive",
        values: "N",
        default: "65536",
        help: "most sampled objects that are remembered as living",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(most @ 16..=MOST_LIVE) => {
                said.sampling.most_live = most;
                Ok(())
            }
            _ => Err("maxlive must be from 16 to 16777216"),
        },
    },
    Row {
        name: "maxcost",
        values: "PERCENT",
        default: "0.5",
        help: "most of a thread's time that its allocation samples may take; beyond it some are left out; 0: no bound",
        standing: Standing::Built,
        set: |said, value| match basis_points(value) {
            Some(points) => {
                said.sampling.most_cost_basis_points = points;
                Ok(())
            }
            None => Err("maxcost must be from 0 to 100, as in 0.5, with two decimals at most"),
        },
    },
    Row {
        name: "clock",
        values: "cpu|wall",
        default: "cpu",
        help: "what times methods: the processor's time, or the time that passes",
        standing: Standing::Built,
        set: |said, value| {
            said.clock = match value {
                "cpu" => Clock::Cpu,
                "wall" => Clock::Wall,
                _ => return Err(""),
            };
            Ok(())
        },
    },
    Row {
        name: "include",
        values: "PATTERNS",
        default: "all",
        help: "time methods of these classes only: com.acme.*;*Service",
        standing: Standing::Built,
        set: |said, value| {
            said.classes.include = ClassPatterns::parse(value).ok_or("")?;
            Ok(())
        },
    },
    Row {
        name: "exclude",
        values: "PATTERNS",
        default: "none",
        help: "and not those of these",
        standing: Standing::Built,
        set: |said, value| {
            said.classes.exclude = ClassPatterns::parse(value).ok_or("")?;
            Ok(())
        },
    },
    Row {
        name: "lineno",
        values: "y|n",
        default: "y",
        help: "line numbers in stacks",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.line_numbers = on),
    },
    Row {
        name: "thread",
        values: "y|n",
        default: "n",
        help: "keep the traces of threads apart",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.by_thread = on),
    },
    Row {
        name: "doe",
        values: "y|n",
        default: "y",
        help: "dump when the JVM ends",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.dump_on_exit = on),
    },
    Row {
        name: "msa",
        values: "y|n",
        default: "n",
        help: "Solaris micro-state accounting",
        standing: Standing::Nothing("it was for Solaris"),
        set: |_, value| yes_no(value).map(|_| ()),
    },
    Row {
        name: "force",
        values: "y|n",
        default: "y",
        help: "replace a file that is there, or choose another name",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.force = on),
    },
    Row {
        name: "verbose",
        values: "y|n",
        default: "y",
        help: "tell of dumps on stderr; n tells of failures alone",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.verbose = on),
    },
    Row {
        name: "gc_okay",
        values: "y|n",
        default: "y",
        help: "obsolete",
        standing: Standing::Nothing("it was obsolete in the JDK's agent already"),
        set: |_, value| yes_no(value).map(|_| ()),
    },
    Row {
        name: "primfields",
        values: "y|n",
        default: "y",
        help: "values of primitive fields; n writes zeros",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.primitive_fields = on),
    },
    Row {
        name: "primarrays",
        values: "y|n",
        default: "y",
        help: "elements of primitive arrays; n writes zeros",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.primitive_arrays = on),
    },
    Row {
        name: "virtual",
        values: "y|n",
        default: "n",
        help: "count virtual threads as they start; makes them slower",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.virtual_threads = on),
    },
    Row {
        name: "engine",
        values: "auto|snapshot|portable",
        default: "auto",
        help: "how a heap is read: as fast as HotSpot allows, or by JVMTI alone",
        standing: Standing::Built,
        set: |said, value| {
            said.engine = match value {
                "auto" => Engine::Auto,
                "snapshot" => Engine::Snapshot,
                "portable" => Engine::Portable,
                _ => return Err(""),
            };
            Ok(())
        },
    },
    Row {
        name: "snapshot",
        values: "auto|fork|pause",
        default: "auto",
        help: "read a forked copy of the heap, or the heap itself while the application pauses",
        standing: Standing::Built,
        set: |said, value| {
            said.snapshot = match value {
                "auto" => SnapshotBy::Auto,
                "fork" => SnapshotBy::Fork,
                "pause" => SnapshotBy::Pause,
                _ => return Err(""),
            };
            Ok(())
        },
    },
    Row {
        name: "stop",
        values: "auto|y|n",
        default: "auto",
        help: "stop the application for a walk over the heap if there is no fork: if there never can be one, always, never",
        standing: Standing::Built,
        set: |said, value| {
            said.stop_the_world = match value {
                "auto" => StopTheWorld::IfNeeded,
                "y" => StopTheWorld::Always,
                "n" => StopTheWorld::Never,
                _ => return Err(""),
            };
            Ok(())
        },
    },
    Row {
        name: "oom",
        values: "y|n|exit",
        default: "with heap=dump",
        help: "dump at the first OutOfMemoryError; exit: then end the JVM with status 3",
        standing: Standing::Built,
        set: |said, value| {
            said.oom = Some(match value {
                "y" => OnOutOfMemory::Dump,
                "n" => OnOutOfMemory::Nothing,
                "exit" => OnOutOfMemory::DumpAndExit,
                _ => return Err(""),
            });
            Ok(())
        },
    },
    Row {
        name: "hugepages",
        values: "y|n",
        default: "n",
        help: "make huge pages of the heap before a fork: a pause ten times shorter (Linux 6.1)",
        standing: Standing::Built,
        set: |said, value| yes_no(value).map(|on| said.huge_pages = on),
    },
    Row {
        name: "threads",
        values: "N",
        default: "processors",
        help: "threads that read and compress a snapshot",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(threads @ 1..=MOST_THREADS) => {
                said.threads = Some(threads);
                Ok(())
            }
            _ => Err("threads must be from 1 to 256"),
        },
    },
    Row {
        name: "timeout",
        values: "S",
        default: "120",
        help: "seconds after which a snapshot's process that shows no life is given up",
        standing: Standing::Built,
        set: |said, value| match value.parse() {
            Ok(seconds @ 1..=MOST_SECONDS) => {
                said.timeout_s = seconds;
                Ok(())
            }
            _ => Err("timeout must be from 1 to 86400"),
        },
    },
    Row {
        name: "gz",
        values: "1..9",
        default: "off",
        help: "compress, 1 fastest, 9 smallest; a name that ends in .gz means 1",
        standing: Standing::Built,
        set: |said, value| {
            said.gzip = Some(value.parse().ok().and_then(GzipLevel::new).ok_or("")?);
            Ok(())
        },
    },
    Row {
        name: "answer",
        values: "FILE",
        default: "none",
        help: "when attached: write what is said on stderr to the end of this file, too",
        standing: Standing::Built,
        // The session takes it from the text, before that is parsed.
        set: |_, _| Ok(()),
    },
    refused("logflags", DEBUG),
    refused("debugflags", DEBUG),
    refused("coredump", DEBUG),
    refused("errorexit", DEBUG),
    refused("pause", DEBUG),
    refused("debug", DEBUG),
    refused("X", DEBUG),
    refused("exitpause", REMOVED),
    refused("precrash", REMOVED),
];

/// An option of the old agent that is known and refused whatever its value.
const fn refused(name: &'static str, why: &'static str) -> Row {
    Row {
        name,
        values: "",
        default: "",
        help: "",
        standing: Standing::Refused(why),
        set: |_, _| Ok(()),
    }
}

/// There is one place where the output goes.
fn once(said: &Said) -> Result<(), &'static str> {
    if said.file.is_some() || said.net.is_some() {
        return Err("file or net options should only appear once");
    }
    Ok(())
}
