//! `hprof histo`: how many objects of each class, how large, and what do they retain?

use reader::Histogram;

use crate::answers::histo::{histogram, of_heap, of_jvm, of_objects};
use crate::answers::top::{top, By};
use crate::attach::live::counts_of;
use crate::files::heap_file::{GraphArguments, SizesOf};
use crate::files::input_file::InputFile;
use crate::output::{limit, print, Failure, Verdict};
use crate::proc::process::process_named;

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
    let (loaded, verdict) = arguments.graph.load(2)?;
    let answer = top(&loaded, by, limit(arguments.top.unwrap_or(TOP)))?;
    loaded.print(arguments.json, answer)?;
    Ok(verdict)
}

fn by_shallow(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (graph, top) = (&arguments.graph, limit(arguments.top.unwrap_or(0)));
    if arguments.unreachable {
        graph.check_is_file()?;
    }
    if arguments.unreachable || graph.sizes == SizesOf::Mat {
        let (loaded, verdict) = graph.load(2)?;
        let heap = &loaded.heap;
        let found = match arguments.unreachable {
            true => of_objects(heap, loaded.retained.unreachable_objects(heap)),
            false => of_heap(heap),
        };
        loaded.print(arguments.json, histogram(found, top))?;
        return Ok(verdict);
    }
    if let Some(pid) = process_named(&graph.file) {
        let (classes, pause_ms) = counts_of(pid, graph.agent.as_deref())?;
        let mut answer = of_jvm(classes, top);
        answer.maybe("pause_ms", pause_ms);
        print(arguments.json, answer)?;
        return Ok(Verdict::Sound);
    }
    let file = InputFile::new(&graph.file)?.only(graph.dump)?;
    let found = Histogram::read(&mut file.reader()?);
    let found = found.map_err(|fault| file.failure(&fault))?;
    file.done();
    // The warning comes before the answer.
    let verdict = file.verdict(found.damaged);
    print(arguments.json, histogram(found, top))?;
    Ok(verdict)
}
