//! The threads, what their frames hold, and what each keeps alive.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use graph::{Dominator, GraphError, Heap, Local, Retained};
use reader::{RootKind, StackFrame, Stacks};
use serde::Serialize;
use serde_json::Value;

use super::object::{described, id};
use super::rows::Rows;
use crate::folding::{fold, folded, is_library};
use crate::frame;
use crate::heap_file::Loaded;
use crate::number::{counted, grouped};
use crate::plain::{plain, shown};
use crate::screen;
use crate::table::{Side, Table};

/// The threads with their stacks, most retained bytes first.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ThreadsAnswer {
    left_out: usize,
    threads: Vec<ThreadAnswer>,
}

#[derive(Clone, Debug, Serialize)]
struct ThreadAnswer {
    class: String,
    frames: Vec<FrameAnswer>,
    id: String,
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
}

#[derive(Clone, Debug, Serialize)]
struct LocalAnswer {
    class: String,
    id: String,
    kind: &'static str,
    retained: u64,
}

impl ThreadsAnswer {
    /// `most` threads, and `locals` objects of a frame. Errors: the file cannot be read.
    pub(crate) fn of(
        (heap, retained): (&Heap<'_>, &Retained),
        most: usize,
        locals: usize,
    ) -> Result<Self, GraphError> {
        let stacks = heap.stacks();
        let (threads, left_out) = threads((heap, retained), &stacks, most)?;
        let threads = threads.iter();
        Ok(Self {
            left_out,
            threads: threads
                .map(|thread| ThreadAnswer::of((heap, retained), thread, locals))
                .collect(),
        })
    }

    /// As JSON.
    pub(crate) fn in_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As text; with `full`, no frame is folded, and an object stands below each that holds it.
    pub(crate) fn print(&self, full: bool, to: &mut dyn Write) -> io::Result<()> {
        let mut threads = self.threads.iter();
        threads.try_for_each(|thread| thread.print(full, to))
    }
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
        });
        Self {
            class: described(heap, thread.object),
            frames: frames.collect(),
            id: id(heap, thread.object),
            name: thread.name.clone(),
            other_locals: held(None),
            retained: retained.bytes(thread.object),
        }
    }

    fn print(&self, full: bool, to: &mut dyn Write) -> io::Result<()> {
        let head = format!(
            "\"{}\" {} {} retains {}",
            plain(&shown(self.name.as_deref().unwrap_or("?"))),
            plain(&shown(&self.class)),
            self.id,
            counted(self.retained, "byte")
        );
        writeln!(to, "{}", screen::title(&head))?;
        let places = &self.places();
        let is_library = |place: usize| self.frames.get(place).is_some_and(|it| it.is_library);
        for line in folded(self.frames.len(), full, is_library) {
            match self.frames.get(line.clone()).unwrap_or_default() {
                [frame] => writeln!(to, "    at {}", plain(&frame.at))?,
                several => writeln!(to, "    {}", fold(several.len()))?,
            }
            let held = line.flat_map(|place| {
                let locals = self
                    .frames
                    .get(place)
                    .map_or(&[][..], |frame| &frame.locals);
                let is_here = move |id: &str| full || places.get(id) == Some(&place);
                locals.iter().filter(move |local| is_here(&local.id))
            });
            print_locals(held, to)?;
        }
        if !self.frames.is_empty() && !self.other_locals.is_empty() {
            writeln!(to, "    in one of these frames")?;
        }
        print_locals(&self.other_locals, to)?;
        writeln!(to)
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

fn print_locals<'l>(
    locals: impl IntoIterator<Item = &'l LocalAnswer>,
    to: &mut dyn Write,
) -> io::Result<()> {
    for local in locals {
        let holds = match local.kind == RootKind::JavaFrame.name() {
            true => "holds",
            false => "holds by JNI",
        };
        writeln!(
            to,
            "        {holds} {} {}, which retains {}",
            plain(&shown(&local.class)),
            local.id,
            grouped(local.retained)
        )?;
    }
    Ok(())
}

/// The bytes that a thread keeps alive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ThreadRow {
    class: String,
    /// The part of the retained bytes that its frames lead to directly.
    frames: u64,
    id: String,
    objects: u64,
    retained: u64,
    thread: Option<String>,
}

impl Rows<ThreadRow> {
    /// The first `most` threads, largest retained size first. Errors: the file cannot be read.
    pub(super) fn threads(loaded: &Loaded<'_>, most: usize) -> Result<Self, GraphError> {
        let (heap, retained) = (&loaded.heap, &loaded.retained);
        let stacks = heap.stacks();
        let (threads, left_out) = threads((heap, retained), &stacks, most)?;
        let rows = threads.into_iter().map(|thread| ThreadRow {
            class: described(heap, thread.object),
            frames: thread.frames_bytes(retained),
            id: id(heap, thread.object),
            objects: retained.subtree(thread.object).count() as u64,
            retained: retained.bytes(thread.object),
            thread: thread.name,
        });
        Ok(Self::new(loaded, rows.collect(), left_out))
    }
}

/// Prints the rows as text.
pub(super) fn print_rows(rows: &[ThreadRow], to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("retained", Side::Right),
        ("frames", Side::Right),
        ("objects", Side::Right),
        ("thread", Side::Left),
    ]);
    for row in rows {
        let name = row.thread.as_deref().unwrap_or("?");
        table.row([
            grouped(row.retained).into(),
            grouped(row.frames).into(),
            grouped(row.objects).into(),
            format!("\"{name}\" {} {}", row.class, row.id).into(),
        ]);
    }
    table.print(to)
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
fn threads<'s>(
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
            name: Some("worker".to_owned()),
            other_locals: vec![local("0x4")],
            retained: 1,
        };
        let mut text = Vec::new();
        thread.print(full, &mut text).unwrap();
        String::from_utf8(text).unwrap()
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
