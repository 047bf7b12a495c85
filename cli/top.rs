//! `hprof top`: which objects, classes, packages, loaders, threads or lines of code retain most?

use std::io::{self, BufWriter, Write};

use crate::answer::top::{stream_objects, By, TopAnswer};
use crate::heap_file::GraphArguments;
use crate::index::{self, Index};
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
    /// Neither read nor write the index beside the dump
    #[arg(long)]
    no_index: bool,
}

impl Arguments {
    /// An index's answer; `None` if it has too few rows.
    fn kept(&self, index: &Index) -> Option<TopAnswer> {
        let has_rows = (1..=index::ROWS).contains(&self.top);
        let answer = index
            .answer(self.by.question(), &self.graph)
            .filter(|_| has_rows)?;
        TopAnswer::kept(answer, self.by, self.top)
    }

    fn print(&self, answer: &TopAnswer, pause_ms: Option<u64>) -> io::Result<()> {
        to_stdout(|to| match self.json {
            true => answer.print_json(pause_ms, to),
            false => answer.print(to),
        })
    }
}

/// Reads the file and prints the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    index::answered(
        &arguments.graph,
        !arguments.no_index && arguments.by != By::Loader,
        |index| arguments.kept(index),
        |answer| arguments.print(answer, None),
        |loaded| {
            let most = limit(arguments.top);
            if arguments.json && arguments.by == By::Object {
                let mut to = BufWriter::new(io::stdout().lock());
                stream_objects(loaded, most, &mut to)?;
                to.flush()?;
            } else {
                let answer = TopAnswer::of(loaded, arguments.by, most)?;
                arguments.print(&answer, loaded.file.pause_millis())?;
            }
            Ok(None)
        },
    )
}
