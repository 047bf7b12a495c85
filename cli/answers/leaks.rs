//! What keeps the memory: the suspects, each with its path from a root.

use std::ops::Range;

use graph::{GraphError, Group, Heap, NativeSuspect, Suspect, Who, THRESHOLD_PERCENT};
use reader::StackFrame;
use serde_json::{json, Value};

use super::ask::Question;
use super::given_up::given_up;
use super::object::{described, id};
use super::path::{self, Names};
use super::unreachable::unreachable;
use crate::answers::sentence::Words;
use crate::files::heap_file::{Loaded, SizesOf};
use crate::output::folding::{fold, folded, is_library};
use crate::output::frame;
use crate::output::screen;
use crate::output::{
    counted, grouped, in_units, percent, plain, shown, Cell, Failure, Sections, Table,
};

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

/// Says in a sentence what keeps the memory, then shows each suspect
///
/// A suspect is an object that no other one dominates and that retains more than a given share of
/// the heap, or a class whose objects do so together. From the suspect, the search descends to the
/// point where its memory spreads. Retained sizes are exact. Sizes of objects are those of the JVM
/// if it has told them, else by Eclipse MAT's rules, as are suspects.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof leaks heap.hprof")]
pub(crate) struct Leaks {
    /// Least share of the heap for a suspect, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = THRESHOLD_PERCENT, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) threshold: u64,
    /// Print all frames of stacks; without this, those of the JDK and of languages are folded
    #[arg(long)]
    pub(crate) full: bool,
}

impl Question for Leaks {
    fn answer<'a>(&self, loaded: &'a Loaded) -> Result<Sections<'a>, Failure> {
        loaded.check(leaks(loaded, self.threshold, self.full))
    }
}

/// The suspects that retain at least this share; in the text with all frames of stacks, or those of
/// libraries folded. Errors: the file cannot be read.
fn leaks(loaded: &Loaded, threshold_percent: u64, full: bool) -> Result<Sections<'_>, GraphError> {
    let (heap, rule) = (&loaded.heap, loaded.rule.name());
    let found = graph::Leaks::find(heap, &loaded.retained, threshold_percent)?;
    let words = Words::of_leaks(heap, &found)?;
    let sentence = words.verdict(&found, threshold_percent);
    let mut answer = Sections::default();
    answer.fact("damaged", heap.damaged());
    if heap.damaged() > 0 {
        let places = counted(heap.damaged(), "damaged place");
        let text = format!("The dump has {places}; this is about the rest:");
        answer.line(screen::warning(&text));
    }
    answer.fact("sentence", &*sentence);
    answer.line(screen::headline(&plain(&sentence)));
    answer.fact("soft", found.soft_bytes);
    if found.soft_bytes > found.total_bytes / 100 {
        let soft = in_units(found.soft_bytes);
        answer.line(format!("{soft} are only softly reachable."));
    }
    let native = found.native.iter();
    let native = native.map(|it| native_suspect(heap, it, &words, &sentence));
    let mut native = Some(native.collect());
    // The first sentence is about one of them.
    if found.native.iter().any(|it| words.native(it) == sentence) {
        answer.each("native", native.take().unwrap_or_default());
    }
    let suspects = found.suspects.iter();
    let suspects = suspects.map(|it| suspect(heap, it, &words, (&sentence, full)));
    answer.each("suspects", suspects.collect());
    if let Some(native) = native {
        answer.each("native", native);
    }
    answer.each("given_up", given_up(heap)?);
    let weights = found.weights.iter();
    let weights = weights.map(|group| weight(heap, group, found.total_bytes));
    answer.each("weights", weights.collect());
    unreachable(&mut answer, loaded, "\n");
    answer.fact("references", rule);
    answer.fact("threshold_percent", threshold_percent);
    answer.fact("total_bytes", found.total_bytes);
    let sizes = SizesOf::from(heap.sizes());
    answer.json("sizes", sizes);
    let rules = format!("References: {rule}; sizes by {}.", sizes.words());
    answer.line(format!("\n{}", screen::aside(&rules)));
    Ok(answer)
}

/// A class whose objects retain as much as a suspect, but in each program.
fn weight<'a>(heap: &Heap<'_>, group: &Group, total_bytes: u64) -> Sections<'a> {
    let mut answer = Sections::default();
    let class = heap.class_name(group.class);
    let text = format!(
        "{} {} retain {} ({}): what each program has.",
        grouped(group.objects),
        plain(&shown(&class)),
        in_units(group.bytes),
        percent(group.bytes, total_bytes)
    );
    answer.line(format!("\n{}", screen::prose(&text)));
    answer.fact("class", class);
    answer.fact("objects", group.objects);
    answer.fact("retained", group.bytes);
    answer
}

/// A stack in at most so many lines.
fn frame_lines(frames: &[&StackFrame], full: bool, most: usize, indent: &str) -> Vec<String> {
    let is_library = |place: usize| frames.get(place).is_some_and(|it| is_library(&it.class));
    let lines = folded(frames.len(), full, is_library).into_iter();
    let line = |line: Range<usize>| match frames.get(line).unwrap_or_default() {
        [frame] => format!("{indent}at {}", plain(&frame::line(frame))),
        several => format!("{indent}{}", fold(several.len())),
    };
    lines.take(most).map(line).collect()
}

/// The sentence, unless it is the first of the answer, which stands above.
fn begin(answer: &mut Sections<'_>, sentence: String, first: &str) {
    answer.line("");
    if sentence != first {
        answer.line(screen::prose(&plain(&sentence)));
    }
    answer.fact("sentence", sentence);
}

/// Memory outside of the heap with one owner.
fn native_suspect<'a>(
    heap: &'a Heap<'_>,
    native: &NativeSuspect,
    words: &Words<'_, '_>,
    first: &str,
) -> Sections<'a> {
    let (mut answer, group) = (Sections::default(), &native.group);
    begin(&mut answer, words.native(native), first);
    path::add(&mut answer, heap, native.path.as_ref(), &words.threads);
    let class = heap.class_name(group.class);
    let (count, name) = (grouped(group.objects), plain(&shown(&class)));
    let bytes = counted(group.bytes, "byte");
    answer.line(format!("  {count} {name} with {bytes} outside of the heap"));
    answer.fact("bytes", group.bytes);
    answer.fact("class", class);
    answer.fact("objects", group.objects);
    // The classes of the objects between the owner and them, outermost first, and how many of them
    // the heap has.
    let count = |class: u32| heap.objects_of(|it| it == class).count() as u64;
    let owners = native.way.classes.iter().take(ROWS);
    let owners = owners.map(|class| (heap.class_name(*class), count(*class)));
    let owners: Vec<(String, u64)> = owners.collect();
    for (class, objects) in &owners {
        let (objects, class) = (grouped(*objects), plain(&shown(class)));
        answer.line(format!("  on the way: {objects} {class} in the heap"));
    }
    answer.json("owners", owners);
    answer
}

fn suspect<'a>(
    heap: &'a Heap<'_>,
    suspect: &Suspect,
    words: &Words<'_, '_>,
    (first, full): (&str, bool),
) -> Sections<'a> {
    let mut answer = Sections::default();
    begin(&mut answer, words.suspect(suspect), first);
    let (object, class, objects) = match suspect.who {
        Who::Object(object) => (Some(object), described(heap, object), 1),
        Who::Class { class, objects } => (None, heap.class_name(class), objects),
    };
    // `None` for a class.
    answer.fact("id", object.map(|object| id(heap, object)));
    answer.fact("class", class);
    answer.fact("objects", objects);
    answer.fact("retained", suspect.bytes);
    answer.fact("share", Cell::Share(suspect.bytes, words.total_bytes));
    answer.fact("soft", suspect.soft_bytes);
    let main = suspect.main_path();
    path::add(&mut answer, heap, main, &words.threads);
    // The stack of the thread, if the suspect is threads.
    let stack = main.map_or_else(Vec::new, |path| words.stack_of(path));
    let stack = stack.get(..FRAMES_KEPT).unwrap_or(&stack);
    let most = if full { usize::MAX } else { FRAMES };
    answer.lines(frame_lines(stack, full, most, "      "));
    answer.fact("stack", frame::in_json(stack.iter().copied()));
    // What else holds it: a static field, a frame of a thread.
    let frame = main.and_then(|path| words.also_held_by(path));
    // The sentence names the field.
    let line = |also: &String| format!("  also held by {}", plain(also));
    answer.lines(frame.iter().map(line));
    let also: Vec<String> = words.also(suspect).into_iter().chain(frame).collect();
    answer.json("also", also);
    held(&mut answer, heap, suspect);
    allocated(&mut answer, heap, suspect, (words, full));
    answer
}

/// What a suspect holds: what the program put into it, the classes of its objects, and one of them.
fn held<'a>(answer: &mut Sections<'a>, heap: &'a Heap<'_>, suspect: &Suspect) {
    let name = move |class: u32| heap.class_name(class);
    if !suspect.held.below.is_empty() {
        answer.line("  keeps, by retained size:");
    }
    let elements = suspect.held.below.iter().copied().take(ELEMENTS);
    let elements = Table::of(elements, usize::MAX)
        .right("    objects", "objects", |row| row.objects)
        .right("retained", "retained", |row| row.bytes)
        .left("of class", "class", move |row| name(row.class));
    answer.table("elements", "", elements.shown(ROWS));
    // The rows are those of an object's accumulation point or of a class's objects.
    let point = suspect.accumulation;
    let bytes = match suspect.who {
        Who::Object(_) if point.is_some() => suspect.accumulated_bytes,
        _ => suspect.bytes,
    };
    let (units, bytes) = (in_units(bytes), grouped(bytes));
    answer.line(format!("  holds {units} ({bytes} bytes):"));
    let holds = Table::of(suspect.holds.clone(), usize::MAX)
        .right("    objects", "objects", |row| row.objects)
        .right("bytes", "bytes", |row| row.bytes)
        .left("of class", "class", move |row| name(row.class));
    answer.table("holds", "", holds.shown(CLASSES));
    let point = point.map(|point| {
        json!({
            "class": described(heap, point),
            "id": id(heap, point),
            "retained": suspect.accumulated_bytes,
        })
    });
    answer.json("accumulation", point);
    let contents = suspect.contents.iter();
    let contents = contents.map(|step| path::step(heap, step, &Names::new()));
    let (lines, contents): (Vec<String>, Vec<Value>) = contents.unzip();
    if lines.len() > 1 {
        answer.line("  one of them:");
        answer.lines(lines.iter().map(|line| format!("    {line}")));
    }
    answer.json("contents", contents);
}

/// The stacks that allocated most of its sampled objects.
fn allocated(
    answer: &mut Sections<'_>,
    heap: &Heap<'_>,
    suspect: &Suspect,
    (words, full): (&Words<'_, '_>, bool),
) {
    let stack = |site: &graph::HeldSite| {
        let (mut answer, class) = (Sections::default(), heap.class_name(site.class));
        let (some, name) = (grouped(site.sampled), plain(&shown(&class)));
        answer.line(format!(
            "  allocated, by {some} of its objects that have a stack: {name}"
        ));
        let frames = || words.stacks.frames(site.trace);
        let all: Vec<&StackFrame> = frames().collect();
        answer.lines(frame_lines(&all, full, usize::MAX, "    "));
        answer.fact("class", class);
        answer.fact("frames", frame::in_json(frames()));
        answer.fact("objects", site.sampled);
        answer
    };
    let sites = suspect.sites.sites.iter().take(STACKS);
    answer.each("allocated", sites.map(stack).collect());
}
