//! From the option string to what the user wants: parsing, cross-checks, help.
//!
//! The options themselves, a row each, are in [`rows`]; what cannot go together is in [`cross_check`](mod@cross_check).

mod class_patterns;
mod cpu;
mod cross_check;
mod help;
mod out_of_memory;
mod rows;
mod values;

use crate::file_name::FileName;
pub(crate) use class_patterns::ClassPatterns;
pub(crate) use cpu::{Clock, Cpu, TimesLayout};
use cross_check::{cross_check, refuse, text_only};
pub(crate) use help::help;
pub(crate) use out_of_memory::OnOutOfMemory;
use rows::{rows, Standing};
use std::fmt;
use std::path::PathBuf;
use writer::{Existing, GzipLevel, Peer, Target};

/// Options of this environment variable are added behind those of the command line.
const ENVIRONMENT: &str = "_JAVA_HPROF_OPTIONS";

/// How a heap is dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// By snapshot, or as well as can be.
    Auto,
    /// By snapshot or not at all.
    Snapshot,
    /// By what the JVMTI specification promises, and no more.
    Portable,
}

/// How the snapshot engine reads a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SnapshotBy {
    /// From a forked copy, or inside the pause.
    Auto,
    /// From a forked copy.
    Fork,
    /// Inside the pause.
    Pause,
}

/// Whether a dump may stop the application for a walk over the heap, where it did not ask for one (`snapshot=pause`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopTheWorld {
    /// No.
    Never,
    /// If this heap can never be forked.
    IfNeeded,
    /// Whenever there is no forked copy, for whatever reason.
    Always,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// The classic text.
    Text,
    /// Binary HPROF 1.0.2.
    Binary,
}

/// Where dumps and reports go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Each into a file of its own.
    File(FileName),
    /// One after the other down a connection.
    Net(Peer),
}

/// How allocations are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampling {
    /// Bytes from sample to sample, on average; 0 for every allocation.
    pub(crate) interval_bytes: u32,
    /// Most samples that are remembered as living.
    pub(crate) most_live: usize,
    /// Most of a thread's time that its samples may take, in basis points, hundredths of a percent; 0 is no bound.
    pub(crate) most_cost_basis_points: u16,
}

/// Frames of the stack of an allocation or a CPU sample, unless `depth` says otherwise.
const TRACE_DEPTH_FRAMES: u32 = 32;
/// The same where each event has one: the depth of the JDK's agent.
const EXACT_DEPTH_FRAMES: u32 = 4;

/// CPU time between two samples of a thread, unless `interval` says otherwise.
const CPU_INTERVAL_US: u32 = 10_000;

/// What the user wants, checked and complete.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// Make heap dumps.
    pub(crate) heap_dump: bool,
    /// Sample allocations, so.
    pub(crate) sampling: Option<Sampling>,
    /// That was not asked for: no option said what to measure.
    pub(crate) sites_by_default: bool,
    /// Measure the use of the processor, so.
    pub(crate) cpu: Option<Cpu>,
    /// What clock times methods.
    pub(crate) clock: Clock,
    /// Which classes' methods are timed.
    pub(crate) classes: ClassPatterns,
    /// Count contention for monitors, and waits.
    pub(crate) monitors: bool,
    /// Least share of a row in a report.
    pub(crate) cutoff: f64,
    /// How heap dumps and reports are written.
    pub(crate) format: Format,
    /// Where dumps and reports go.
    pub(crate) destination: Destination,
    /// Most frames of a thread's stack; `None`: all of them.
    pub(crate) depth_frames: Option<u32>,
    /// Look up line numbers.
    pub(crate) line_numbers: bool,
    /// Keep the traces of threads apart.
    pub(crate) by_thread: bool,
    /// Dump when the JVM ends.
    pub(crate) dump_on_exit: bool,
    /// Replace a file that was there before this JVM.
    pub(crate) force: bool,
    /// Say on stderr when a dump begins, too.
    pub(crate) verbose: bool,
    /// Put the values of primitive fields into the dump.
    pub(crate) primitive_fields: bool,
    /// Put the elements of primitive arrays into the dump.
    pub(crate) primitive_arrays: bool,
    /// How a heap is dumped.
    pub(crate) engine: Engine,
    /// How the snapshot engine reads it.
    pub(crate) snapshot: SnapshotBy,
    /// Whether a dump may stop the application for a walk that was not asked for.
    pub(crate) stop_the_world: StopTheWorld,
    /// What the first OutOfMemoryError does.
    pub(crate) oom: OnOutOfMemory,
    /// Have the kernel make huge pages of the heap before a fork.
    pub(crate) huge_pages: bool,
    /// Threads that read and compress a snapshot; `None`: as many as there are processors.
    pub(crate) threads: Option<usize>,
    /// Seconds after which a snapshot's process that shows no life is given up.
    pub(crate) timeout_s: u32,
    /// Compress, so much.
    pub(crate) gzip: Option<GzipLevel>,
    /// Lines to tell the user: options that were accepted and do nothing.
    pub(crate) notes: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            heap_dump: false,
            sampling: None,
            sites_by_default: false,
            cpu: None,
            clock: Clock::Cpu,
            classes: ClassPatterns::default(),
            monitors: false,
            cutoff: 0.0001,
            format: Format::Binary,
            destination: Destination::File(FileName::default()),
            depth_frames: None,
            line_numbers: true,
            by_thread: false,
            dump_on_exit: true,
            force: true,
            verbose: true,
            primitive_fields: true,
            primitive_arrays: true,
            engine: Engine::Auto,
            snapshot: SnapshotBy::Auto,
            stop_the_world: StopTheWorld::IfNeeded,
            oom: OnOutOfMemory::Nothing,
            huge_pages: false,
            threads: None,
            timeout_s: 120,
            gzip: None,
            notes: Vec::new(),
        }
    }
}

impl Options {
    /// The file of this path, as the options want it.
    pub(crate) fn target(&self, path: PathBuf) -> Target {
        let existing = if self.force {
            Existing::Replace
        } else {
            Existing::Keep
        };
        Target {
            path,
            existing,
            gzip: self.gzip,
        }
    }

    /// Most frames of a stack of a profile.
    pub(crate) fn trace_depth_frames(&self) -> u32 {
        let is_exact = self.sampling.is_some_and(|it| it.interval_bytes == 0);
        let usual = match self.cpu.and_then(|cpu| cpu.times) {
            // As the JDK's agent: callee and caller.
            Some(TimesLayout::Old) => return 2,
            Some(TimesLayout::Stacks) => EXACT_DEPTH_FRAMES,
            None if is_exact => EXACT_DEPTH_FRAMES,
            None => TRACE_DEPTH_FRAMES,
        };
        self.depth_frames.unwrap_or(usual)
    }
}

/// What an option string asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Parsed {
    /// The word `help` alone.
    Help,
    /// A run with these options.
    Options(Options),
}

/// Why an option string is refused: one line for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OptionError(String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What was said, before it is known what it means together.
#[derive(Debug)]
struct Said {
    /// What means the same whatever else was said. All else in it is set by `resolve`.
    options: Options,
    heap_dump: bool,
    heap_sites: bool,
    sampling: Sampling,
    cpu_samples: bool,
    cpu_times: Option<TimesLayout>,
    cpu_interval_us: Option<u32>,
    format: Option<char>,
    file: Option<String>,
    net: Option<Peer>,
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
            file: None,
            net: None,
            oom: None,
        }
    }
}

/// Parses the agent's option string, with those of the environment behind it.
pub(crate) fn parse(text: &str) -> Result<Parsed, OptionError> {
    parse_with(text, &std::env::var(ENVIRONMENT).unwrap_or_default())
}

fn parse_with(text: &str, environment: &str) -> Result<Parsed, OptionError> {
    if text == "help" {
        return Ok(Parsed::Help);
    }
    let mut said = Said::default();
    let mut notes = Vec::new();
    let mut refusal = None;
    for pair in text
        .split(',')
        .chain(environment.split(','))
        .filter(|pair| !pair.is_empty())
    {
        take(pair, &mut said, &mut notes, &mut refusal)?;
    }
    cross_check(&said)?;
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    resolve(said, notes).map(Parsed::Options)
}

/// Takes one `name=value`. What is right but cannot be had goes to `refusal`: wrong values are told first.
fn take(
    pair: &str,
    said: &mut Said,
    notes: &mut Vec<String>,
    refusal: &mut Option<OptionError>,
) -> Result<(), OptionError> {
    let Some((name, value)) = pair.split_once('=') else {
        let hint = if pair == "help" {
            "; help stands alone: -agentpath:…=help"
        } else {
            ""
        };
        return Err(OptionError(format!(
            "{pair}: options have the form name=value, separated by commas{hint}"
        )));
    };
    let Some(row) = rows().find(|row| row.name == name) else {
        return Err(OptionError(format!(
            "{name}={value}: there is no option {name}; the options are {}",
            names()
        )));
    };
    (row.set)(said, value).map_err(|why| {
        let allowed = if why.is_empty() {
            format!("{name} takes {}", row.values)
        } else {
            why.to_owned()
        };
        OptionError(format!("{name}={value}: {allowed}"))
    })?;
    match row.standing {
        Standing::Built => {}
        Standing::Nothing(why) => notes.push(format!("{name}={value} does nothing: {why}")),
        Standing::Refused(why) => {
            refusal.get_or_insert(OptionError(format!("{name}={value}: {why}")));
        }
    }
    Ok(())
}

fn names() -> String {
    rows()
        .filter(|row| row.is_public())
        .map(|row| row.name)
        .collect::<Vec<_>>()
        .join(" ")
}

/// What the options mean together.
fn resolve(said: Said, mut notes: Vec<String>) -> Result<Options, OptionError> {
    // As with the JDK's agent: who asks for nothing gets both.
    let measures_cpu = said.cpu_samples || said.cpu_times.is_some();
    let is_nothing = !said.heap_dump && !said.heap_sites && !said.options.monitors && !measures_cpu;
    let heap_dump = said.heap_dump || is_nothing;
    let heap_sites = said.heap_sites || is_nothing;
    refuse(&said)?;
    let cpu = cpu(&said, &mut notes)?;
    // As with the JDK's agent: what has no binary form makes all of it text.
    let is_binary = match said.format {
        None => names_binary(&said) || heap_dump && text_only(&said).is_none(),
        Some(format) => format == 'b',
    };
    let format = if is_binary {
        Format::Binary
    } else {
        Format::Text
    };
    let name = said.file.unwrap_or_else(|| match format {
        Format::Binary => "java.hprof".to_owned(),
        Format::Text => "java.hprof.txt".to_owned(),
    });
    let gzip = match said.options.gzip {
        None if said.net.is_none() && name.ends_with(".gz") => GzipLevel::new(1),
        gzip => gzip,
    };
    let destination = match said.net {
        Some(peer) => Destination::Net(peer),
        None => Destination::File(
            FileName::parse(&name).map_err(|why| OptionError(format!("file={name}: {why}")))?,
        ),
    };
    Ok(Options {
        heap_dump,
        sampling: heap_sites.then_some(said.sampling),
        sites_by_default: is_nothing,
        cpu,
        format,
        destination,
        oom: said.oom.unwrap_or(OnOutOfMemory::by_default(heap_dump)),
        gzip,
        notes,
        ..said.options
    })
}

/// What `cpu` and `interval` mean.
fn cpu(said: &Said, notes: &mut Vec<String>) -> Result<Option<Cpu>, OptionError> {
    let times = said.cpu_times;
    if !said.cpu_samples {
        if said.cpu_interval_us.is_some() {
            notes.push("interval does nothing without cpu=samples".to_owned());
        }
        return Ok(times.map(|layout| Cpu {
            samples_us: None,
            times: Some(layout),
        }));
    }
    if said.options.depth_frames == Some(0) {
        return Err(OptionError(
            "depth=0: cpu=samples needs at least the method that runs; the least is depth=1"
                .to_owned(),
        ));
    }
    Ok(Some(Cpu {
        samples_us: Some(said.cpu_interval_us.unwrap_or(CPU_INTERVAL_US)),
        times,
    }))
}

/// Whether the file's name asks for binary HPROF.
fn names_binary(said: &Said) -> bool {
    let name = said.file.as_deref().unwrap_or_default();
    name.ends_with(".hprof") || name.ends_with(".hprof.gz")
}

/// Prints the help on stdout, where the JDK's agent printed it: the JVM does not start afterwards.
pub(crate) fn print_help() {
    use std::io::Write;
    let _ = std::io::stdout().write_all(help().as_bytes());
}

#[cfg(test)]
mod tests;
