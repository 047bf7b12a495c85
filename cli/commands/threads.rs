//! `hprof threads`: what are the threads' stacks, and what do their frames keep alive?

use crate::answers::threads::threads;
use crate::files::heap_file::GraphArguments;
use crate::output::number::limit;
use crate::output::outcome::{Failure, Verdict};

/// Prints the stacks of threads, and what the locals of frames retain
///
/// A local variable retains what it alone keeps alive: objects that another frame or a field also
/// holds are not counted. A thread's JNI references count as locals.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof threads heap.hprof --top 5")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print at most N threads, largest retained size first; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    top: usize,
    /// Print at most N objects of each frame; 0 for all
    #[arg(long, value_name = "N", default_value_t = 5)]
    locals: usize,
    /// Print all frames, and an object below each that holds it; without this, frames of the JDK
    /// and of languages are folded, and an object stands below the outermost frame of the program
    #[arg(long)]
    full: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file and prints the threads.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let (loaded, verdict) = arguments.graph.load(2)?;
    loaded.file.done();
    let (most, locals) = (limit(arguments.top), limit(arguments.locals));
    let answer = threads(&loaded, most, locals, arguments.full);
    loaded.print(arguments.json, loaded.check(answer)?)?;
    Ok(verdict)
}
