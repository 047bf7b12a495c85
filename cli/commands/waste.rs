//! `hprof waste`: which memory holds nothing new?

use crate::answers::waste::waste;
use crate::files::heap_file::{only_a_file, GraphArguments};
use crate::output::number::limit;
use crate::output::outcome::{Failure, Verdict};

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
    let (loaded, verdict) = arguments.graph.load(3)?;
    let answer = waste(&loaded, limit(arguments.top), arguments.strings);
    loaded.print(arguments.json, loaded.check(answer)?)?;
    Ok(verdict)
}
