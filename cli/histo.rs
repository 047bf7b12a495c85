//! `hprof histo`: how many objects of each class, and how large?

use std::path::PathBuf;

use graph::Heap;
use reader::Histogram;
use serde_json::Value;

use crate::answer::histo::{of_heap, of_objects, HistoAnswer};
use crate::dump_file::DumpFile;
use crate::heap_file::{GraphArguments, Loaded, Rule, SizesOf};
use crate::live::counts_of;
use crate::number::limit;
use crate::outcome::{Failure, Verdict};
use crate::process::process_named;
use crate::stdout::print_answer;

/// Lists classes with the number and size of their objects
///
/// The class with the most bytes is first.
/// `bytes` is the memory of the objects themselves. HPROF has no sizes; dumps by this agent add
/// those of the JVM, and for others the rules of Eclipse MAT apply. `java.lang.Class` counts every
/// dumped class with its static fields.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof histo --top 30 heap.hprof")]
pub(crate) struct Arguments {
    /// The dump, plain or gzip; - for standard input; or the process id of a running JVM
    file: PathBuf,
    /// Which heap dump of a file with several, from 1 [default: the last]
    #[arg(long, value_name = "N")]
    dump: Option<usize>,
    /// The agent's library, for a running JVM [default: libhprof_rs.so beside this command]
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// Count only the objects that no root leads to
    #[arg(long)]
    unreachable: bool,
    /// Print at most N classes; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file, or asks the JVM, and prints the classes.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let top = limit(arguments.top);
    let (file, histogram) = match process_named(&arguments.file) {
        _ if arguments.unreachable => unreachable(arguments)?,
        Some(pid) => {
            let counts = counts_of(pid, arguments.agent.as_deref())?;
            let answer = HistoAnswer::of_jvm(counts.classes, top, counts.pause_ms);
            arguments.print(&answer)?;
            return Ok(Verdict::Sound);
        }
        None => {
            let file = DumpFile::of_one(&arguments.file, arguments.dump)?;
            let histogram = Histogram::read(&mut file.reader()?);
            let histogram = histogram.map_err(|fault| file.failure(&fault))?;
            (file, histogram)
        }
    };
    file.done();
    let damaged = histogram.damaged;
    // The warning comes before the answer.
    let verdict = file.verdict(damaged);
    arguments.print(&HistoAnswer::of(histogram, top, file.pause_millis()))?;
    Ok(verdict)
}

impl Arguments {
    fn print(&self, answer: &HistoAnswer) -> Result<(), Failure> {
        Ok(print_answer(self.json, answer, |to| answer.print(to))?)
    }
}

/// The classes of what no root leads to.
fn unreachable(arguments: &Arguments) -> Result<(DumpFile, Histogram), Failure> {
    let graph = GraphArguments {
        file: arguments.file.clone(),
        references: Rule::All,
        sizes: SizesOf::Jvm,
        dump: arguments.dump,
        agent: arguments.agent.clone(),
    };
    graph.check_is_file()?;
    let file = graph.open()?;
    let note = file.progress(2);
    let Loaded {
        file,
        heap,
        retained,
        ..
    } = Loaded::read(file, &graph, &note)?;
    let histogram = of_objects(&heap, retained.unreachable_objects(&heap));
    Ok((file, histogram))
}

/// What `--json` prints, for a heap that is in memory. The sizes are those of `hprof top`.
pub(crate) fn answer(heap: &Heap<'_>, top: usize) -> serde_json::Result<Value> {
    serde_json::to_value(HistoAnswer::of(of_heap(heap), top, None))
}
