//! The threads, what their frames hold, and what each keeps alive.

use std::cmp::Reverse;
use std::collections::HashMap;

use graph::{GraphError, Heap, Local, Retained};
use reader::{RootKind, StackFrame, Stacks};
use serde::Serialize;

use super::ask::Question;
use super::object::{above, described, id};
use crate::files::heap_file::Loaded;
use crate::output::folding::{fold, folded, is_library};
use crate::output::frame;
use crate::output::screen;
use crate::output::{counted, grouped, limit, plain, shown, Cell, Failure, Sections, Table};

/// A frame in an answer.
#[derive(Clone, Debug, Serialize)]
struct FrameAnswer {
    at: String,
    #[serde(skip)]
    is_library: bool,
    locals: Vec<LocalAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locals_left_out: Option<usize>,
}

#[derive(Clone, Debug, Serialize)]
struct LocalAnswer {
    class: String,
    id: String,
    kind: &'static str,
    retained: u64,
}

/// Prints the stacks of threads, and what the locals of frames retain
///
/// A local variable retains what it alone keeps alive: objects that another frame or a field also
/// holds are not counted. A thread's JNI references count as locals.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof threads heap.hprof --top 5")]
pub(crate) struct Threads {
    /// Print at most N threads, largest retained size first; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) top: usize,
    /// Print at most N objects of each frame; 0 for all
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) locals: usize,
    /// Print all frames, and an object below each that holds it; without this, frames of the JDK
    /// and of languages are folded, and an object stands below the outermost frame of the program
    #[arg(long)]
    pub(crate) full: bool,
}

impl Question for Threads {
    fn answer<'a>(&self, loaded: &'a Loaded) -> Result<Sections<'a>, Failure> {
        let (most, locals) = (limit(self.top), limit(self.locals));
        loaded.check(threads(loaded, most, locals, self.full))
    }
}

/// The `most` threads with most retained bytes, with their stacks and `locals` objects of a frame.
/// In the text, with `full`, no frame is folded, and an object stands below each that holds it.
/// Errors: the file cannot be read.
fn threads(
    loaded: &Loaded,
    most: usize,
    locals: usize,
    full: bool,
) -> Result<Sections<'_>, GraphError> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let stacks = heap.stacks();
    let (threads, left_out) = largest((heap, retained), &stacks, most)?;
    // With the objects of each frame, and those that belong to no frame of the stack.
    let rows = threads.into_iter().map(|it| Row {
        frames: it.frames_with(loaded, locals),
        others: it.held(loaded, None, locals),
        local_objects: it.locals.len(),
        object: it.object,
        name: it.name,
    });
    let table = Table::of(rows, usize::MAX)
        .hidden("class", |row| described(heap, row.object))
        .hidden("frames", |row| Cell::json(&row.frames))
        .hidden("id", |row| Cell::Id(heap.id(row.object)))
        .hidden("local_objects", |row| row.local_objects)
        .hidden("name", |row| row.name.clone())
        .hidden("other_locals", |row| Cell::json(&row.others))
        .hidden("retained", |row| retained.bytes(row.object))
        .below(move |row| {
            let head = format!(
                "\"{}\" {} {} retains {}",
                plain(&shown(row.name.as_deref().unwrap_or("?"))),
                plain(&shown(&described(heap, row.object))),
                id(heap, row.object),
                counted(retained.bytes(row.object), "byte")
            );
            lines(&head, &row.frames, &row.others, full)
        });
    let mut answer = Sections::default();
    answer.table("threads", "left_out", table.left_out(left_out));
    Ok(answer)
}

/// A thread with what its frames hold.
struct Row {
    object: u32,
    name: Option<String>,
    frames: Vec<FrameAnswer>,
    /// Objects that belong to no frame of the stack.
    others: Vec<LocalAnswer>,
    /// Number of objects that its frames and native code hold.
    local_objects: usize,
}

/// A thread in the text.
fn lines(head: &str, frames: &[FrameAnswer], others: &[LocalAnswer], full: bool) -> Vec<String> {
    let mut lines = vec![screen::title(head).into_owned()];
    let places = places(frames);
    let is_library = |place: usize| frames.get(place).is_some_and(|it| it.is_library);
    for line in folded(frames.len(), full, is_library) {
        lines.push(match frames.get(line.clone()).unwrap_or_default() {
            [frame] => format!("    at {}", plain(&frame.at)),
            several => format!("    {}", fold(several.len())),
        });
        for place in line {
            let locals = frames.get(place).into_iter();
            let locals = locals.flat_map(|frame| &frame.locals);
            let here = locals.filter(|it| full || places.get(&*it.id) == Some(&place));
            lines.extend(here.map(LocalAnswer::line));
        }
    }
    if !frames.is_empty() && !others.is_empty() {
        lines.push("    in one of these frames".to_owned());
    }
    lines.extend(others.iter().map(LocalAnswer::line));
    lines.push(String::new());
    lines
}

/// The frame below which each object stands: of those that hold it the outermost of the program,
/// else the outermost.
fn places(frames: &[FrameAnswer]) -> HashMap<&str, usize> {
    let mut places = HashMap::new();
    let all = || frames.iter().enumerate();
    let libraries = all().filter(|(_, frame)| frame.is_library);
    let own = all().filter(|(_, frame)| !frame.is_library);
    for (place, frame) in libraries.chain(own) {
        places.extend(frame.locals.iter().map(|local| (&*local.id, place)));
    }
    places
}

impl LocalAnswer {
    fn line(&self) -> String {
        let holds = match self.kind == RootKind::JavaFrame.name() {
            true => "holds",
            false => "holds by JNI",
        };
        let (class, retained) = (plain(&shown(&self.class)), grouped(self.retained));
        format!(
            "        {holds} {class} {}, which retains {retained}",
            self.id
        )
    }
}

/// The first `most` threads, largest retained size first, with the bytes that each keeps alive.
/// Errors: the file cannot be read.
pub(super) fn thread_table(loaded: &Loaded, most: usize) -> Result<Table<'_>, GraphError> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let stacks = heap.stacks();
    let (threads, left_out) = largest((heap, retained), &stacks, most)?;
    let row = |it: Thread<'_>| (it.object, it.frames_bytes(retained), it.name);
    let table = Table::of(threads.into_iter().map(row), usize::MAX)
        .right("retained", "retained", |row| retained.bytes(row.0))
        // The part of them that its frames lead to directly.
        .right("frames", "frames", |row| row.1)
        .right("objects", "objects", |row| retained.subtree(row.0).count())
        .left("thread", "", |row| {
            let name = row.2.as_deref().unwrap_or("?");
            format!("\"{name}\" {} {}", described(heap, row.0), id(heap, row.0))
        })
        .hidden("class", |row| described(heap, row.0))
        .hidden("id", |row| id(heap, row.0))
        .hidden("thread", |row| row.2.clone())
        .left_out(left_out)
        .noun("thread");
    Ok(table.into())
}

/// One thread.
struct Thread<'h> {
    object: u32,
    name: Option<String>,
    frames: Vec<&'h StackFrame>,
    /// The objects that the thread holds, most retained bytes first.
    locals: Vec<Local>,
}

/// The threads that retain most, and how many more there are. Errors: the file cannot be read.
fn largest<'s>(
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
        Thread::of((heap, retained), stacks, (object, name))
    });
    Ok((threads.collect(), left_out))
}

impl<'s> Thread<'s> {
    fn of(
        (heap, retained): (&Heap<'_>, &Retained),
        stacks: &'s Stacks,
        (object, name): (u32, Option<String>),
    ) -> Self {
        let mut locals = heap.locals(object).to_vec();
        locals.sort_by_key(|local| {
            let bytes = retained.bytes(local.object);
            (Reverse(bytes), local.object, local.frame)
        });
        // A frame may hold an object through several variables.
        locals.dedup_by_key(|local| (local.object, local.frame));
        let trace = heap.thread_trace(object).unwrap_or_default();
        Self {
            object,
            name,
            frames: stacks.frames(trace).collect(),
            locals,
        }
    }

    /// Its frames, each with the `most` largest objects that it holds.
    fn frames_with(&self, loaded: &Loaded, most: usize) -> Vec<FrameAnswer> {
        let frames = self.frames.iter().enumerate();
        let frames = frames.map(|(place, frame)| FrameAnswer {
            at: frame::line(frame),
            is_library: is_library(&frame.class),
            locals: self.held(loaded, Some(place), most),
            locals_left_out: Some(self.locals_of(Some(place)).skip(most).count())
                .filter(|more| *more > 0),
        });
        frames.collect()
    }

    /// The `most` largest objects of a frame, see [`Thread::locals_of`].
    fn held(&self, loaded: &Loaded, frame: Option<usize>, most: usize) -> Vec<LocalAnswer> {
        let locals = self.locals_of(frame).take(most).map(|local| LocalAnswer {
            class: described(&loaded.heap, local.object),
            id: id(&loaded.heap, local.object),
            kind: local.kind.name(),
            retained: loaded.retained.bytes(local.object),
        });
        locals.collect()
    }

    /// The objects held by a frame. `None` also returns those of frames that are not in the stack.
    fn locals_of(&self, frame: Option<usize>) -> impl Iterator<Item = &Local> {
        let depth = self.frames.len();
        self.locals.iter().filter(move |local| {
            let of = local.frame.and_then(|frame| usize::try_from(frame).ok());
            of.filter(|of| *of < depth) == frame
        })
    }

    /// The part of the thread's retained bytes that its frames lead to directly.
    fn frames_bytes(&self, retained: &Retained) -> u64 {
        let mut held: Vec<u32> = self.locals.iter().map(|local| local.object).collect();
        held.sort_unstable();
        held.dedup();
        let alone = |object: &u32| above(retained, *object) == Some(self.object);
        let bytes = held.iter().filter(|object| alone(object));
        bytes.map(|object| retained.bytes(*object)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(id: &str) -> LocalAnswer {
        LocalAnswer {
            class: "app.Map".to_owned(),
            id: id.to_owned(),
            kind: RootKind::JavaFrame.name(),
            retained: 7,
        }
    }

    fn frame(class: &str, held: &[&str]) -> FrameAnswer {
        FrameAnswer {
            at: format!("{class}.call({class}.java)"),
            is_library: is_library(class),
            locals: held.iter().map(|id| local(id)).collect(),
            locals_left_out: None,
        }
    }

    fn text(full: bool) -> String {
        let frames = [
            frame("java.A", &[]),
            frame("java.B", &["0x1"]),
            frame("java.C", &["0x2"]),
            frame("app.Inner", &["0x1", "0x3"]),
            frame("app.Outer", &["0x1"]),
            frame("java.D", &["0x1"]),
        ];
        let head = "\"worker\" java.lang.Thread 0x9 retains 1 byte";
        lines(head, &frames, &[local("0x4")], full).join("\n") + "\n"
    }

    #[test]
    fn an_object_stands_once_and_frames_of_libraries_are_folded() {
        let wanted = "\
\"worker\" java.lang.Thread 0x9 retains 1 byte
    at java.A.call(java.A.java)
    ... 2 frames of libraries
        holds app.Map 0x2, which retains 7
    at app.Inner.call(app.Inner.java)
        holds app.Map 0x3, which retains 7
    at app.Outer.call(app.Outer.java)
        holds app.Map 0x1, which retains 7
    at java.D.call(java.D.java)
    in one of these frames
        holds app.Map 0x4, which retains 7

";
        assert_eq!(text(false), wanted);
    }

    #[test]
    fn all_frames_have_what_they_hold() {
        let full = text(true);
        assert_eq!(full.matches("    at ").count(), 6, "{full}");
        assert_eq!(full.matches("holds app.Map 0x1,").count(), 4, "{full}");
    }
}
