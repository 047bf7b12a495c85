//! `hprof show`: what is this object, what does it hold, and what refers to it?

use std::io::{self, BufWriter, Write};

use serde_json::{json, Value};

use crate::answer::show::{ShowAnswer, Shown};
use crate::heap_file::{failure, with_loaded, GraphArguments, Loaded};
use crate::json;
use crate::outcome::{Failure, Verdict};
use crate::path::object_with_id;

/// Prints an object: sizes, its dominator, fields or elements, referrers, and the objects that it
/// dominates
///
/// Objects also refer to their class; these are not listed as a class's referrers. Strings and
/// values of arrays may be secret, so they are only printed with `--strings`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof show heap.hprof 0x7f1c3a80")]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// The object's id; `hprof top` lists ids
    #[arg(value_name = "0xID")]
    id: String,
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
        let most = match arguments.top {
            0 => usize::MAX,
            most => most,
        };
        let shown = Shown::Values {
            strings: arguments.strings,
        };
        let mut to = BufWriter::new(io::stdout().lock());
        if arguments.json {
            json::print(&answer(loaded, &arguments.id, most, shown)?, &mut to)?;
        } else {
            let most = (most, usize::MAX);
            asked(loaded, &arguments.id, most, shown)?.print(&mut to)?;
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
    Ok(json!(asked(loaded, id, (most, most), shown)?))
}

fn asked(
    loaded: &Loaded<'_>,
    id: &str,
    most: (usize, usize),
    shown: Shown,
) -> Result<ShowAnswer, Failure> {
    let object = object_with_id(&loaded.heap, id, &loaded.file)?;
    let answer = ShowAnswer::of(loaded, object, most, shown);
    answer.map_err(|fault| failure(&loaded.file, &fault))
}
