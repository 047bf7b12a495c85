//! `hprof leaks`: what keeps the memory?

use graph::THRESHOLD_PERCENT;

use crate::answers::leaks::leaks;
use crate::files::heap_file::GraphArguments;
use crate::output::outcome::{Failure, Verdict};

/// Says in a sentence what keeps the memory, then shows each suspect
///
/// A suspect is an object that no other one dominates and that retains more than a given share of
/// the heap, or a class whose objects do so together. From the suspect, the search descends to the
/// point where its memory spreads. Retained sizes are exact. Sizes of objects are those of the JVM
/// if it has told them, else by Eclipse MAT's rules, as are suspects.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof leaks heap.hprof")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Least share of the heap for a suspect, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = THRESHOLD_PERCENT, value_parser = clap::value_parser!(u64).range(1..=100))]
    threshold: u64,
    /// Print all frames of stacks; without this, those of the JDK and of languages are folded
    #[arg(long)]
    full: bool,
}

/// Reads the file and prints the suspects.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (loaded, verdict) = arguments.graph.load(2)?;
    loaded.file.done();
    let answer = loaded.check(leaks(&loaded, arguments.threshold, arguments.full))?;
    loaded.print(arguments.json, answer)?;
    Ok(verdict)
}
