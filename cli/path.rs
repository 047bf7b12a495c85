//! `hprof path`: why is this object alive?

use format::is_spelling;
use graph::{Heap, Retained, PATH_STEPS};
use serde_json::{json, Value};

use crate::answer::paths::PathsAnswer;
use crate::dump_file::DumpFile;
use crate::heap_file::{failure, with_loaded, GraphArguments, Loaded};
use crate::number::limit;
use crate::outcome::{Failure, Verdict};
use crate::stdout::print_answer;

/// Says why an object is alive: the shortest path from a root
///
/// The path names the fields on it. Below it is the stack that allocated the object.
/// A dump has such stacks if the agent kept them (`heap=all`), by default those of a sample.
/// References that do not keep an object alive (weak, soft, phantom, finalizer) are only used if no
/// other path leads to it.
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
    /// Print at most N objects of a path, from both of its ends; 0 for all
    #[arg(long, value_name = "N", default_value_t = PATH_STEPS)]
    steps: usize,
}

/// Most classes that are suggested for a name that no class has.
const SUGGESTIONS: usize = 3;

/// Reads the file and prints the paths.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    with_loaded(&arguments.graph, 2, |loaded| {
        let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
        file.done();
        let (most, steps) = (limit(arguments.top), limit(arguments.steps));
        let objects = wanted((heap, retained), &arguments.what, most, file)?;
        let pause = file.pause_millis();
        let answer = PathsAnswer::of((heap, retained), objects, steps, pause);
        let answer = answer.map_err(|fault| failure(file, &fault))?;
        Ok(print_answer(arguments.json, &answer, |to| {
            answer.print(to)
        })?)
    })
}

/// What `--json` prints, for a heap that is in memory. Errors: no object is called so; the file
/// cannot be read.
pub(crate) fn answer(loaded: &Loaded<'_>, what: &str, most: usize) -> Result<Value, Failure> {
    let both = (&loaded.heap, &loaded.retained);
    let objects = wanted(both, what, most, &loaded.file)?;
    let answer = PathsAnswer::of(both, objects, PATH_STEPS, None);
    Ok(json!(answer.map_err(|fault| failure(&loaded.file, &fault))?))
}

/// The object with this id, or the class's largest ones and how many more it has.
fn wanted(
    (heap, retained): (&Heap<'_>, &Retained),
    what: &str,
    most: usize,
    file: &DumpFile,
) -> Result<(Vec<u32>, usize), Failure> {
    if what.starts_with("0x") {
        return Ok((vec![object_with_id(heap, what, file)?], 0));
    }
    let mut objects = objects_of_class((heap, retained), what, file)?;
    let left_out = objects.len().saturating_sub(most);
    objects.truncate(most);
    Ok((objects, left_out))
}

/// All objects of the classes with this name, largest retained size first.
///
/// Errors: there is no such class, or no object of it.
pub(crate) fn objects_of(loaded: &Loaded<'_>, class: &str) -> Result<Vec<u32>, Failure> {
    objects_of_class((&loaded.heap, &loaded.retained), class, &loaded.file)
}

fn objects_of_class(
    (heap, retained): (&Heap<'_>, &Retained),
    what: &str,
    file: &DumpFile,
) -> Result<Vec<u32>, Failure> {
    let names: Vec<String> = (0..heap.classes())
        .map(|class| heap.class_name(class))
        .collect();
    let mut classes: Vec<bool> = names.iter().map(|name| name == what).collect();
    if !classes.contains(&true) {
        let spelled = names.iter().map(|name| is_spelling(name, what));
        classes = spelled.collect();
    }
    if !classes.contains(&true) {
        let hint = match meant(heap, what) {
            Some(names) => format!("did you mean {names}?"),
            None => {
                "names look like java.lang.String or int[]; `hprof histo` lists them".to_owned()
            }
        };
        return Err(file.refuse(format!("no class is called {what}; {hint}")));
    }
    let is_one = |object: &u32| classes.get(heap.class(*object) as usize) == Some(&true);
    let mut objects: Vec<u32> = (0..heap.objects()).filter(is_one).collect();
    if objects.is_empty() {
        return Err(file.refuse(format!("the dump has no object of {what}")));
    }
    objects.sort_by_key(|object| std::cmp::Reverse(retained.bytes(*object)));
    Ok(objects)
}

/// Up to three classes whose names end with this one, in any case of letters.
fn meant(heap: &Heap<'_>, what: &str) -> Option<String> {
    let what = what.to_lowercase();
    let is_meant = |name: &String| {
        let name = name.to_lowercase();
        let before = name.strip_suffix(&what);
        before.is_some_and(|before| before.is_empty() || before.ends_with(['.', '$', '/']))
    };
    let names = (0..heap.classes()).map(|class| heap.class_name(class));
    let mut names: Vec<String> = names.filter(is_meant).collect();
    names.sort();
    names.dedup();
    names.truncate(SUGGESTIONS);
    (!names.is_empty() && !what.is_empty()).then(|| names.join(", "))
}

/// The object with an id such as `0x7f1c3a80`.
pub(crate) fn object_with_id(heap: &Heap<'_>, id: &str, file: &DumpFile) -> Result<u32, Failure> {
    let digits = id.strip_prefix("0x").unwrap_or_default();
    let number = u64::from_str_radix(digits, 16)
        .map_err(|_| file.refuse(format!("{id} is not an id: ids look like 0x7f1c3a80")))?;
    let missing = || file.refuse(format!("no object has the id {id}; `hprof top` lists ids"));
    heap.object(number).ok_or_else(missing)
}
