//! A question of a heap, and the command that asks it.

use std::io;

use super::jvm_name::jvm_name;
use crate::files::heap_file::{GraphArguments, Loaded};
use crate::output::{markdown, Failure, Sections, Verdict};

/// A question about a heap that is in memory. Its fields are the options of the command.
pub(crate) trait Question: clap::Args {
    /// Passes over the file, two of them for the graph.
    const PASSES: u64 = 2;

    /// Errors: it cannot be asked of this.
    fn check(&self, _: &GraphArguments) -> Result<(), Failure> {
        Ok(())
    }

    /// Errors: what is asked for is not there; the file cannot be read.
    fn answer<'a>(&self, loaded: &'a Loaded) -> Result<Sections<'a>, Failure>;
}

// Without a comment of its own, the help has the question's.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments<Q: Question> {
    #[command(flatten)]
    graph: GraphArguments,
    #[command(flatten)]
    question: Q,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print at most 40 lines of Markdown, to paste into a report
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

impl<Q: Question> Arguments<Q> {
    pub(super) fn run(&self) -> Result<Verdict, Failure> {
        self.question.check(&self.graph)?;
        let (loaded, verdict) = self.graph.load(Q::PASSES)?;
        let answer = self.question.answer(&loaded)?;
        if self.markdown {
            let jvm = loaded.check(jvm_name(&loaded.heap))?;
            let jvm = jvm.map_or_else(String::new, |jvm| format!("; the heap of {jvm}"));
            let origin = format!("hprof {}{jvm}", env!("CARGO_PKG_VERSION"));
            loaded.file.done();
            markdown::print(&mut io::stdout().lock(), &answer, &origin)?;
            return Ok(verdict);
        }
        loaded.print(self.json, answer)?;
        Ok(verdict)
    }
}
