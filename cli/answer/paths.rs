//! The paths to some objects. Both forms are written step by step, as there may be millions.

use std::io::{self, Write};

use graph::{GraphError, Heap, Path, Retained};
use reader::Stacks;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::object::{described, id};
use super::path::{root_words, steps};
use crate::frame;
use crate::json::List;
use crate::number::counted;
use crate::plain::plain;
use crate::sentence::object as words;

/// A path: each object, and how the one before refers to it. A gap is one entry: how many objects
/// are left out, their most frequent class, and how many are of it.
#[derive(Clone, Copy, Debug)]
struct PathInJson<'a, 'p>(&'a Heap<'p>, &'a Path);

impl Serialize for PathInJson<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("objects", &List(steps(self.0, self.1)))?;
        map.serialize_entry("root", self.1.root.name())?;
        map.serialize_entry("weak", &self.1.is_weak)?;
        map.end()
    }
}

/// The paths to some objects.
#[derive(Debug)]
pub(crate) struct PathsAnswer<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    stacks: Stacks,
    objects: Vec<u32>,
    /// The path to each object.
    paths: Vec<Option<Path>>,
    /// How many objects more there are.
    left_out: usize,
    /// How long the application paused; `None` for a file.
    pause_millis: Option<u64>,
}

impl<'a, 'p> PathsAnswer<'a, 'p> {
    /// The paths to these objects, of at most `steps` objects each; `left_out` objects were not
    /// asked for. Errors: the file cannot be read.
    pub(crate) fn of(
        (heap, retained): (&'a Heap<'p>, &'a Retained),
        (objects, left_out): (Vec<u32>, usize),
        steps: usize,
        pause_millis: Option<u64>,
    ) -> Result<Self, GraphError> {
        Ok(Self {
            heap,
            retained,
            stacks: heap.stacks(),
            paths: heap.paths(&objects, steps)?,
            objects,
            left_out,
            pause_millis,
        })
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        for (object, path) in self.objects.iter().zip(&self.paths) {
            let words = words(self.heap, *object);
            let bytes = counted(self.retained.bytes(*object), "byte");
            let Some(path) = path else {
                writeln!(to, "{words}: no root leads to it")?;
                continue;
            };
            let root = root_words(path.root, path.is_weak);
            writeln!(to, "{words} retains {bytes} (root: {root})")?;
            for step in steps(self.heap, path) {
                writeln!(to, "    {}", step.line())?;
            }
            if let Some(trace) = self.heap.allocation_trace(*object) {
                writeln!(to, "  allocated:")?;
                for frame in self.stacks.frames(trace) {
                    writeln!(to, "    at {}", plain(&frame::line(frame)))?;
                }
            }
        }
        Ok(())
    }
}

/// One of them.
#[derive(Clone, Copy)]
struct Row<'a, 'p>(&'a PathsAnswer<'a, 'p>, u32, Option<&'a Path>);

impl Serialize for PathsAnswer<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows = self.objects.iter().zip(&self.paths);
        let rows = rows.map(|(object, path)| Row(self, *object, path.as_ref()));
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("left_out", &self.left_out)?;
        map.serialize_entry("paths", &List(rows))?;
        if let Some(millis) = self.pause_millis {
            map.serialize_entry("pause_ms", &millis)?;
        }
        map.end()
    }
}

impl Serialize for Row<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(of, object, path) = self;
        let (heap, retained) = (of.heap, of.retained);
        let trace = heap.allocation_trace(*object);
        let allocated = trace.map(|trace| json!(frame::in_json(of.stacks.frames(trace))));
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("allocated", &allocated)?;
        map.serialize_entry("class", &described(heap, *object))?;
        map.serialize_entry("id", &id(heap, *object))?;
        map.serialize_entry("path", &path.map(|path| PathInJson(heap, path)))?;
        map.serialize_entry("retained", &retained.bytes(*object))?;
        map.end()
    }
}
