//! The commands that ask one question of a heap: `leaks`, `show`, `threads`, `waste`.

use crate::answers::Question;
use crate::files::heap_file::GraphArguments;
use crate::output::outcome::{Failure, Verdict};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments<Q: clap::Args> {
    #[command(flatten)]
    graph: GraphArguments,
    #[command(flatten)]
    question: Q,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the heap and prints the answer.
pub(crate) fn run<Q: Question + clap::Args>(arguments: &Arguments<Q>) -> Result<Verdict, Failure> {
    arguments.question.check(&arguments.graph)?;
    let (loaded, verdict) = arguments.graph.load(Q::PASSES)?;
    let answer = arguments.question.answer(&loaded)?;
    loaded.print(arguments.json, answer)?;
    Ok(verdict)
}
