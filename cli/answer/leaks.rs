//! What keeps the memory: the suspects, each with its path from a root.

use std::io::{self, Write};

use graph::{GraphError, Heap, Leaks, Suspect, Who};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::{described, id};
use super::path::PathAnswer;
use super::sizes_by::SizesBy;
use crate::frame::Frame;
use crate::heap_file::Loaded;
use crate::number::{grouped, in_units, percent};
use crate::plain::{plain, shown};
use crate::sentence::Words;
use crate::table::{Side, Table};

/// Number of stacks of the objects that a suspect holds.
const STACKS: usize = 3;

/// The answer. Its fields are those of the JSON, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaksAnswer {
    /// Places of the dump that could not be read.
    damaged: u64,
    /// Which references count.
    references: String,
    /// What stands out, or that nothing does.
    sentence: String,
    sizes: SizesBy,
    suspects: Vec<SuspectAnswer>,
    threshold_percent: u64,
    /// Bytes of all reachable objects.
    total_bytes: u64,
}

/// A suspect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SuspectAnswer {
    /// The object at which its memory spreads.
    accumulation: Option<Point>,
    allocated: Vec<Allocated>,
    class: String,
    /// The classes that the accumulation point holds, or the suspect if there is none.
    holds: Vec<Held>,
    /// `None` for a class.
    id: Option<String>,
    objects: u64,
    path: Option<PathAnswer>,
    retained: u64,
    sentence: String,
    share: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Point {
    class: String,
    id: String,
    retained: u64,
}

/// The stack that allocated most of the sampled objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Allocated {
    class: String,
    frames: Vec<Frame>,
    objects: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    bytes: u64,
    class: String,
    objects: u64,
}

impl LeaksAnswer {
    /// The suspects that retain at least this share. Errors: the file cannot be read.
    pub(crate) fn of(loaded: &Loaded<'_>, threshold_percent: u64) -> Result<Self, GraphError> {
        let heap = &loaded.heap;
        let leaks = Leaks::find(heap, &loaded.retained, threshold_percent)?;
        let words = Words::of_leaks(heap, &leaks)?;
        let suspects = leaks.suspects.iter();
        Ok(Self {
            damaged: heap.damaged(),
            references: loaded.rule.name().to_owned(),
            sentence: words.verdict(&leaks, threshold_percent),
            sizes: heap.sizes().into(),
            suspects: suspects
                .map(|suspect| SuspectAnswer::of(heap, suspect, &words))
                .collect(),
            threshold_percent,
            total_bytes: leaks.total_bytes,
        })
    }

    /// As JSON.
    pub(crate) fn in_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "{}", plain(&self.sentence))?;
        for (number, suspect) in self.suspects.iter().enumerate() {
            writeln!(to)?;
            if number > 0 {
                writeln!(to, "{}", plain(&suspect.sentence))?;
            }
            suspect.print(to)?;
        }
        let references = plain(&self.references);
        writeln!(to, "\nReferences: {references}; sizes by {}.", self.sizes)
    }
}

impl SuspectAnswer {
    fn of(heap: &Heap<'_>, suspect: &Suspect, words: &Words<'_, '_>) -> Self {
        let (object, class, objects) = match suspect.who {
            Who::Object(object) => (Some(object), described(heap, object), 1),
            Who::Class { class, objects } => (None, heap.class_name(class), objects),
        };
        let traces = suspect.traces.iter().take(STACKS);
        let holds = suspect.holds.iter().map(|group| Held {
            bytes: group.bytes,
            class: heap.class_name(group.class),
            objects: group.objects,
        });
        Self {
            accumulation: suspect.accumulation.map(|point| Point {
                class: described(heap, point),
                id: id(heap, point),
                retained: suspect.accumulated_bytes,
            }),
            allocated: traces
                .map(|(class, trace, objects)| Allocated {
                    class: heap.class_name(*class),
                    frames: words.stacks().frames(*trace).map(Frame::of).collect(),
                    objects: *objects,
                })
                .collect(),
            class,
            holds: holds.collect(),
            id: object.map(|object| id(heap, object)),
            objects,
            path: suspect.path.as_ref().map(|path| PathAnswer::of(heap, path)),
            retained: suspect.bytes,
            sentence: words.suspect(suspect),
            share: percent(suspect.bytes, words.total_bytes()),
        }
    }

    fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        if let Some(path) = &self.path {
            writeln!(to, "  path from a root ({}):", path.root())?;
            for step in &path.objects {
                writeln!(to, "    {}", step.line())?;
            }
        }
        self.print_holds(to)?;
        for allocated in &self.allocated {
            writeln!(
                to,
                "  allocated, by {} of its objects that have a stack: {}",
                grouped(allocated.objects),
                plain(&shown(&allocated.class))
            )?;
            for frame in &allocated.frames {
                writeln!(to, "    at {}", plain(&frame.line()))?;
            }
        }
        Ok(())
    }

    fn print_holds(&self, to: &mut dyn Write) -> io::Result<()> {
        // The rows are those of the accumulation point, so they add up to its bytes.
        let point = self.accumulation.as_ref();
        let bytes = point.map_or(self.retained, |point| point.retained);
        writeln!(
            to,
            "  holds {} ({} bytes):",
            in_units(bytes),
            grouped(bytes)
        )?;
        let mut table = Table::new([
            ("    objects", Side::Right),
            ("bytes", Side::Right),
            ("of class", Side::Left),
        ]);
        for held in &self.holds {
            table.row([
                grouped(held.objects).into(),
                grouped(held.bytes).into(),
                held.class.clone().into(),
            ]);
        }
        table.print(to)
    }
}
