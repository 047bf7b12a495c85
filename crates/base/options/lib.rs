//! From the option string to the user's options: parsing, cross-checks, help.
//!
//! The options themselves, one row each, are in `rows`; rejected combinations are in `cross_check`;
//! names of files with `%` letters are in [`file_name`]. Nothing here knows a JVM.
#![forbid(unsafe_code)]

mod caused;
mod class_patterns;
mod condition;
mod cpu;
mod cross_check;
pub mod file_name;
mod help;
pub mod host;
mod nearest;
mod out_of_memory;
mod parsing;
mod resolve;
mod rows;
mod values;

use crate::file_name::FileName;
use caused::Word;
pub use caused::{Conditions, Does, Leaks, Limits};
pub use class_patterns::ClassPatterns;
pub use condition::{conditions, Condition};
pub use cpu::{Cpu, TimesLayout};
use format::redaction::{Redacted, Redaction};
pub use help::help;
pub use out_of_memory::OnOutOfMemory;
pub use parsing::{parse, parse_command};
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;
use writer::{Existing, FileMode, Floor, GzipLevel, Peer, Target};

/// Whether a dump stops the application for HotSpot's own dumper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopTheWorld {
    /// Never: where there is no forked copy, there is no dump.
    Never,
    /// Only if this heap can never be forked.
    IfNeeded,
    /// Whenever there is no forked copy, for any reason.
    Allowed,
    /// Always: the heap is not forked.
    Always,
}

/// How a heap that a fork could copy is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapCopy {
    /// By what stops and slows the application less.
    Auto,
    /// By the fork.
    Fork,
    /// By an image, where the system allows it.
    Image,
    /// By both, and the copied process compares them.
    Compared,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The classic text.
    Text,
    /// Binary HPROF 1.0.2.
    Binary,
}

/// Where dumps and reports are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination<N = FileName> {
    /// Each to its own file.
    File(N),
    /// One after the other to a connection.
    Net(Peer),
    /// To the process that listens on this socket.
    Socket(Product, PathBuf),
    /// Each to a command of its own, by its pattern.
    Command(N),
}

/// What is made of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// No dump, but the graph of objects.
    Graph,
    /// No dump, but how many objects each class has.
    Counts,
    /// The dump.
    Dump,
}

/// How allocations are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Average bytes between samples; 0 samples every allocation.
    pub interval_bytes: u32,
    /// Most samples of live objects that are kept.
    pub most_live: usize,
    /// Most of a thread's time that its samples may take, in basis points (hundredths of a
    /// percent); 0 means no limit.
    pub most_cost_basis_points: u16,
}

/// Default of `depth` for the stacks of allocations and CPU samples.
const TRACE_DEPTH_FRAMES: u32 = 32;
/// Default of `depth` where every event has a stack, as in the JDK's agent.
const EXACT_DEPTH_FRAMES: u32 = 4;

/// Default of `interval`: CPU time between two samples of a thread.
const CPU_INTERVAL_US: u32 = 10_000;

/// Default of `cooldown`.
const COOLDOWN: Duration = Duration::from_secs(600);

/// The user's options, checked and complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Make heap dumps.
    pub heap_dump: bool,
    /// How to sample allocations; `None` for not at all.
    pub sampling: Option<Sampling>,
    /// Whether sites are recorded only because no option names what to measure.
    pub sites_by_default: bool,
    /// How to measure CPU use; `None` for not at all.
    pub cpu: Option<Cpu>,
    /// The classes whose methods are timed.
    pub classes: ClassPatterns,
    /// Count contention for monitors, and waits.
    pub monitors: bool,
    /// Least share of a reported row.
    pub cutoff: f64,
    /// How heap dumps and reports are written.
    pub format: Format,
    /// Where dumps and reports are written.
    pub destination: Destination,
    /// Most frames of a thread's stack; `None` for no limit.
    pub depth_frames: Option<u32>,
    /// Look up line numbers.
    pub line_numbers: bool,
    /// Whether threads have separate traces.
    pub by_thread: bool,
    /// Whether to dump when the JVM ends.
    pub dump_on_exit: bool,
    /// Whether to dump at SIGQUIT.
    pub dump_on_signal: bool,
    /// Whether to replace a file that existed before this JVM.
    pub force: bool,
    /// The mode of the files that are made; `None` for what each kind has otherwise.
    pub mode: Option<FileMode>,
    /// Whether the user has named the file.
    pub is_named: bool,
    /// Whether to also report the start of a dump on stderr.
    pub verbose: bool,
    /// Put the values of primitive fields into the dump.
    pub primitive_fields: bool,
    /// Put the elements of primitive arrays into the dump.
    pub primitive_arrays: bool,
    /// What heap dumps leave out.
    pub redaction: Redaction,
    /// Whether a dump stops the application for HotSpot's own dumper.
    pub stop_the_world: StopTheWorld,
    /// How long a dump may stop the application; `None` for no limit.
    pub max_pause: Option<Duration>,
    /// What the first OutOfMemoryError does.
    pub oom: OnOutOfMemory,
    /// How the heap is copied.
    pub heap_copy: HeapCopy,
    /// Threads that read and compress a snapshot; `None` for one per processor.
    pub threads: Option<usize>,
    /// Seconds without a sign of life after which a snapshot's process is given up.
    pub timeout_s: u32,
    /// The compression level; `None` for no compression.
    pub gzip: Option<GzipLevel>,
    /// What causes something by itself; `None` for nothing.
    pub on: Option<Conditions>,
    /// What a condition, or a command, makes.
    pub does: Does,
    /// How many dumps are kept; `None` for all.
    pub kept: Option<usize>,
    /// Bytes that dumps leave free on their disk.
    pub min_free_bytes: u64,
    /// Messages for the user: options that were accepted and do nothing.
    pub notes: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            heap_dump: false,
            sampling: None,
            sites_by_default: false,
            cpu: None,
            classes: ClassPatterns::default(),
            monitors: false,
            cutoff: 0.0001,
            format: Format::Binary,
            destination: Destination::File(FileName::default()),
            depth_frames: None,
            line_numbers: true,
            by_thread: false,
            dump_on_exit: true,
            dump_on_signal: true,
            force: false,
            mode: None,
            is_named: false,
            verbose: true,
            primitive_fields: true,
            primitive_arrays: true,
            redaction: Redaction::default(),
            stop_the_world: StopTheWorld::IfNeeded,
            max_pause: None,
            oom: OnOutOfMemory::Nothing,
            heap_copy: HeapCopy::Auto,
            threads: None,
            timeout_s: 120,
            gzip: None,
            on: None,
            does: Does::Dump,
            kept: None,
            min_free_bytes: 0,
            notes: Vec::new(),
        }
    }
}

impl Options {
    /// Whether heap dumps lack something of what the heap has.
    pub fn leaves_out_values(&self) -> bool {
        !(self.redaction.is_nothing() && self.primitive_fields && self.primitive_arrays)
    }

    /// Whether dumps and reports have stars in place of the names of threads.
    pub fn hides_names(&self) -> bool {
        self.redaction.what == Redacted::All
    }

    /// The file at this path, with these options' compression.
    pub fn target(&self, path: PathBuf, existing: Existing) -> Target {
        Target {
            path,
            existing,
            gzip: self.gzip,
            floor: self.floor(),
            mode: self.mode,
        }
    }

    /// The free space that nothing takes; `None` if all may be taken.
    pub fn floor(&self) -> Option<Floor> {
        (self.min_free_bytes > 0).then_some(Floor(self.min_free_bytes))
    }

    /// Whether dumps tell why they were made, so that those that are too many can be told from
    /// others.
    pub fn tells_cause(&self) -> bool {
        self.on.is_some() || self.kept.is_some()
    }

    /// Most frames of a profile's stack.
    pub fn trace_depth_frames(&self) -> u32 {
        let is_exact = self.sampling.is_some_and(|it| it.interval_bytes == 0);
        let usual = match self.cpu.and_then(|cpu| cpu.times) {
            // As in the JDK's agent: callee and caller.
            Some(TimesLayout::Old) => return 2,
            Some(TimesLayout::Stacks) => EXACT_DEPTH_FRAMES,
            None if is_exact => EXACT_DEPTH_FRAMES,
            None => TRACE_DEPTH_FRAMES,
        };
        self.depth_frames.unwrap_or(usual)
    }
}

/// The meaning of an option string.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// Only the word `help`.
    Help,
    /// A run with these options.
    Options(Box<Options>),
}

/// Why an option string is rejected: one line for the user.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OptionError(String);

/// Refuses the options for this reason.
fn refused<T>(why: impl Into<String>) -> Result<T, OptionError> {
    Err(OptionError(why.into()))
}

/// The options as written, before their combined meaning is known.
#[derive(Debug)]
struct Said {
    /// Options that mean the same whatever else is written. `resolve` sets the rest.
    options: Options,
    heap_dump: bool,
    heap_sites: bool,
    sampling: Sampling,
    cpu_samples: bool,
    cpu_times: Option<TimesLayout>,
    cpu_interval_us: Option<u32>,
    format: Option<char>,
    /// With the patterns as they are written.
    destination: Option<Destination<String>>,
    on: Option<String>,
    /// `None` if it was not given.
    most_caused: Option<u32>,
    cooldown: Duration,
    does: Word,
    /// The file of what is made.
    does_to: Option<String>,
    command: Option<PathBuf>,
    min_free_bytes: Option<u64>,
    oom: Option<OnOutOfMemory>,
}

impl Default for Said {
    fn default() -> Self {
        Self {
            options: Options::default(),
            heap_dump: false,
            heap_sites: false,
            sampling: Sampling {
                interval_bytes: 512 * 1024,
                most_live: 65_536,
                most_cost_basis_points: 50,
            },
            cpu_samples: false,
            cpu_times: None,
            cpu_interval_us: None,
            format: None,
            destination: None,
            on: None,
            most_caused: None,
            cooldown: COOLDOWN,
            does: Word::Dump,
            does_to: None,
            command: None,
            min_free_bytes: None,
            oom: None,
        }
    }
}

impl Said {
    /// The name of the file; `None` if none is named.
    fn file(&self) -> Option<&str> {
        match &self.destination {
            Some(Destination::File(name)) => Some(name),
            _ => None,
        }
    }
}

/// Whether the file's name requests binary HPROF.
fn names_binary(said: &Said) -> bool {
    let name = said.file().unwrap_or_default();
    name.ends_with(".hprof") || name.ends_with(".hprof.gz")
}

/// Prints the help on stdout, as the JDK's agent does: the JVM does not start afterwards.
pub fn print_help() {
    use std::io::Write;
    let _ = std::io::stdout().write_all(help().as_bytes());
}

#[cfg(test)]
mod tests;
