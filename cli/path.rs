//! `hprof path`: why is this object alive?

use std::io::{self, BufWriter, Write};

use graph::{Heap, Leaks, Retained};
use serde_json::{json, Value};

use crate::dump_file::DumpFile;
use crate::heap_file::{failure, with_heap, GraphArguments};
use crate::json;
use crate::leaks::{described, path_in_json};
use crate::number::counted;
use crate::outcome::{Failure, Verdict};
use crate::sentence::{root_name, Words};

/// Prints the shortest path from a root to an object, with the fields on it
///
/// References that do not keep an object alive (weak, soft, phantom, finalizer) are only used if no other path
/// leads to it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hprof path heap.hprof com.acme.Session\n  hprof path heap.hprof 0x7f1c3a80"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The object's id, or a class: then its objects with the largest retained sizes
    #[arg(value_name = "CLASS|0xID")]
    what: String,
    /// Print paths to at most N objects of a class; 0 for all
    #[arg(long, value_name = "N", default_value_t = 3)]
    top: usize,
}

/// Reads the file and prints the paths.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    with_heap(&arguments.graph, |heap, retained, file| {
        let objects = wanted(heap, retained, arguments, file)?;
        let failed = |fault| failure(file, &fault);
        let paths = heap.paths(&objects).map_err(failed)?;
        let none = Leaks {
            total_bytes: retained.total_bytes(),
            suspects: Vec::new(),
        };
        let words = Words::new(heap, &none).map_err(failed)?;
        let mut to = BufWriter::new(io::stdout().lock());
        let mut rows: Vec<Value> = Vec::new();
        for (object, path) in objects.iter().zip(&paths) {
            if arguments.json {
                rows.push(json!({
                    "class": described(heap, *object),
                    "id": format!("{:#x}", heap.id(*object)),
                    "path": path.as_ref().map(|path| path_in_json(heap, path)),
                    "retained": retained.bytes(*object),
                }));
                continue;
            }
            let bytes = counted(retained.bytes(*object), "byte");
            let Some(path) = path else {
                writeln!(to, "{}: no root leads to it", words.object(*object))?;
                continue;
            };
            let weak = if path.is_weak {
                ", by a weak reference"
            } else {
                ""
            };
            let root = root_name(path.root);
            writeln!(
                to,
                "{} retains {bytes} (root: {root}{weak})",
                words.object(*object)
            )?;
            for line in words.path(path) {
                writeln!(to, "    {line}")?;
            }
        }
        if arguments.json {
            json::print(&json!({ "paths": rows }), &mut to)?;
        }
        Ok(to.flush()?)
    })
}

/// The object with this id, or the class's largest ones.
fn wanted(
    heap: &Heap<'_>,
    retained: &Retained,
    arguments: &Arguments,
    file: &DumpFile,
) -> Result<Vec<u32>, Failure> {
    let what = arguments.what.as_str();
    if what.starts_with("0x") {
        return Ok(vec![object_with_id(heap, what, file)?]);
    }
    let classes: Vec<bool> = (0..heap.classes())
        .map(|class| heap.class_name(class) == what)
        .collect();
    if !classes.contains(&true) {
        let hint = "names look like java.lang.String or int[]; `hprof histo` lists them";
        return Err(file.refuse(format!("no class is called {what}; {hint}")));
    }
    let is_one = |object: &u32| classes.get(heap.class(*object) as usize) == Some(&true);
    let mut objects: Vec<u32> = (0..heap.objects()).filter(is_one).collect();
    if objects.is_empty() {
        return Err(file.refuse(format!("the dump has no object of {what}")));
    }
    objects.sort_by_key(|object| std::cmp::Reverse(retained.bytes(*object)));
    if arguments.top > 0 && arguments.top < objects.len() {
        objects.truncate(arguments.top);
    }
    Ok(objects)
}

/// The object with an id such as `0x7f1c3a80`.
pub(crate) fn object_with_id(heap: &Heap<'_>, id: &str, file: &DumpFile) -> Result<u32, Failure> {
    let digits = id.strip_prefix("0x").unwrap_or_default();
    let number = u64::from_str_radix(digits, 16)
        .map_err(|_| file.refuse(format!("{id} is not an id: ids look like 0x7f1c3a80")))?;
    let missing = || file.refuse(format!("no object has the id {id}; `hprof top` lists ids"));
    heap.object(number).ok_or_else(missing)
}
