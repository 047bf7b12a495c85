//! `hprof leaks`: what keeps the memory?

use std::io::{self, BufWriter, Write};

use graph::{GraphError, Heap, Leaks, Path, Suspect, Who, THRESHOLD_PERCENT};
use serde_json::{json, Map, Value};

use crate::frame;
use crate::heap_file::{failure, sizes_by, sizes_word, with_loaded, GraphArguments, Loaded, Rule};
use crate::index::Index;
use crate::json;
use crate::number::{grouped, in_units, percent};
use crate::outcome::{Failure, Verdict};
use crate::path_json::PathInJson;
use crate::plain::{plain, shown};
use crate::sentence::{root_name, Words};
use crate::table::{Side, Table};

/// Number of stacks printed for the objects that a suspect holds.
const STACKS: usize = 3;

/// Says what keeps the memory: one sentence, then each suspect with its path from a root
///
/// A suspect is an object that no other one dominates and that retains more than a given share of the heap, or a class
/// whose objects do so together. From the suspect, the search descends to the point where its memory spreads. Retained
/// sizes are exact. Sizes of objects are those of the JVM if it has told them, else by Eclipse MAT's rules, as are suspects.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof leaks heap.hprof")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Least share of the heap for a suspect, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = THRESHOLD_PERCENT, value_parser = clap::value_parser!(u64).range(1..=100))]
    threshold: u64,
    /// Neither read nor write the index beside the dump
    #[arg(long)]
    no_index: bool,
}

/// The name of this question in an index.
pub(crate) const QUESTION: &str = "leaks";

/// Reads the file and prints the suspects.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let is_indexed = !arguments.no_index && arguments.threshold == THRESHOLD_PERCENT;
    let index = is_indexed.then(|| Index::of(&arguments.graph)).flatten();
    let answer = index
        .as_ref()
        .and_then(|index| Kept::of(index.answer(QUESTION, &arguments.graph)?));
    if let (Some(answer), Some(index)) = (answer, &index) {
        index.tell();
        answer.print(arguments.json, &mut io::stdout().lock())?;
        return Ok(Verdict::Sound);
    }
    with_loaded(&arguments.graph, 2, |loaded| {
        let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
        file.done();
        let failed = |fault| failure(file, &fault);
        let leaks = Leaks::find(heap, retained, arguments.threshold).map_err(failed)?;
        let words = Words::new(heap, &leaks).map_err(failed)?;
        let mut to = BufWriter::new(io::stdout().lock());
        if arguments.json {
            let asked = (arguments.graph.references, arguments.threshold);
            let answer = in_json(heap, &leaks, &words, asked);
            json::print(&file.with_pause(answer), &mut to)?;
        } else {
            let asked = (arguments.graph.references, arguments.threshold);
            print(heap, &leaks, &words, asked, &mut to)?;
        }
        to.flush()?;
        if let Some(index) = index {
            index.keep(loaded, &arguments.graph);
        }
        Ok(())
    })
}

/// The answer as an index keeps it: in JSON and as text. `None` if the file cannot be read.
pub(crate) fn kept(loaded: &Loaded<'_>) -> Option<Value> {
    let heap = &loaded.heap;
    let leaks = Leaks::find(heap, &loaded.retained, THRESHOLD_PERCENT).ok()?;
    let words = Words::new(heap, &leaks).ok()?;
    let asked = (loaded.rule, THRESHOLD_PERCENT);
    let mut text = Vec::new();
    print(heap, &leaks, &words, asked, &mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    Some(json!({ "json": in_json(heap, &leaks, &words, asked), "text": text }))
}

/// What [`kept`] has made.
struct Kept<'a> {
    json: &'a Map<String, Value>,
    text: &'a str,
}

impl<'a> Kept<'a> {
    /// `None` if it is no such answer.
    fn of(answer: &'a Value) -> Option<Self> {
        Some(Self {
            json: answer.get("json")?.as_object()?,
            text: answer.get("text")?.as_str()?,
        })
    }

    fn print(&self, in_json: bool, to: &mut dyn Write) -> io::Result<()> {
        if in_json {
            return json::print(self.json, to);
        }
        let mut lines = self.text.lines();
        lines.try_for_each(|line| writeln!(to, "{}", plain(line)))
    }
}

fn print(
    heap: &Heap<'_>,
    leaks: &Leaks,
    words: &Words<'_, '_>,
    (rule, threshold_percent): (Rule, u64),
    to: &mut dyn Write,
) -> io::Result<()> {
    writeln!(to, "{}", words.verdict(leaks, threshold_percent))?;
    for (number, suspect) in leaks.suspects.iter().enumerate() {
        writeln!(to)?;
        if number > 0 {
            writeln!(to, "{}", words.suspect(suspect))?;
        }
        if let Some(path) = &suspect.path {
            print_path(path, words, to)?;
        }
        print_holds(heap, suspect, to)?;
        print_stacks(heap, suspect, words, to)?;
    }
    writeln!(
        to,
        "\nReferences: {}; sizes by {}.",
        rule.name(),
        sizes_by(heap.sizes())
    )
}

fn print_path(path: &Path, words: &Words<'_, '_>, to: &mut dyn Write) -> io::Result<()> {
    let weak = if path.is_weak {
        ", by a weak reference"
    } else {
        ""
    };
    writeln!(to, "  path from a root ({}{weak}):", root_name(path.root))?;
    for line in words.path(path) {
        writeln!(to, "    {line}")?;
    }
    Ok(())
}

fn print_holds(heap: &Heap<'_>, suspect: &Suspect, to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("    objects", Side::Right),
        ("bytes", Side::Right),
        ("of class", Side::Left),
    ]);
    for group in &suspect.holds {
        table.row([
            grouped(group.objects).into(),
            grouped(group.bytes).into(),
            heap.class_name(group.class).into(),
        ]);
    }
    writeln!(
        to,
        "  holds {} ({} bytes):",
        in_units(suspect.bytes),
        grouped(suspect.bytes)
    )?;
    table.print(to)
}

fn print_stacks(
    heap: &Heap<'_>,
    suspect: &Suspect,
    words: &Words<'_, '_>,
    to: &mut dyn Write,
) -> io::Result<()> {
    for (class, trace, objects) in suspect.traces.iter().take(STACKS) {
        let class = heap.class_name(*class);
        writeln!(
            to,
            "  allocated, by {} of its objects that have a stack: {}",
            grouped(*objects),
            plain(&shown(&class))
        )?;
        for frame in words.stacks().frames(*trace) {
            writeln!(to, "    at {}", plain(&frame::line(frame)))?;
        }
    }
    Ok(())
}

/// What `--json` prints, for a heap that is in memory. Errors: the file cannot be read.
pub(crate) fn answer(loaded: &Loaded<'_>, threshold_percent: u64) -> Result<Value, GraphError> {
    let heap = &loaded.heap;
    let leaks = Leaks::find(heap, &loaded.retained, threshold_percent)?;
    let words = Words::new(heap, &leaks)?;
    Ok(in_json(
        heap,
        &leaks,
        &words,
        (loaded.rule, threshold_percent),
    ))
}

fn in_json(
    heap: &Heap<'_>,
    leaks: &Leaks,
    words: &Words<'_, '_>,
    (rule, threshold_percent): (Rule, u64),
) -> Value {
    let suspects = leaks.suspects.iter();
    let suspects: Vec<Value> = suspects
        .map(|suspect| suspect_in_json(heap, suspect, words))
        .collect();
    json!({
        "damaged": heap.damaged(),
        "references": rule.name(),
        "sentence": words.verdict(leaks, threshold_percent),
        "sizes": sizes_word(heap.sizes()),
        "suspects": suspects,
        "threshold_percent": threshold_percent,
        "total_bytes": leaks.total_bytes,
    })
}

fn suspect_in_json(heap: &Heap<'_>, suspect: &Suspect, words: &Words<'_, '_>) -> Value {
    let (object, class, objects) = match suspect.who {
        Who::Object(object) => (Some(object), described(heap, object), 1),
        Who::Class { class, objects } => (None, heap.class_name(class), objects),
    };
    let holds = suspect.holds.iter().map(|group| {
        json!({ "bytes": group.bytes, "class": heap.class_name(group.class), "objects": group.objects })
    });
    let traces = suspect
        .traces
        .iter()
        .take(STACKS)
        .map(|(class, trace, objects)| {
            let frames = frame::in_json(words.stacks().frames(*trace));
            json!({ "class": heap.class_name(*class), "frames": frames, "objects": objects })
        });
    json!({
        "accumulation": suspect.accumulation.map(|point| json!({
            "class": described(heap, point),
            "id": format!("{:#x}", heap.id(point)),
            "retained": suspect.accumulated_bytes,
        })),
        "allocated": traces.collect::<Vec<_>>(),
        "class": class,
        "holds": holds.collect::<Vec<_>>(),
        "id": object.map(|object| format!("{:#x}", heap.id(object))),
        "objects": objects,
        "path": suspect.path.as_ref().map(|path| json!(PathInJson(heap, path))),
        "retained": suspect.bytes,
        "sentence": words.suspect(suspect),
        "share": percent(suspect.bytes, words.total_bytes()),
    })
}

/// Name of the object's class; for a class object, `class` and its name.
pub(crate) fn described(heap: &Heap<'_>, object: u32) -> String {
    match heap.class_of_object(object) {
        Some(class) => format!("class {}", heap.class_name(class)),
        None => heap.class_name(heap.class(object)),
    }
}
