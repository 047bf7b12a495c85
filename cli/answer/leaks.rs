//! What keeps the memory: the suspects, each with its path from a root.

use std::io::{self, Write};

use graph::{GraphError, Heap, Leaks, NativeSuspect, Suspect, Who};
use serde::Serialize;
use serde_json::Value;

use super::given_up::GivenUpAnswer;
use super::object::{described, id};
use super::path::{PathAnswer, Step};
use super::sizes_by::SizesBy;
use super::unreachable::Unreachable;
use crate::folding::{fold, folded};
use crate::frame::Frame;
use crate::heap_file::Loaded;
use crate::number::{counted, grouped, in_units, percent};
use crate::plain::{plain, shown};
use crate::screen;
use crate::sentence::Words;
use crate::table::{Side, Table};

/// Number of stacks of the objects that a suspect holds.
const STACKS: usize = 3;

/// Number of frames of a thread, and of lines that they take where those of libraries are folded.
const FRAMES_KEPT: usize = 64;
const FRAMES: usize = 8;

/// Number of rows of elements in the text.
const ROWS: usize = 5;

/// Number of rows of classes in the text.
const CLASSES: usize = 8;

/// Number of classes of elements.
const ELEMENTS: usize = 10;

/// The answer. Its fields are those of the JSON, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LeaksAnswer {
    /// Places of the dump that could not be read.
    damaged: u64,
    /// What Android or LeakCanary gave up.
    given_up: Vec<GivenUpAnswer>,
    /// Memory outside of the heap, if there is so much that it is a suspect.
    native: Vec<NativeAnswer>,
    /// Which references count.
    references: String,
    /// What stands out, or that nothing does.
    sentence: String,
    sizes: SizesBy,
    suspects: Vec<SuspectAnswer>,
    /// Bytes that only soft references keep.
    soft: u64,
    threshold_percent: u64,
    /// Bytes of all reachable objects.
    total_bytes: u64,
    /// What no root leads to.
    unreachable: Unreachable,
    /// Classes whose objects retain as much as a suspect, but in each program.
    weights: Vec<Elements>,
}

/// Memory outside of the heap with one owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct NativeAnswer {
    bytes: u64,
    /// Class of the objects that have it.
    class: String,
    objects: u64,
    /// The classes of the objects between the owner and them, outermost first, and how many of them
    /// the heap has.
    owners: Vec<(String, u64)>,
    path: Option<PathAnswer>,
    sentence: String,
}

/// A suspect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SuspectAnswer {
    /// The object at which its memory spreads.
    accumulation: Option<Point>,
    allocated: Vec<Allocated>,
    /// What else holds it: a static field, a frame of a thread.
    also: Vec<String>,
    class: String,
    /// One of the elements, and below it what mostly fills it.
    contents: Vec<Step>,
    /// What the program put into it: its own objects first met below the accumulation point.
    elements: Vec<Elements>,
    /// The classes that the accumulation point holds, or the suspect if there is none.
    holds: Vec<Held>,
    /// `None` for a class.
    id: Option<String>,
    objects: u64,
    path: Option<PathAnswer>,
    retained: u64,
    sentence: String,
    share: String,
    /// The part of the retained bytes that is only softly reachable.
    soft: u64,
    /// The stack of the thread, if the suspect is threads.
    stack: Vec<Frame>,
}

/// Objects that are no structure, the first below the accumulation point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Elements {
    class: String,
    objects: u64,
    retained: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Point {
    class: String,
    id: String,
    retained: u64,
}

/// The stack that allocated most of the sampled objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Allocated {
    class: String,
    frames: Vec<Frame>,
    objects: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
            given_up: GivenUpAnswer::all(heap)?,
            native: leaks
                .native
                .iter()
                .map(|native| NativeAnswer::of(heap, native, &words))
                .collect(),
            references: loaded.rule.name().to_owned(),
            sentence: words.verdict(&leaks, threshold_percent),
            sizes: heap.sizes().into(),
            suspects: suspects
                .map(|suspect| SuspectAnswer::of(heap, suspect, &words))
                .collect(),
            soft: leaks.soft_bytes,
            threshold_percent,
            total_bytes: leaks.total_bytes,
            unreachable: Unreachable::of(heap, &loaded.retained),
            weights: leaks
                .weights
                .iter()
                .map(|group| Elements {
                    class: heap.class_name(group.class),
                    objects: group.objects,
                    retained: group.bytes,
                })
                .collect(),
        })
    }

    /// As JSON.
    pub(crate) fn in_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As text; with `full`, frames of libraries are not folded.
    pub(crate) fn print(&self, full: bool, to: &mut dyn Write) -> io::Result<()> {
        if self.damaged > 0 {
            let places = counted(self.damaged, "damaged place");
            let text = format!("The dump has {places}; this is about the rest:");
            writeln!(to, "{}", screen::warning(&text))?;
        }
        writeln!(to, "{}", screen::headline(&plain(&self.sentence)))?;
        if self.soft > self.total_bytes / 100 {
            writeln!(to, "{} are only softly reachable.", in_units(self.soft))?;
        }
        // The first sentence is one of them.
        let is_first = |sentence: &String| *sentence == self.sentence;
        for native in self.native.iter().filter(|it| is_first(&it.sentence)) {
            writeln!(to)?;
            native.print(to)?;
        }
        for suspect in &self.suspects {
            writeln!(to)?;
            if !is_first(&suspect.sentence) {
                writeln!(to, "{}", screen::prose(&plain(&suspect.sentence)))?;
            }
            suspect.print(full, to)?;
        }
        for native in self.native.iter().filter(|it| !is_first(&it.sentence)) {
            writeln!(to, "\n{}", screen::prose(&plain(&native.sentence)))?;
            native.print(to)?;
        }
        self.print_rest(to)?;
        let references = plain(&self.references);
        let rules = format!("References: {references}; sizes by {}.", self.sizes);
        writeln!(to, "\n{}", screen::aside(&rules))
    }
}

impl LeaksAnswer {
    /// What is no suspect, but explains the heap.
    fn print_rest(&self, to: &mut dyn Write) -> io::Result<()> {
        for given_up in &self.given_up {
            given_up.print(to)?;
        }
        for weight in &self.weights {
            let text = format!(
                "{} {} retain {} ({}): what each program has.",
                grouped(weight.objects),
                plain(&shown(&weight.class)),
                in_units(weight.retained),
                percent(weight.retained, self.total_bytes)
            );
            writeln!(to, "\n{}", screen::prose(&text))?;
        }
        if !self.unreachable.is_none() {
            writeln!(to)?;
        }
        self.unreachable.print(to)
    }
}

/// Prints a stack in at most so many lines.
fn print_frames(
    frames: &[Frame],
    full: bool,
    most: usize,
    indent: &str,
    to: &mut dyn Write,
) -> io::Result<()> {
    let is_library = |place: usize| frames.get(place).is_some_and(Frame::is_library);
    for line in folded(frames.len(), full, is_library)
        .into_iter()
        .take(most)
    {
        match frames.get(line.clone()).unwrap_or_default() {
            [frame] => writeln!(to, "{indent}at {}", plain(&frame.line()))?,
            several => writeln!(to, "{indent}{}", fold(several.len()))?,
        }
    }
    Ok(())
}

impl NativeAnswer {
    fn of(heap: &Heap<'_>, native: &NativeSuspect, words: &Words<'_, '_>) -> Self {
        let group = &native.group;
        let count = |class: u32| heap.objects_of(|it| it == class).count() as u64;
        let owners = native.way.classes.iter().take(ROWS);
        let owners = owners.map(|class| (heap.class_name(*class), count(*class)));
        Self {
            bytes: group.bytes,
            class: heap.class_name(group.class),
            objects: group.objects,
            owners: owners.collect(),
            path: native.path.as_ref().map(|path| words.path(path)),
            sentence: words.native(native),
        }
    }

    fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        if let Some(path) = &self.path {
            path.print(to)?;
        }
        writeln!(
            to,
            "  {} {} with {} outside of the heap",
            grouped(self.objects),
            plain(&shown(&self.class)),
            counted(self.bytes, "byte")
        )?;
        for (class, objects) in &self.owners {
            let class = plain(&shown(class));
            writeln!(
                to,
                "  on the way: {} {class} in the heap",
                grouped(*objects)
            )?;
        }
        Ok(())
    }
}

impl SuspectAnswer {
    fn of(heap: &Heap<'_>, suspect: &Suspect, words: &Words<'_, '_>) -> Self {
        let (object, class, objects) = match suspect.who {
            Who::Object(object) => (Some(object), described(heap, object), 1),
            Who::Class { class, objects } => (None, heap.class_name(class), objects),
        };
        let sites = suspect.sites.sites.iter().take(STACKS);
        let elements = suspect.held.below.iter().take(ELEMENTS).map(|it| Elements {
            class: heap.class_name(it.class),
            objects: it.objects,
            retained: it.bytes,
        });
        let main = suspect.main_path();
        let frame = main.and_then(|path| words.also_held_by(path));
        let also = words.also(suspect).into_iter().chain(frame);
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
            allocated: sites
                .map(|site| Allocated {
                    class: heap.class_name(site.class),
                    frames: words.stacks().frames(site.trace).map(Frame::of).collect(),
                    objects: site.sampled,
                })
                .collect(),
            also: also.collect(),
            class,
            contents: suspect
                .contents
                .iter()
                .map(|step| Step::of(heap, step))
                .collect(),
            elements: elements.collect(),
            holds: holds.collect(),
            id: object.map(|object| id(heap, object)),
            objects,
            path: main.map(|path| words.path(path)),
            retained: suspect.bytes,
            sentence: words.suspect(suspect),
            share: percent(suspect.bytes, words.total_bytes()),
            soft: suspect.soft_bytes,
            stack: main.map_or_else(Vec::new, |path| {
                let frames = words.stack_of(path).into_iter().take(FRAMES_KEPT);
                frames.map(Frame::of).collect()
            }),
        }
    }

    fn print(&self, full: bool, to: &mut dyn Write) -> io::Result<()> {
        if let Some(path) = &self.path {
            path.print(to)?;
        }
        let most = if full { usize::MAX } else { FRAMES };
        print_frames(&self.stack, full, most, "      ", to)?;
        for also in &self.also {
            writeln!(to, "  also held by {}", plain(also))?;
        }
        self.print_elements(to)?;
        self.print_holds(to)?;
        self.print_contents(to)?;
        for allocated in &self.allocated {
            writeln!(
                to,
                "  allocated, by {} of its objects that have a stack: {}",
                grouped(allocated.objects),
                plain(&shown(&allocated.class))
            )?;
            print_frames(&allocated.frames, full, usize::MAX, "    ", to)?;
        }
        Ok(())
    }

    /// What the program put into it.
    fn print_elements(&self, to: &mut dyn Write) -> io::Result<()> {
        if self.elements.is_empty() {
            return Ok(());
        }
        writeln!(to, "  keeps, by retained size:")?;
        let mut table = Table::new([
            ("    objects", Side::Right),
            ("retained", Side::Right),
            ("of class", Side::Left),
        ]);
        for elements in self.elements.iter().take(ROWS) {
            table.row([
                grouped(elements.objects).into(),
                grouped(elements.retained).into(),
                elements.class.clone().into(),
            ]);
        }
        table.print(to)
    }

    fn print_contents(&self, to: &mut dyn Write) -> io::Result<()> {
        if self.contents.len() > 1 {
            writeln!(to, "  one of them:")?;
            for step in &self.contents {
                writeln!(to, "    {}", step.line())?;
            }
        }
        Ok(())
    }

    fn print_holds(&self, to: &mut dyn Write) -> io::Result<()> {
        // The rows are those of an object's accumulation point or of a class's objects.
        let point = self.accumulation.as_ref().filter(|_| self.id.is_some());
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
        for held in self.holds.iter().take(CLASSES) {
            table.row([
                grouped(held.objects).into(),
                grouped(held.bytes).into(),
                held.class.clone().into(),
            ]);
        }
        table.print(to)
    }
}
