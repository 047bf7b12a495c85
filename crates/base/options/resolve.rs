//! The combined meaning of the options, once all are read.

use super::cross_check::{refuse, text_only};
use super::{
    names_binary, refused, Conditions, Cpu, Destination, Does, Format, Leaks, OptionError, Options,
    Said,
};
use super::{OnOutOfMemory, Word, CPU_INTERVAL_US};
use crate::caused::Limits;
use crate::condition::Condition;
use crate::file_name::FileName;
use writer::GzipLevel;

/// Default of `count` for dumps.
const MOST_CAUSED: u32 = 10;
/// Default of `minfree` with `on`.
const MIN_FREE_BYTES: u64 = 256 << 20;

/// The combined meaning of the options.
pub(super) fn resolve(said: Said, mut notes: Vec<String>) -> Result<Options, OptionError> {
    // As in the JDK's agent: without any request, both are made.
    let measures_cpu = said.cpu_samples || said.cpu_times.is_some();
    let is_nothing = !said.heap_dump && !said.heap_sites && !said.options.monitors && !measures_cpu;
    let is_sent = matches!(said.destination, Some(Destination::Socket(..)));
    let is_named = match said.does {
        Word::Sites => said.does_to.is_some(),
        _ => said.file().is_some(),
    };
    let heap_dump = said.heap_dump || is_nothing || is_sent;
    let heap_sites = said.heap_sites || is_nothing;
    refuse(&said)?;
    let cpu = cpu(&said, &mut notes)?;
    let does = does(&said, heap_sites)?;
    let on = conditions(&said, &does)?;
    // As in the JDK's agent: if anything has no binary form, everything is text.
    let is_binary = match said.format {
        _ if is_sent => true,
        None => names_binary(&said) || heap_dump && text_only(&said).is_none(),
        Some(format) => format == 'b',
    };
    let format = if is_binary {
        Format::Binary
    } else {
        Format::Text
    };
    let by_default = match format {
        Format::Binary => "java.hprof",
        Format::Text => "java.hprof.txt",
    };
    let destination = said.destination;
    let destination = destination.unwrap_or_else(|| Destination::File(by_default.to_owned()));
    let gzip = match (&destination, said.options.gzip) {
        (Destination::File(name), None) if name.ends_with(".gz") => GzipLevel::new(1),
        (_, gzip) => gzip,
    };
    let oom = oom(on.as_ref(), said.oom, heap_dump)?;
    let least_free = if on.is_some() { MIN_FREE_BYTES } else { 0 };
    let destination = match destination {
        Destination::File(name) => Destination::File(pattern("file", &name)?),
        Destination::Command(command) => Destination::Command(pattern("exec", &command)?),
        Destination::Net(peer) => Destination::Net(peer),
        Destination::Socket(sent, socket) => Destination::Socket(sent, socket),
    };
    Ok(Options {
        heap_dump,
        sampling: heap_sites.then_some(said.sampling),
        sites_by_default: is_nothing,
        cpu,
        format,
        destination,
        oom,
        on,
        does,
        is_named,
        min_free_bytes: said.min_free_bytes.unwrap_or(least_free),
        gzip,
        notes,
        ..said.options
    })
}

/// A name with its letters after `%`.
fn pattern(option: &str, text: &str) -> Result<FileName, OptionError> {
    FileName::parse(text).map_err(|why| OptionError(format!("{option}={text}: {why}")))
}

/// The meaning of `on`, and of what limits it.
fn conditions(said: &Said, does: &Does) -> Result<Option<Conditions>, OptionError> {
    let Some(text) = &said.on else {
        return Ok(None);
    };
    let all = crate::condition::conditions(text)
        .map_err(|why| OptionError(format!("on={text}: {why}")))?;
    if said.does != Word::Dump && all.contains(&Condition::OutOfMemory) {
        return refused("on=oom makes a dump and nothing else; write oom=y beside do=");
    }
    let by_default = match does {
        Does::Histo(_) => 0,
        _ => MOST_CAUSED,
    };
    let most = said.most_caused.unwrap_or(by_default);
    let limits = Limits {
        cooldown: said.cooldown,
        most: (most > 0).then_some(most),
    };
    Ok(Some(Conditions { all, limits }))
}

/// The meaning of `do`, and of what belongs to it.
fn does(said: &Said, heap_sites: bool) -> Result<Does, OptionError> {
    Ok(match said.does {
        Word::Dump => Does::Dump,
        Word::Histo => Does::Histo(named(said, "do=histo", "java.histo.jsonl")?),
        Word::Sites if !heap_sites => {
            return refused(
                "do=sites reports allocation sites, which are not recorded: add heap=sites or heap=all",
            );
        }
        Word::Sites => Does::Sites(named(said, "do=sites", "java.sites.txt")?),
        Word::Leaks => asked(said, "leaks", named(said, "do=leaks", "java.leaks.txt")?),
        Word::Memory => asked(said, "memory", named(said, "do=memory", "java.memory.txt")?),
    })
}

/// The question to the command `hprof`.
fn asked(said: &Said, question: &'static str, file: FileName) -> Does {
    Does::Leaks(Leaks {
        question,
        file,
        command: said.command.clone(),
    })
}

/// The file of what `do` makes.
fn named(said: &Said, option: &str, by_default: &str) -> Result<FileName, OptionError> {
    pattern(option, said.does_to.as_deref().unwrap_or(by_default))
}

/// The meaning of `oom`, beside `on`.
fn oom(
    on: Option<&Conditions>,
    said: Option<OnOutOfMemory>,
    heap_dump: bool,
) -> Result<OnOutOfMemory, OptionError> {
    let is_wanted = on.is_some_and(|on| on.all.contains(&Condition::OutOfMemory));
    match said {
        Some(OnOutOfMemory::Nothing) if is_wanted => {
            refused("on=oom and oom=n contradict each other; leave one of them out")
        }
        Some(said) => Ok(said),
        None => Ok(OnOutOfMemory::by_default(heap_dump || is_wanted)),
    }
}

/// The meaning of `cpu` and `interval`.
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
        return refused(
            "depth=0: cpu=samples needs at least the running method; use depth=1 or more",
        );
    }
    Ok(Some(Cpu {
        samples_us: Some(said.cpu_interval_us.unwrap_or(CPU_INTERVAL_US)),
        times,
    }))
}
