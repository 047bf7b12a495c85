//! `hprof mcp`: a server that answers a model's questions about one heap.

mod brief;
mod protocol;
mod tools;

use std::io::{self, BufReader, Write};
use std::path::PathBuf;

use crate::attach::protocol::Jvm;
use crate::files::heap_file::GraphArguments;
use crate::files::input_file::InputFile;
use crate::output::{Failure, Verdict};
use crate::proc::process::process_named;

use tools::HeapTools;

/// Answers a model's questions about one heap
///
/// This is a server of the Model Context Protocol on standard input and output.
/// A client of the protocol starts the command and asks it. The tools are overview, leaks, top,
/// histo, show, threads, memory and waste; for a running JVM also refresh. The first question reads
/// the heap, which stays in memory. An answer has at most 8 kB and counts what it leaves out.
///
/// The model sees no strings of the heap without `--strings`, and the command writes nothing
/// without `--allow-dump`. It ends with its input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, as a client starts them:
  hprof mcp heap.hprof
  hprof mcp 4711 --allow-dump /var/tmp")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Show strings and values of primitive arrays, which may be secret, cut to 200 bytes
    #[arg(long)]
    strings: bool,
    /// Let the model make the running JVM write dumps into this folder, under new names
    #[arg(long, value_name = "FOLDER")]
    allow_dump: Option<PathBuf>,
}

/// Answers until the input ends.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    check(arguments)?;
    let dumps = arguments.allow_dump.as_deref();
    let mut tools = HeapTools::new(&arguments.graph, arguments.strings, dumps);
    let mut from = BufReader::new(io::stdin().lock());
    let mut to = io::stdout().lock();
    while let Some(line) = protocol::next_line(&mut from)? {
        if let Some(answer) = protocol::answer(&line, &mut tools) {
            writeln!(to, "{answer}")?;
            to.flush()?;
        }
    }
    Ok(Verdict::Sound)
}

/// Whether there will be answers: a client shows its user what the command says before it ends.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    let file = &arguments.graph.file;
    if file.as_os_str() == "-" {
        return Err(Failure::Input(
            "standard input is for the protocol: name a file or a process id".to_owned(),
        ));
    }
    let pid = process_named(file);
    if arguments.allow_dump.is_some() && pid.is_none() {
        return Err(Failure::Input(
            "--allow-dump is for a running JVM: name its process id".to_owned(),
        ));
    }
    match pid {
        Some(pid) => Jvm::find(pid).map(drop).map_err(Failure::Input),
        None => InputFile::new(file)?.reader().map(drop),
    }
}
