//! `hprof top`: which objects, classes, packages, loaders, threads or lines of code retain most?

mod kept;
pub(crate) mod sites;
mod threads;

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use clap::ValueEnum;
use graph::{Heap, Retained, Total};
use serde_json::{json, Value};

use crate::dump_file::DumpFile;
use crate::heap_file::{failure, sizes_by, sizes_word, with_loaded, GraphArguments, Loaded};
use crate::index::{self, Index};
use crate::json;
use crate::leaks::described;
use crate::number::{counted, grouped};
use crate::outcome::{Failure, Verdict};
use crate::table::{Side, Table};

/// Lists what retains the most memory
///
/// `retained` is what would be freed with an object: its own bytes and those of all objects that it alone keeps
/// alive. It is exact. A class, package or loader retains at least the sum of what its objects retain, with each byte
/// counted once. A thread retains what its frames and fields alone keep alive. Unreachable objects are left out. A site retains what its objects do, except those that another
/// object of their class dominates. If the profiler sampled, this is an estimate, and `error` is its standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof top heap.hprof --by class --top 20")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// What to list
    #[arg(long, value_enum, default_value_t = By::Object)]
    by: By,
    /// Print at most N rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 30)]
    top: usize,
    /// Neither read nor write the index beside the dump
    #[arg(long)]
    no_index: bool,
}

impl Arguments {
    /// Prints what an index has; false if it does not have it.
    fn print_kept(&self, index: &Index) -> io::Result<bool> {
        let has_rows = self.by != By::Site && (1..=index::ROWS).contains(&self.top);
        let answer = index.answer(self.by.question(), &self.graph);
        let answer = answer.filter(|answer| has_rows && kept::is_whole(answer, self.by));
        let Some(answer) = answer else {
            return Ok(false);
        };
        index.tell();
        let mut to = BufWriter::new(io::stdout().lock());
        kept::print(answer, self, &mut to)?;
        to.flush()?;
        Ok(true)
    }
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Single objects, dominated ones after their dominators
    Object,
    /// Classes
    Class,
    /// Packages of classes
    Package,
    /// Class loaders
    Loader,
    /// Threads
    Thread,
    /// Stacks that allocated, in dumps made with the agent's heap=all
    Site,
}

impl By {
    /// The name of the question in an index.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Object => "top object",
            Self::Class => "top class",
            Self::Package => "top package",
            Self::Loader => "top loader",
            Self::Thread => "top thread",
            Self::Site => "top site",
        }
    }
}

/// Reads the file and prints the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let is_indexed = !arguments.no_index;
    let index = is_indexed.then(|| Index::of(&arguments.graph)).flatten();
    if let Some(index) = &index {
        if arguments.print_kept(index)? {
            return Ok(Verdict::Sound);
        }
    }
    with_loaded(&arguments.graph, 2, |loaded| {
        let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
        file.done();
        let most = match arguments.top {
            0 => usize::MAX,
            top => top,
        };
        let mut to = BufWriter::new(io::stdout().lock());
        match arguments.by {
            By::Object => {
                let in_json = arguments.json.then_some(file);
                objects(heap, retained, most, in_json, &mut to)?;
            }
            By::Site => {
                let rows = sites::rows(heap, retained, file)?;
                if arguments.json {
                    let answer = sites::in_json(heap, &rows, most);
                    json::print(&file.with_pause(answer), &mut to)?;
                } else {
                    sites::print(heap, &rows, most, &mut to)?;
                }
            }
            By::Thread => {
                let answer = answer(loaded, By::Thread, most)?;
                if arguments.json {
                    json::print(&file.with_pause(answer), &mut to)?;
                } else {
                    threads::print(kept::rows(&answer, By::Thread), &mut to)?;
                }
            }
            by => {
                let rows = group_rows(heap, retained, by);
                if arguments.json {
                    let answer = groups_in_json(&rows, by, most, loaded);
                    json::print(&file.with_pause(answer), &mut to)?;
                } else {
                    groups(rows, by, most, &mut to)?;
                }
            }
        }
        to.flush()?;
        if let Some(index) = index {
            index.keep(loaded, &arguments.graph);
        }
        Ok(())
    })
}

fn objects(
    heap: &Heap<'_>,
    retained: &Retained,
    most: usize,
    in_json: Option<&DumpFile>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let objects = retained.largest(most);
    if let Some(file) = in_json {
        let rows = objects
            .iter()
            .map(|object| object_in_json(heap, retained, *object));
        // A dump has more objects than fit into memory as one JSON value.
        writeln!(to, "{{\"objects\":[")?;
        for (place, row) in rows.enumerate() {
            writeln!(to, "{}{row}", if place == 0 { "" } else { "," })?;
        }
        let left_out = left_out(retained, objects.len());
        let total = retained.total_bytes();
        let sizes = sizes_word(heap.sizes());
        write!(
            to,
            "],\"left_out\":{left_out},\"sizes\":\"{sizes}\",\"total_bytes\":{total}"
        )?;
        if let Some(millis) = file.pause_millis() {
            write!(to, ",\"pause_ms\":{millis}")?;
        }
        return writeln!(to, "}}");
    }
    let mut table = Table::new([
        ("retained", Side::Right),
        ("shallow", Side::Right),
        ("object", Side::Left),
        ("class", Side::Left),
    ]);
    for object in objects {
        table.row([
            grouped(retained.bytes(object)).into(),
            grouped(heap.shallow_bytes(object)).into(),
            format!("{:#x}", heap.id(object)).into(),
            described(heap, object).into(),
        ]);
    }
    table.print(to)?;
    let all = counted(retained.reachable().into(), "reachable object");
    let (bytes, by) = (grouped(retained.total_bytes()), sizes_by(heap.sizes()));
    writeln!(to, "{bytes} bytes in {all}; sizes by {by}")
}

/// What `--json` prints, for a heap that is in memory and a few rows. Errors: the dump has no sites; the
/// file cannot be read.
pub(crate) fn answer(loaded: &Loaded<'_>, by: By, most: usize) -> Result<Value, Failure> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    Ok(match by {
        By::Object => {
            let objects = retained.largest(most);
            let left_out = left_out(retained, objects.len());
            let rows = objects
                .iter()
                .map(|object| object_in_json(heap, retained, *object));
            json!({
                "left_out": left_out,
                "objects": rows.collect::<Vec<_>>(),
                "sizes": sizes_word(heap.sizes()),
                "total_bytes": retained.total_bytes(),
            })
        }
        By::Site => sites::in_json(heap, &sites::rows(heap, retained, &loaded.file)?, most),
        By::Thread => {
            threads::in_json(loaded, most).map_err(|fault| failure(&loaded.file, &fault))?
        }
        by => groups_in_json(&group_rows(heap, retained, by), by, most, loaded),
    })
}

/// Reachable objects that are not among these many.
fn left_out(retained: &Retained, listed: usize) -> usize {
    (retained.reachable() as usize).saturating_sub(listed)
}

/// An object as JSON: class, id and sizes.
pub(crate) fn object_in_json(heap: &Heap<'_>, retained: &Retained, object: u32) -> Value {
    json!({
        "class": described(heap, object),
        "id": format!("{:#x}", heap.id(object)),
        "retained": retained.bytes(object),
        "shallow": heap.shallow_bytes(object),
    })
}

/// The groups that have reachable objects, largest retained size first.
fn group_rows(heap: &Heap<'_>, retained: &Retained, by: By) -> Vec<(String, Total)> {
    let (names, of_class) = named_groups(heap, by);
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let group = |object| {
        let class = heap.class(object) as usize;
        of_class.get(class).copied().unwrap_or(u32::MAX)
    };
    let totals = retained.totals(heap, count, group);
    let mut rows: Vec<(String, Total)> = names.into_iter().zip(totals).collect();
    rows.retain(|(_, total)| total.objects > 0);
    rows.sort_by(|(a, one), (b, other)| {
        let bytes = other.retained_bytes.cmp(&one.retained_bytes);
        bytes.then_with(|| a.cmp(b))
    });
    rows
}

/// Names of classes, and the rows of `--by class` as JSON, largest retained size first.
pub(crate) fn class_rows(heap: &Heap<'_>, retained: &Retained) -> Vec<(String, Value)> {
    let rows = group_rows(heap, retained, By::Class).into_iter();
    rows.map(|(name, total)| {
        let row = row_in_json(By::Class, &name, &total);
        (name, row)
    })
    .collect()
}

fn row_in_json(by: By, name: &str, total: &Total) -> Value {
    json!({
        title(by): name,
        "objects": total.objects,
        "retained": total.retained_bytes,
        "shallow": total.shallow_bytes,
    })
}

fn groups_in_json(rows: &[(String, Total)], by: By, most: usize, loaded: &Loaded<'_>) -> Value {
    let left_out = rows.len().saturating_sub(most);
    let rows = rows.iter().take(most);
    let rows: Vec<Value> = rows
        .map(|(name, total)| row_in_json(by, name, total))
        .collect();
    json!({
        "left_out": left_out,
        "rows": rows,
        "sizes": sizes_word(loaded.heap.sizes()),
        "total_bytes": loaded.retained.total_bytes(),
    })
}

/// What a row is called.
fn title(by: By) -> &'static str {
    match by {
        By::Package => "package",
        By::Loader => "loader",
        By::Thread => "thread",
        By::Object | By::Class | By::Site => "class",
    }
}

fn groups(rows: Vec<(String, Total)>, by: By, most: usize, to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("retained", Side::Right),
        ("shallow", Side::Right),
        ("objects", Side::Right),
        (title(by), Side::Left),
    ]);
    for (name, total) in rows.into_iter().take(most) {
        table.row([
            grouped(total.retained_bytes).into(),
            grouped(total.shallow_bytes).into(),
            grouped(total.objects).into(),
            name.into(),
        ]);
    }
    table.print(to)
}

/// The names of all groups, and each class's group number.
fn named_groups(heap: &Heap<'_>, by: By) -> (Vec<String>, Vec<u32>) {
    let (mut names, mut numbers) = (Vec::new(), HashMap::new());
    let of_class = (0..heap.classes()).map(|class| {
        let name = match by {
            By::Package => package(&heap.class_name(class)),
            By::Loader => loader(heap, class),
            // Two classes with the same name have two loaders, and two rows.
            By::Object | By::Class | By::Thread | By::Site => {
                format!("{}\0{class}", heap.class_name(class))
            }
        };
        *numbers.entry(name.clone()).or_insert_with(|| {
            let shown = name.split('\0').next().unwrap_or_default();
            names.push(shown.to_owned());
            u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
        })
    });
    let of_class = of_class.collect();
    (names, of_class)
}

/// `app.model` for `app.model.User[]`; primitive arrays have their own group.
fn package(class: &str) -> String {
    let element = class.trim_end_matches("[]");
    // The suffix of a hidden class has a slash.
    let plain = element.split('/').next().unwrap_or(element);
    match plain.rsplit_once('.') {
        Some((package, _)) => package.to_owned(),
        None if class.ends_with("[]") && element.starts_with(|c: char| c.is_lowercase()) => {
            "(primitive arrays)".to_owned()
        }
        None => "(no package)".to_owned(),
    }
}

fn loader(heap: &Heap<'_>, class: u32) -> String {
    let directory = heap.directory();
    let loader = directory
        .classes
        .at(class as usize)
        .map_or(0, |class| class.loader);
    match heap.object(loader) {
        Some(object) if loader != 0 => format!("{} {loader:#x}", described(heap, object)),
        _ => "bootstrap loader".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn packages_are_those_of_the_elements() {
        for (class, expected) in [
            ("app.model.User[][]", "app.model"),
            ("app.Main$$Lambda/0x0000aa.bb", "app"),
            ("int[]", "(primitive arrays)"),
            ("Main", "(no package)"),
        ] {
            assert_eq!(package(class), expected);
        }
    }
}
