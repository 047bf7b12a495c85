//! `hprof histo`: how many objects of each class, how large, and what do they retain?

use graph::Heap;
use reader::Histogram;
use serde_json::Value;

use crate::answer::histo::{of_heap, of_objects, HistoAnswer};
use crate::answer::top::{stream_objects, By, TopAnswer};
use crate::dump_file::DumpFile;
use crate::heap_file::{with_loaded, GraphArguments, SizesOf};
use crate::json;
use crate::live::counts_of;
use crate::number::limit;
use crate::outcome::{Failure, Verdict};
use crate::process::process_named;
use crate::stdout::{print_answer, to_stdout};

/// Rows by retained size without `--top`.
const TOP: usize = 30;

/// Lists classes by size, or what retains most of the heap
///
/// `bytes` is the memory of the objects themselves. HPROF has no sizes; dumps by this agent add
/// those of the JVM, and for others the rules of Eclipse MAT apply. `java.lang.Class` counts every
/// dumped class with its static fields.
///
/// `retained` is what would be freed with an object: its own bytes and those of all objects that it
/// alone keeps alive. It is exact. A class, package or loader retains at least the sum of what its
/// objects retain, with each byte counted once. A thread retains what its frames and fields alone
/// keep alive. Unreachable objects are left out. A site retains what its objects do, except those
/// that another object of their class dominates. If the profiler sampled, this is an estimate, and
/// `error` is its standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hprof histo --top 30 heap.hprof
  hprof histo --retained heap.hprof
  hprof histo --by package heap.hprof")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// List the classes by what their objects retain
    #[arg(long)]
    retained: bool,
    /// List single objects by what they retain, dominated ones after their dominators
    #[arg(long, conflicts_with_all = ["retained", "by"])]
    objects: bool,
    /// List these by what they retain
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,
    /// Count only the objects that no root leads to
    #[arg(long, conflicts_with_all = ["retained", "objects", "by"])]
    unreachable: bool,
    /// Print at most N rows; 0 for all [default: all; 30 by retained size]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file, or asks the JVM, and prints the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    match arguments.by {
        Some(by) => by_retained(arguments, by),
        None if arguments.objects => by_retained(arguments, By::Object),
        None if arguments.retained => by_retained(arguments, By::Class),
        None => by_shallow(arguments),
    }
}

fn by_retained(arguments: &Arguments, by: By) -> Result<Verdict, Failure> {
    let most = limit(arguments.top.unwrap_or(TOP));
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

fn by_shallow(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (graph, top) = (&arguments.graph, limit(arguments.top.unwrap_or(0)));
    if arguments.unreachable {
        graph.check_is_file()?;
    }
    if arguments.unreachable || graph.sizes == SizesOf::Mat {
        return with_loaded(graph, 2, |loaded| {
            let (heap, file) = (&loaded.heap, &loaded.file);
            file.done();
            let histogram = match arguments.unreachable {
                true => of_objects(heap, loaded.retained.unreachable_objects(heap)),
                false => of_heap(heap),
            };
            arguments.print(&HistoAnswer::of(histogram, top, file.pause_millis()))
        });
    }
    if let Some(pid) = process_named(&graph.file) {
        let counts = counts_of(pid, graph.agent.as_deref())?;
        arguments.print(&HistoAnswer::of_jvm(counts.classes, top, counts.pause_ms))?;
        return Ok(Verdict::Sound);
    }
    let file = DumpFile::of_one(&graph.file, graph.dump)?;
    let histogram = Histogram::read(&mut file.reader()?);
    let histogram = histogram.map_err(|fault| file.failure(&fault))?;
    file.done();
    // The warning comes before the answer.
    let verdict = file.verdict(histogram.damaged);
    arguments.print(&HistoAnswer::of(histogram, top, None))?;
    Ok(verdict)
}

impl Arguments {
    fn print(&self, answer: &HistoAnswer) -> Result<(), Failure> {
        Ok(print_answer(self.json, answer, |to| answer.print(to))?)
    }
}

/// What `--json` prints, for a heap that is in memory.
pub(crate) fn answer(heap: &Heap<'_>, top: usize) -> serde_json::Result<Value> {
    serde_json::to_value(HistoAnswer::of(of_heap(heap), top, None))
}
