//! `hprof show`: what is this object, what does it hold, and what refers to it?

use std::io::{self, BufWriter, Write};

use serde_json::{json, Value};

use crate::answer::{show::ShowAnswer, values::Shown};
use crate::heap_file::{failure, only_a_file, with_loaded, GraphArguments, Loaded};
use crate::json;
use crate::number::{grouped, limit};
use crate::outcome::{Failure, Verdict};
use crate::path::{object_with_id, objects_of};
use crate::plain::plain;

/// Shows an object: its fields, and what refers to it
///
/// Also its sizes, its dominator, its elements, and the objects that it dominates.
/// Objects also refer to their class; these are not listed as a class's referrers. Strings and
/// values of arrays may be secret, so they are only printed with `--strings`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hprof show heap.hprof 0x7f1c3a80\n  hprof show heap.hprof com.acme.Cache",
    mut_arg("file", |it| only_a_file(it).index(1)),
    mut_arg("agent", |it| it.hide(true))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// The object's id, as `hprof top` lists it; or a class: then its object that retains most
    #[arg(value_name = "CLASS|0xID", index = 2)]
    what: String,
    /// Print at most N elements, referrers and dominated objects; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print strings and the values of primitive arrays
    #[arg(long)]
    strings: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file and prints the object.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    arguments.graph.check_is_file()?;
    with_loaded(&arguments.graph, 2, |loaded| {
        loaded.file.done();
        let most = limit(arguments.top);
        let shown = Shown::Values {
            strings: arguments.strings,
        };
        let mut to = BufWriter::new(io::stdout().lock());
        let (object, others) = meant(loaded, &arguments.what)?;
        if arguments.json {
            json::print(&shown_as(loaded, object, (most, most), shown)?, &mut to)?;
        } else {
            if others > 0 {
                let (others, class) = (grouped(others), plain(&arguments.what));
                writeln!(to, "{others} more {class} retain less; this one:")?;
            }
            shown_as(loaded, object, (most, usize::MAX), shown)?.print(&mut to)?;
        }
        Ok(to.flush()?)
    })
}

/// What `--json` prints, for a heap that is in memory. Errors: there is no such object; the file
/// cannot be read.
pub(crate) fn answer(
    loaded: &Loaded<'_>,
    id: &str,
    most: usize,
    shown: Shown,
) -> Result<Value, Failure> {
    let object = object_with_id(&loaded.heap, id, &loaded.file)?;
    Ok(json!(shown_as(loaded, object, (most, most), shown)?))
}

/// The object with this id, or the largest one of a class, and how many others the class has.
fn meant(loaded: &Loaded<'_>, what: &str) -> Result<(u32, u64), Failure> {
    if !what.starts_with("0x") {
        let objects = objects_of(loaded, what)?;
        if let Some((largest, others)) = objects.split_first() {
            return Ok((*largest, others.len() as u64));
        }
    }
    Ok((object_with_id(&loaded.heap, what, &loaded.file)?, 0))
}

fn shown_as(
    loaded: &Loaded<'_>,
    object: u32,
    most: (usize, usize),
    shown: Shown,
) -> Result<ShowAnswer, Failure> {
    let answer = ShowAnswer::of(loaded, object, most, shown);
    answer.map_err(|fault| failure(&loaded.file, &fault))
}
