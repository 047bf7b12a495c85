//! Paths as JSON, written step by step, as there may be millions.

use graph::{Heap, Path, Retained};
use reader::Stacks;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use crate::answer::object::{described, id};
use crate::answer::path::steps;
use crate::frame;
use crate::json::List;

/// A path: each object, and how the one before refers to it. A gap is one entry: how many objects are left out, their most
/// frequent class, and how many are of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathInJson<'a, 'p>(pub(crate) &'a Heap<'p>, pub(crate) &'a Path);

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathsInJson<'a, 'p> {
    pub(crate) heap: &'a Heap<'p>,
    pub(crate) retained: &'a Retained,
    pub(crate) stacks: &'a Stacks,
    /// The objects, and the path to each.
    pub(crate) paths: (&'a [u32], &'a [Option<Path>]),
    /// How many objects more there are.
    pub(crate) left_out: usize,
    /// How long the application paused; `None` for a file.
    pub(crate) pause_millis: Option<u64>,
}

/// One of them.
#[derive(Clone, Copy)]
struct Row<'a, 'p>(&'a PathsInJson<'a, 'p>, u32, Option<&'a Path>);

impl Serialize for PathsInJson<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (objects, paths) = self.paths;
        let rows = objects.iter().zip(paths);
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
