//! `hprof report`: one page that shows what keeps the memory.

pub(crate) mod page;
mod space;
mod stacks;
mod treemap;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use graph::THRESHOLD_PERCENT;
use serde_json::{json, Value};

use crate::answers::ask::Question;
use crate::answers::diff::{diff, Sums};
use crate::answers::leaks::Leaks;
use crate::answers::threads::Threads;
use crate::answers::top::{top, By};
use crate::answers::waste::Waste;
use crate::commands::memory;
use crate::files::heap_file::{GraphArguments, Loaded};
use crate::files::input_file::{bare, STDIN};
use crate::files::target;
use crate::output::{grouped, in_units, plain, Failure, Verdict};
use crate::proc::process::{process_named, Process};

use space::Space;

/// Most rows of each answer, if the page has room for them.
const CLASSES_MAX: usize = 20_000;
const GROWTH_MAX: usize = 500;
const MEMORY_MAX: usize = 10;
const THREADS_MAX: usize = 2_000;
const WASTE_MAX: usize = 25;

/// What is held outside of the heap has a section if one row has this much.
const PAGE_BYTES: u64 = 4096;

/// Most objects of a frame, those that retain most.
const LOCALS_MAX: usize = 5;

/// Makes one HTML page that shows what keeps the memory
///
/// The page has the sentence of `hprof leaks`, a map of what keeps what alive, classes, threads,
/// waste, and, if the dump has stacks, a flame graph of live bytes by allocating line. It is a
/// single file of at most 2 MB for any heap and loads nothing from elsewhere. Of the heap's strings
/// it shows only the names of threads.
///
/// With two dumps, the page is about the later one and also shows what grew since the earlier one.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hprof report heap.hprof -o page.html    then open page.html in a browser\n  hprof report before.hprof after.hprof -o page.html"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// A later dump, or a process id: the page describes this one, and what grew since the first
    later: Option<PathBuf>,
    /// Write to this file, replacing it unless it is a dump or a profile [default: the dump's name
    /// with .html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Reads the dump and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let first = &arguments.graph;
    let last = arguments.later.as_ref().unwrap_or(&first.file);
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => page_of(last)?,
    };
    let Some(later) = &arguments.later else {
        return write(first, None, &output);
    };
    let (loaded, verdict) = first.load(2)?;
    loaded.file.done();
    let facts = json!({ "file": plain(&loaded.file.short_name()), "made": loaded.made() });
    let earlier = (facts, Sums::of(&loaded, false)?);
    // Two heaps might not fit into memory.
    drop(loaded);
    let later = GraphArguments {
        file: later.clone(),
        dump: None,
        ..first.clone()
    };
    Ok(write(&later, Some(earlier), &output)?.and(verdict == Verdict::Sound))
}

/// The page of a dump without another name: beside it, with another ending. Errors: standard input
/// has no name.
fn page_of(dump: &Path) -> Result<PathBuf, Failure> {
    if dump.as_os_str() == STDIN {
        let why = "standard input has no name: name a file for the page with -o";
        return Err(Failure::Input(why.to_owned()));
    }
    let mut name = OsStr::from_bytes(bare(dump.as_os_str().as_bytes())).to_owned();
    name.push(".html");
    Ok(name.into())
}

/// The facts about an earlier heap, and its sums.
type Earlier = (Value, Sums);

fn write(graph: &GraphArguments, earlier: Option<Earlier>, to: &Path) -> Result<Verdict, Failure> {
    let pid = process_named(&graph.file);
    // Held from before the question, so that it is the same process afterwards.
    let process = pid.and_then(|pid| Process::find(pid).ok());
    let passes = if pid.is_none() { 3 } else { 2 };
    let (loaded, verdict) = graph.load(passes)?;
    let data = model(&loaded, earlier, process.as_ref())?;
    loaded.file.done();
    let page = page::page(&data);
    target::write(to, &loaded.file, |to| Ok(to.write_all(page.as_bytes())?))?;
    let name = plain(&to.display().to_string());
    let bytes = grouped(page.len() as u64);
    let total = in_units(loaded.retained.total_bytes());
    writeln!(io::stdout(), "{name}: {bytes} bytes, a heap of {total}")?;
    Ok(verdict)
}

/// The page's data for its script: the answers of the commands, with what grew since an earlier
/// heap, with waste if the heap has values, and with the memory of the process that has it.
/// [`Space`] bounds its size for any heap. Errors: the file cannot be read.
pub(crate) fn model(
    loaded: &Loaded,
    earlier: Option<Earlier>,
    process: Option<&Process>,
) -> Result<Value, Failure> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let mut space = Space::default();
    let (threshold, full) = (THRESHOLD_PERCENT, false);
    let mut leaks = json!(Leaks { threshold, full }.answer(loaded)?);
    let mut taken = |key: &str| leaks.get_mut(key).map(Value::take).unwrap_or_default();
    let (sentence, suspects) = (taken("sentence"), taken("suspects"));
    let suspects = space.pack_json(suspects, 100_000);
    let tree = treemap::nodes(heap, retained, &mut space, treemap::LIMITS);
    let classes = space.pack(&top(loaded, By::Class, CLASSES_MAX)?, 450_000);
    let stacks = stacks::packed(loaded, &heap.stacks(), &mut space);
    let (top, locals) = (THREADS_MAX, LOCALS_MAX);
    let threads = Threads { top, locals, full }.answer(loaded)?;
    let threads = space.pack(&threads, 250_000);
    let (before, sums) = earlier.unzip();
    let mut growth = None;
    if let Some(sums) = sums {
        let grown = diff(sums, Sums::of(loaded, false)?, GROWTH_MAX);
        growth = Some(space.pack(&grown, 90_000));
    }
    let memory = space.pack_json(memory_of(loaded, process)?, 30_000);
    let mut lost = None;
    if loaded.file.has_values {
        let (top, strings) = (WASTE_MAX, false);
        let waste = Waste { top, strings }.answer(loaded)?;
        lost = Some(space.pack(&waste, 60_000));
    }
    let sizes = heap.sizes();
    Ok(json!({
        "answers": {
            "classes": classes,
            "growth": growth,
            "memory": memory,
            "stacks": stacks,
            "suspects": suspects,
            "threads": threads,
            "waste": lost,
        },
        "before": before,
        "file": plain(&loaded.file.short_name()),
        "made": loaded.made(),
        "version": env!("CARGO_PKG_VERSION"),
        "bytes": retained.total_bytes(),
        "objects": retained.reachable(),
        "unreachable": heap.objects().saturating_sub(retained.reachable()),
        "references": heap.references(),
        "damaged": heap.damaged(),
        "redacted": heap.redacted().map(plain),
        "rule": loaded.rule.name(),
        "sizes": { "told": sizes.are_told, "reference": sizes.reference_bytes },
        "sentence": sentence,
        "tree": treemap::in_json(&tree),
        "names": space.names,
    }))
}

/// The memory of the process, and what objects hold outside of the heap; null if it has nothing but
/// the heap. Errors: the file cannot be read.
fn memory_of(loaded: &Loaded, process: Option<&Process>) -> Result<Value, Failure> {
    let of = |process| memory::answer(&loaded.file, &loaded.heap, process, MEMORY_MAX);
    // The process may have ended meanwhile.
    let answer = json!(of(process).or_else(|_| of(None))?);
    let holders = answer.get("holders").and_then(Value::as_array);
    // The JVM's own counters have buffers of 8 bytes; of a handle, the bytes are not known.
    let is_much = |row: &Value| {
        let bytes = row.get("bytes").and_then(Value::as_u64);
        bytes.is_some_and(|bytes| bytes == 0 || bytes >= PAGE_BYTES)
    };
    let process = answer.get("process");
    let has_process = process.is_some_and(|process| !process.is_null());
    Ok(
        match has_process || holders.is_some_and(|rows| rows.iter().any(is_much)) {
            true => answer,
            false => Value::Null,
        },
    )
}
