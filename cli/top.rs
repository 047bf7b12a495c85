//! `hprof top`: which objects, classes, packages, loaders, threads or lines of code retain most?

use crate::answer::top::{stream_objects, By, TopAnswer};
use crate::heap_file::{with_loaded, GraphArguments};
use crate::json;
use crate::number::limit;
use crate::outcome::{Failure, Verdict};
use crate::stdout::to_stdout;

/// Lists what retains the most memory
///
/// `retained` is what would be freed with an object: its own bytes and those of all objects that it
/// alone keeps alive. It is exact. A class, package or loader retains at least the sum of what its
/// objects retain, with each byte counted once. A thread retains what its frames and fields alone
/// keep alive. Unreachable objects are left out. A site retains what its objects do, except those
/// that another object of their class dominates. If the profiler sampled, this is an estimate, and
/// `error` is its standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof top heap.hprof --by class --top 20")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// What to list
    #[arg(long, value_enum, default_value_t = By::Object)]
    by: By,
    /// Print at most N rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 30)]
    top: usize,
}

/// Reads the file and prints the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (by, most) = (arguments.by, limit(arguments.top));
    with_loaded(&arguments.graph, 2, |loaded| {
        loaded.file.done();
        if arguments.json && by == By::Object {
            return Ok(to_stdout(|to| stream_objects(loaded, most, to))?);
        }
        let answer = TopAnswer::of(loaded, by, most)?;
        let pause_ms = loaded.file.pause_millis();
        Ok(to_stdout(|to| match arguments.json {
            true => json::print_answer(answer.in_json(), pause_ms, to),
            false => answer.print(to),
        })?)
    })
}
