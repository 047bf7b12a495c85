//! The threads, what their frames hold, and what each keeps alive.

use std::cmp::Reverse;
use std::collections::HashMap;

use graph::{Dominator, GraphError, Heap, Local, Retained};
use reader::{RootKind, StackFrame, Stacks};
use serde::Serialize;

use super::ask::Question;
use super::object::{described, id};
use crate::files::heap_file::Loaded;
use crate::output::cell::Cell;
use crate::output::folding::{fold, folded, is_library};
use crate::output::frame;
use crate::output::number::{counted, grouped, limit};
use crate::output::outcome::Failure;
use crate::output::plain::{plain, shown};
use crate::output::screen;
use crate::output::sections::Sections;
use crate::output::table::Table;

/// A thread with its stack.
#[derive(Clone, Debug)]
struct ThreadAnswer {
    class: String,
    frames: Vec<FrameAnswer>,
    id: String,
    /// Number of objects that its frames and native code hold.
    local_objects: usize,
    name: Option<String>,
    /// Objects that belong to no frame of the stack.
    other_locals: Vec<LocalAnswer>,
    retained: u64,
}

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
    let both = (&loaded.heap, &loaded.retained);
    let stacks = loaded.heap.stacks();
    let (threads, left_out) = largest(both, &stacks, most)?;
    let threads = threads.iter().map(|it| ThreadAnswer::of(both, it, locals));
    let table = Table::of(threads, usize::MAX)
        .hidden("class", |thread| thread.class.clone())
        .hidden("frames", |thread| Cell::json(&thread.frames))
        .hidden("id", |thread| thread.id.clone())
        .hidden("local_objects", |thread| thread.local_objects)
        .hidden("name", |thread| thread.name.clone())
        .hidden("other_locals", |thread| Cell::json(&thread.other_locals))
        .hidden("retained", |thread| thread.retained)
        .below(move |thread| thread.lines(full))
        .done();
    let mut answer = Sections::default();
    answer.table("threads", "left_out", table.left_out(left_out));
    Ok(answer)
}

impl ThreadAnswer {
    fn of((heap, retained): (&Heap<'_>, &Retained), thread: &Thread<'_>, most: usize) -> Self {
        let held = |place: Option<usize>| {
            let locals = thread.locals_of(place).take(most).map(|local| LocalAnswer {
                class: described(heap, local.object),
                id: id(heap, local.object),
                kind: local.kind.name(),
                retained: retained.bytes(local.object),
            });
            locals.collect()
        };
        let frames = thread.frames.iter().enumerate();
        let frames = frames.map(|(place, frame)| FrameAnswer {
            at: frame::line(frame),
            is_library: is_library(&frame.class),
            locals: held(Some(place)),
            locals_left_out: match thread.locals_of(Some(place)).skip(most).count() {
                0 => None,
                more => Some(more),
            },
        });
        Self {
            class: described(heap, thread.object),
            frames: frames.collect(),
            id: id(heap, thread.object),
            local_objects: thread.locals.len(),
            name: thread.name.clone(),
            other_locals: held(None),
            retained: retained.bytes(thread.object),
        }
    }

    fn lines(&self, full: bool) -> Vec<String> {
        let head = format!(
            "\"{}\" {} {} retains {}",
            plain(&shown(self.name.as_deref().unwrap_or("?"))),
            plain(&shown(&self.class)),
            self.id,
            counted(self.retained, "byte")
        );
        let mut lines = vec![screen::title(&head).into_owned()];
        let places = &self.places();
        let is_library = |place: usize| self.frames.get(place).is_some_and(|it| it.is_library);
        for line in folded(self.frames.len(), full, is_library) {
            lines.push(match self.frames.get(line.clone()).unwrap_or_default() {
                [frame] => format!("    at {}", plain(&frame.at)),
                several => format!("    {}", fold(several.len())),
            });
            for place in line {
                let locals = self.frames.get(place).into_iter();
                let locals = locals.flat_map(|frame| &frame.locals);
                let here = locals.filter(|it| full || places.get(&*it.id) == Some(&place));
                lines.extend(here.map(LocalAnswer::line));
            }
        }
        if !self.frames.is_empty() && !self.other_locals.is_empty() {
            lines.push("    in one of these frames".to_owned());
        }
        lines.extend(self.other_locals.iter().map(LocalAnswer::line));
        lines.push(String::new());
        lines
    }

    /// The frame below which each object stands: of those that hold it the outermost of the
    /// program, else the outermost.
    fn places(&self) -> HashMap<&str, usize> {
        let mut places = HashMap::new();
        let frames = || self.frames.iter().enumerate();
        let libraries = frames().filter(|(_, frame)| frame.is_library);
        let own = frames().filter(|(_, frame)| !frame.is_library);
        for (place, frame) in libraries.chain(own) {
            places.extend(frame.locals.iter().map(|local| (&*local.id, place)));
        }
        places
    }
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
    let rows = threads
        .into_iter()
        .map(|it| (it.object, it.frames_bytes(retained), it.name));
    let rows: Vec<(u32, u64, Option<String>)> = rows.collect();
    let table = Table::of(rows, usize::MAX)
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
        .done();
    Ok(table.left_out(left_out))
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
        let alone = |object: &u32| retained.dominator(*object) == Dominator::Object(self.object);
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
        let thread = ThreadAnswer {
            class: "java.lang.Thread".to_owned(),
            frames: frames.into(),
            id: "0x9".to_owned(),
            local_objects: 0,
            name: Some("worker".to_owned()),
            other_locals: vec![local("0x4")],
            retained: 1,
        };
        thread.lines(full).join("\n") + "\n"
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
