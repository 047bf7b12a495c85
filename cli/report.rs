//! `hprof report`: one page that shows what keeps the memory.

mod classes;
pub(crate) mod page;
mod space;
mod stacks;
mod suspects;
mod threads;
mod treemap;

use std::io::{self, Write};
use std::path::PathBuf;

use graph::{GraphError, Heap, Leaks, Retained, THRESHOLD_PERCENT};
use serde_json::{json, Value};

use crate::date::date;
use crate::dump_file::DumpFile;
use crate::heap_file::{failure, with_heap, GraphArguments, Rule};
use crate::number::{grouped, in_units};
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;
use crate::sentence::Words;
use crate::target;

use space::Space;

/// Makes one HTML page that shows what keeps the memory
///
/// The page has the sentence of `hprof leaks`, a map of what keeps what alive, classes, threads, and, if the dump has
/// stacks, a flame graph of live bytes by allocating line. It is a single file of at most 2 MB for any heap. It loads
/// nothing from elsewhere. Of the heap's strings it only shows the names of threads.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  hprof report heap.hprof -o page.html    then open page.html in a browser"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Write to this file, replacing it unless it is a dump or a profile
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Reads the dump and writes the page.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    with_heap(&arguments.graph, |heap, retained, file| {
        let data = model(heap, retained, file, arguments.graph.references)
            .map_err(|fault| failure(file, &fault))?;
        let page = page::page(&data);
        let to = &arguments.output;
        target::write(to, file, |to| to.write_all(page.as_bytes()))?;
        let name = plain(&to.display().to_string());
        let (bytes, total) = (grouped(page.len() as u64), in_units(retained.total_bytes()));
        writeln!(io::stdout(), "{name}: {bytes} bytes, a heap of {total}")?;
        Ok(())
    })
}

/// The page's data for its script. [`Space`] bounds its size for any heap.
pub(crate) fn model(
    heap: &Heap<'_>,
    retained: &Retained,
    file: &DumpFile,
    rule: Rule,
) -> Result<Value, GraphError> {
    let leaks = Leaks::find(heap, retained, THRESHOLD_PERCENT)?;
    let words = Words::new(heap, &leaks)?;
    let mut space = Space::default();
    let suspects = suspects::in_json(heap, &leaks, &words, &mut space);
    let tree = treemap::Tree::of(heap, retained, &mut space, treemap::LIMITS);
    let classes = classes::in_json(heap, retained, &mut space);
    let stacks = stacks::in_json(heap, words.stacks(), &mut space);
    let threads = threads::in_json(heap, retained, words.stacks(), &mut space)?;
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
        "rule": rule.name(),
        "sizes": { "told": sizes.are_told, "reference": sizes.reference_bytes },
        "sentence": words.verdict(&leaks, THRESHOLD_PERCENT),
        "suspects": suspects,
        "tree": tree.in_json(),
        "classes": classes,
        "stacks": stacks,
        "threads": threads,
        "names": space.names(),
    }))
}
