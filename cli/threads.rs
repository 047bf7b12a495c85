//! `hprof threads`: what are the threads' stacks, and what do their frames keep alive?

use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};

use graph::{GraphError, Heap, Local, Retained};
use reader::{RootKind, StackFrame, Stacks};
use serde_json::{json, Value};

use crate::frame;
use crate::heap_file::{failure, with_heap, GraphArguments, Loaded};
use crate::json;
use crate::leaks::described;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};
use crate::plain::{plain, shown};

/// Prints the threads with their stacks, and what the local variables of each frame retain
///
/// A local variable retains what it alone keeps alive: objects that another frame or a field also holds are not
/// counted. A thread's JNI references count as locals.
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One thread.
pub(crate) struct Thread<'h> {
    pub(crate) object: u32,
    pub(crate) name: Option<String>,
    frames: Vec<&'h StackFrame>,
    /// The objects that the thread holds, most retained bytes first.
    pub(crate) locals: Vec<Local>,
}

/// Reads the file and prints the threads.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    with_heap(&arguments.graph, |heap, retained, file| {
        let all = |most| if most == 0 { usize::MAX } else { most };
        let (most, locals) = (all(arguments.top), all(arguments.locals));
        let stacks = heap.stacks();
        let found = threads((heap, retained), &stacks, most);
        let (threads, left_out) = found.map_err(|fault| failure(file, &fault))?;
        let mut to = BufWriter::new(io::stdout().lock());
        if arguments.json {
            let answer = in_json((heap, retained), &threads, locals, left_out);
            json::print(&file.with_pause(answer), &mut to)?;
        } else {
            for thread in &threads {
                print(heap, retained, thread, locals, &mut to)?;
            }
        }
        Ok(to.flush()?)
    })
}

/// What `--json` prints, for a heap that is in memory: `most` threads, and `locals` objects of a frame. Errors: the file
/// cannot be read.
pub(crate) fn answer(loaded: &Loaded<'_>, most: usize, locals: usize) -> Result<Value, GraphError> {
    let both = (&loaded.heap, &loaded.retained);
    let stacks = loaded.heap.stacks();
    let (threads, left_out) = threads(both, &stacks, most)?;
    Ok(in_json(both, &threads, locals, left_out))
}

/// The threads that retain most, and how many more there are. Errors: the file cannot be read.
pub(crate) fn threads<'s>(
    (heap, retained): (&Heap<'_>, &Retained),
    stacks: &'s Stacks,
    most: usize,
) -> Result<(Vec<Thread<'s>>, usize), GraphError> {
    let mut objects: Vec<u32> = heap.threads().map(|(_, object)| object).collect();
    objects.sort_by_key(|object| (Reverse(retained.bytes(*object)), *object));
    objects.dedup();
    let left_out = objects.len().saturating_sub(most);
    objects.truncate(most);
    let mut names = heap.thread_names(&objects)?;
    let threads = objects.into_iter().map(|object| {
        let name = names.remove(&object);
        thread(heap, retained, stacks, (object, name))
    });
    Ok((threads.collect(), left_out))
}

fn thread<'s>(
    heap: &Heap<'_>,
    retained: &Retained,
    stacks: &'s Stacks,
    (object, name): (u32, Option<String>),
) -> Thread<'s> {
    let mut locals = heap.locals(object).to_vec();
    locals.sort_by_key(|local| {
        (
            Reverse(retained.bytes(local.object)),
            local.object,
            local.frame,
        )
    });
    // A frame may hold an object through several variables.
    locals.dedup_by_key(|local| (local.object, local.frame));
    let trace = heap.thread_trace(object).unwrap_or_default();
    Thread {
        object,
        name,
        frames: stacks.frames(trace).collect(),
        locals,
    }
}

impl Thread<'_> {
    /// The objects held by a frame. `None` also returns those of frames that are not in the stack.
    fn locals_of(&self, frame: Option<usize>) -> impl Iterator<Item = &Local> {
        let depth = self.frames.len();
        self.locals.iter().filter(move |local| {
            let of = local.frame.and_then(|frame| usize::try_from(frame).ok());
            of.filter(|of| *of < depth) == frame
        })
    }
}

fn print(
    heap: &Heap<'_>,
    retained: &Retained,
    thread: &Thread<'_>,
    most: usize,
    to: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        to,
        "\"{}\" {} {:#x} retains {}",
        plain(&shown(thread.name.as_deref().unwrap_or("?"))),
        plain(&shown(&described(heap, thread.object))),
        heap.id(thread.object),
        counted(retained.bytes(thread.object), "byte")
    )?;
    let places = (0..thread.frames.len()).map(Some).chain([None]);
    for place in places {
        if let Some(frame) = place.and_then(|place| thread.frames.get(place)) {
            writeln!(to, "    at {}", plain(&frame::line(frame)))?;
        }
        for local in thread.locals_of(place).take(most) {
            let kind = match local.kind {
                RootKind::JavaFrame => "holds",
                _ => "holds by JNI",
            };
            writeln!(
                to,
                "        {kind} {} {:#x}, which retains {}",
                plain(&shown(&described(heap, local.object))),
                heap.id(local.object),
                grouped(retained.bytes(local.object))
            )?;
        }
    }
    writeln!(to)
}

fn in_json(
    both: (&Heap<'_>, &Retained),
    threads: &[Thread<'_>],
    locals: usize,
    left_out: usize,
) -> Value {
    let rows = threads
        .iter()
        .map(|thread| thread_in_json(both, thread, locals));
    json!({ "left_out": left_out, "threads": rows.collect::<Vec<_>>() })
}

fn thread_in_json(
    (heap, retained): (&Heap<'_>, &Retained),
    thread: &Thread<'_>,
    most: usize,
) -> Value {
    let held = |place: Option<usize>| {
        let locals = thread.locals_of(place).take(most).map(|local| {
            json!({
                "class": described(heap, local.object),
                "id": format!("{:#x}", heap.id(local.object)),
                "kind": local.kind.name(),
                "retained": retained.bytes(local.object),
            })
        });
        locals.collect::<Vec<Value>>()
    };
    let frames = thread
        .frames
        .iter()
        .enumerate()
        .map(|(place, frame)| json!({ "at": frame::line(frame), "locals": held(Some(place)) }));
    json!({
        "class": described(heap, thread.object),
        "frames": frames.collect::<Vec<_>>(),
        "id": format!("{:#x}", heap.id(thread.object)),
        "name": thread.name,
        "other_locals": held(None),
        "retained": retained.bytes(thread.object),
    })
}
