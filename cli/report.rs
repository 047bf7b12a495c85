//! `hprof report`: one page that shows what keeps the memory.

mod classes;
mod growth;
mod memory;
pub(crate) mod page;
mod space;
mod stacks;
mod suspects;
mod threads;
mod treemap;
mod waste;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use graph::{Leaks, Waste, THRESHOLD_PERCENT};
use serde_json::{json, Value};

use crate::date::date;
use crate::dump_file::STDIN;
use crate::heap_file::{failure, with_loaded, GraphArguments, Loaded};
use crate::number::{grouped, in_units};
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;
use crate::process::{process_named, Process};
use crate::sentence::Words;
use crate::target;

use growth::{Earlier, Growth};
use space::Space;

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
    let mut earlier = None;
    let verdict = with_loaded(first, 2, |loaded| {
        earlier = Some(Earlier::of(loaded)?);
        loaded.file.done();
        Ok(())
    })?;
    let later = GraphArguments {
        file: later.clone(),
        references: first.references,
        sizes: first.sizes,
        dump: None,
        agent: first.agent.clone(),
    };
    match write(&later, earlier, &output)? {
        Verdict::Sound => Ok(verdict),
        faulty => Ok(faulty),
    }
}

/// The page of a dump without another name: beside it, with another ending. Errors: standard input
/// has no name.
fn page_of(dump: &Path) -> Result<PathBuf, Failure> {
    if dump.as_os_str() == STDIN {
        let why = "standard input has no name: name a file for the page with -o";
        return Err(Failure::Input(why.to_owned()));
    }
    let is_packed = dump.extension().is_some_and(|ending| ending == "gz");
    let plain = if is_packed {
        dump.with_extension("")
    } else {
        dump.to_owned()
    };
    let is_dump = plain.extension().is_some_and(|ending| ending == "hprof");
    let mut name = if is_dump {
        plain.with_extension("")
    } else {
        plain
    }
    .into_os_string();
    name.push(".html");
    Ok(name.into())
}

fn write(graph: &GraphArguments, earlier: Option<Earlier>, to: &Path) -> Result<Verdict, Failure> {
    let pid = process_named(&graph.file);
    let has_values = pid.is_none();
    // Held from before the question, so that it is the same process afterwards.
    let process = pid.and_then(|pid| Process::find(pid).ok());
    let passes = if has_values { 3 } else { 2 };
    with_loaded(graph, passes, |loaded| {
        let file = &loaded.file;
        let growth = earlier.map(|earlier| earlier.until(loaded)).transpose()?;
        let data = model(loaded, growth.as_ref(), has_values, process.as_ref())?;
        file.done();
        let page = page::page(&data);
        target::write(to, file, |to| to.write_all(page.as_bytes()))?;
        let name = plain(&to.display().to_string());
        let (bytes, total) = (
            grouped(page.len() as u64),
            in_units(loaded.retained.total_bytes()),
        );
        writeln!(io::stdout(), "{name}: {bytes} bytes, a heap of {total}")?;
        Ok(())
    })
}

/// The page's data for its script, with what grew since an earlier heap, with waste if the heap has
/// values, and with the memory of the process that has it. [`Space`] bounds its size for any heap.
/// Errors: the file cannot be read.
pub(crate) fn model(
    loaded: &Loaded<'_>,
    growth: Option<&Growth>,
    has_values: bool,
    process: Option<&Process>,
) -> Result<Value, Failure> {
    let Loaded {
        file,
        heap,
        retained,
        rule,
    } = loaded;
    let failed = |fault| failure(file, &fault);
    let memory = memory::in_json(loaded, process)?;
    let leaks = Leaks::find(heap, retained, THRESHOLD_PERCENT).map_err(failed)?;
    let words = Words::of_leaks(heap, &leaks).map_err(failed)?;
    let mut space = Space::default();
    let suspects = suspects::in_json(heap, &leaks, &words, &mut space);
    let tree = treemap::Tree::of(heap, retained, &mut space, treemap::LIMITS);
    let classes = classes::in_json(heap, retained, &mut space);
    let stacks = stacks::in_json((heap, retained), words.stacks(), &mut space);
    let threads = threads::in_json(heap, retained, words.stacks(), &mut space).map_err(failed)?;
    let growth = growth.map(|growth| growth.in_json(&mut space));
    let waste = if has_values {
        let waste = Waste::find(heap, retained).map_err(failed)?;
        Some(waste::in_json(heap, &waste, &mut space))
    } else {
        None
    };
    let header = heap.header();
    let sizes = heap.sizes();
    Ok(json!({
        "file": plain(&file.short_name()),
        "made": (header.time_millis != 0).then(|| date(header.time_millis)),
        "version": env!("CARGO_PKG_VERSION"),
        "bytes": retained.total_bytes(),
        "objects": retained.reachable(),
        "unreachable": heap.objects().saturating_sub(retained.reachable()),
        "references": heap.references(),
        "damaged": heap.damaged(),
        "redacted": heap.redacted().map(plain),
        "rule": rule.name(),
        "sizes": { "told": sizes.are_told, "reference": sizes.reference_bytes },
        "sentence": words.verdict(&leaks, THRESHOLD_PERCENT),
        "suspects": suspects,
        "tree": tree.in_json(),
        "classes": classes,
        "stacks": stacks,
        "threads": threads,
        "growth": growth,
        "memory": memory,
        "waste": waste,
        "names": space.names(),
    }))
}
