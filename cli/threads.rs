//! `hprof threads`: what are the threads' stacks, and what do their frames keep alive?

use crate::answer::threads::ThreadsAnswer;
use crate::heap_file::{failure, with_loaded, GraphArguments};
use crate::json;
use crate::number::limit;
use crate::outcome::{Failure, Verdict};
use crate::stdout::to_stdout;

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
    with_loaded(&arguments.graph, 2, |loaded| {
        let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
        file.done();
        let (most, locals) = (limit(arguments.top), limit(arguments.locals));
        let answer = ThreadsAnswer::of((heap, retained), most, locals);
        let answer = answer.map_err(|fault| failure(file, &fault))?;
        Ok(to_stdout(|to| match arguments.json {
            true => json::print_answer(answer.in_json(), file.pause_millis(), to),
            false => answer.print(arguments.full, to),
        })?)
    })
}
