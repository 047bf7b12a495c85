//! `hprof memory`: what is the memory of a JVM, and which objects hold what is outside of its heap?

use std::path::PathBuf;

use format::AreaKind;
use graph::{Heap, NativeMemory};

use crate::answers::memory::{memory, ProcessFacts};
use crate::files::heap_file::{failure, heap, opened, SizesOf};
use crate::files::input_file::{InputFile, STDIN};
use crate::output::{limit, print, Failure, Sections, Verdict};
use crate::proc::malloc_marks::MallocMarks;
use crate::proc::pagemap::Pagemap;
use crate::proc::process::{process_named, Process};
use crate::proc::reach::{told, value};
use crate::proc::resident::{unknown, Resident};
use crate::proc::smaps::Mapping;

/// Divides all memory of a JVM by use, also what is outside of the heap
///
/// For a process id: the resident memory by use (heap, buffers, stacks, metadata, malloc and so
/// on). For it and for a dump: direct buffers, mapped files, arenas of the foreign memory API, zip
/// streams that were not ended, and objects with a native handle, by the path that holds them.
/// Slices and other views of a buffer do not count. Sizes of zip streams are estimates.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof memory 4711")]
pub(crate) struct Arguments {
    /// The process id of a running JVM; or a dump, uncompressed or gzip; - for standard input
    file: PathBuf,
    /// Print at most N rows of each table; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Which heap dump of a file with several, from 1 [default: the last]
    #[arg(long, value_name = "N")]
    dump: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The agent's library, for a running JVM [default: libhprof_rs.so beside this command]
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
}

/// Reads the process or the file, and prints its memory.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let pid = process_named(&arguments.file);
    // Held from before the question, so that it is the same process afterwards.
    let process = pid.map(Process::find).transpose();
    let mut process = process.map_err(Failure::Input)?;
    let file = opened(&arguments.file, arguments.dump, arguments.agent.as_deref())?;
    let note = file.progress(2);
    let heap = heap(&file, SizesOf::Jvm, &note)?;
    if arguments.file.as_os_str() == STDIN {
        process = sender(&heap);
    }
    let mut answer = answer(&file, &heap, process.as_ref(), limit(arguments.top))?;
    answer.maybe("pause_ms", file.pause_millis);
    file.done();
    // The warning comes before the answer.
    let verdict = file.verdict(heap.damaged());
    print(arguments.json, answer)?;
    Ok(verdict)
}

/// The memory of a heap, and of the process that has it. Errors: the file cannot be read; the
/// process has ended, or the system hides it.
pub(crate) fn answer<'a>(
    file: &InputFile,
    heap: &'a Heap<'_>,
    process: Option<&Process>,
    most: usize,
) -> Result<Sections<'a>, Failure> {
    let failed = |fault| failure(file, &fault);
    let native = NativeMemory::find(heap).map_err(failed)?;
    let facts = process.map(|process| facts(process, heap, &native));
    memory(heap, &native, facts.transpose()?.as_ref(), most).map_err(failed)
}

/// The process that sends its own heap, as the agent's `do=memory` does: the heap is there.
fn sender(heap: &Heap<'_>) -> Option<Process> {
    let facts = heap.directory().strings.facts();
    let process = Process::find(facts.words.get("pid")?.parse().ok()?).ok()?;
    let mut areas = facts.areas.iter();
    let heap = areas.find(|area| area.kind == AreaKind::Heap)?;
    let mappings = Mapping::all(&process.text("maps").ok()?);
    let mut mappings = mappings.iter();
    let is_there = mappings.any(|mapping| mapping.range.contains(&heap.range.start));
    is_there.then_some(process)
}

/// What the system tells of the process. Errors: it has ended, or the system hides it.
fn facts(
    process: &Process,
    heap: &Heap<'_>,
    memory: &NativeMemory,
) -> Result<ProcessFacts, Failure> {
    let read = |name: &str| {
        let text = process.text(name);
        text.map_err(|error| Failure::Input(told(process, &error)))
    };
    let mappings = Mapping::all(&read("smaps")?);
    let areas = &heap.directory().strings.facts().areas;
    let pages = process.open("pagemap").map(Pagemap::new).ok();
    let malloc = pages.as_ref().and_then(|pages| {
        let marks = MallocMarks::of(process, pages)?;
        marks.find(unknown(&mappings, areas).into_iter())
    });
    let resident = Resident::of(&mappings, areas, &memory.blocks, malloc.as_ref(), |range| {
        pages.as_ref()?.resident_bytes(range)
    });
    let status = read("status")?;
    // What was read of memory that went meanwhile is not all.
    read("maps")?;
    let threads = value(&status, "Threads").and_then(|count| count.trim().parse().ok());
    Ok(ProcessFacts {
        resident,
        threads: threads.unwrap_or(0),
    })
}
