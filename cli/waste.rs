//! `hprof waste`: which memory holds nothing new?

use graph::{GraphError, Waste};
use serde_json::{json, Value};

use crate::answer::waste::WasteAnswer;
use crate::heap_file::{failure, only_a_file, with_loaded, GraphArguments, Loaded};
use crate::number::limit;
use crate::outcome::{Failure, Verdict};
use crate::stdout::print_answer;

/// Lists memory that holds nothing new: equal strings, empty collections
///
/// Strings and arrays of primitive values that have equal contents: all but one of them are lost.
/// Collections of the JDK that are empty or have one element: they are lost with the arrays that
/// only they hold. Collections that use less than a quarter of their array: the empty places are
/// lost. Boxed numbers, characters and truth values: all of them are lost. No byte counts twice,
/// and objects that no root leads to are left out.
///
/// A collection or a boxed number that several fields hold counts for the first of them in the
/// file.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  hprof waste heap.hprof --top 20",
    mut_arg("file", only_a_file),
    mut_arg("agent", |it| it.hide(true))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print at most N rows of each table; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print the texts of strings, which may be secret, cut to 200 bytes
    #[arg(long)]
    strings: bool,
}

/// Reads the file and prints what is wasted.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    arguments.graph.check_is_file()?;
    with_loaded(&arguments.graph, 3, |loaded| {
        let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
        let failed = |fault| failure(file, &fault);
        let waste = Waste::find(heap, retained).map_err(failed)?;
        file.done();
        let most = limit(arguments.top);
        let answer = WasteAnswer::of((heap, retained), waste, most, arguments.strings);
        let answer = answer.map_err(failed)?;
        Ok(print_answer(arguments.json, &answer, |to| {
            answer.print(to)
        })?)
    })
}

/// What `--json` prints, for a heap of a file that is in memory. Errors: the file cannot be read.
pub(crate) fn answer(
    loaded: &Loaded<'_>,
    most: usize,
    with_texts: bool,
) -> Result<Value, GraphError> {
    let both = (&loaded.heap, &loaded.retained);
    let waste = Waste::find(both.0, both.1)?;
    let answer = WasteAnswer::of(both, waste, most, with_texts)?;
    Ok(json!(answer))
}
