//! `hprof show`: what is this object, what does it hold, and why is it alive?

use std::io::{self, Write};
use std::path::Path;

use crate::answers::named::{object_with_id, objects_of};
use crate::answers::{show::show, values::Shown};
use crate::files::heap_file::{GraphArguments, Loaded};
use crate::output::number::{grouped, limit};
use crate::output::outcome::{Failure, Verdict};
use crate::output::plain::plain;
use crate::output::sections::Sections;
use crate::proc::process::process_named;

/// Shows an object: its fields, its referrers, the path from a root
///
/// Also its sizes, its dominator, its elements, and the objects that it dominates.
/// Objects also refer to their class; these are not listed as a class's referrers. Strings and
/// values of arrays may be secret, so they are only printed with `--strings`; a running JVM sends
/// no values at all.
///
/// The path is the shortest one, and names the fields on it. References that do not keep an object
/// alive (weak, soft, phantom, finalizer) are only used if no other path leads to it. A dump has
/// the stack that allocated the object if the agent kept it (`heap=all`), by default for a sample.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  hprof show heap.hprof 0x7f1c3a80\n  hprof show heap.hprof com.acme.Cache",
    mut_arg("file", |it| it.index(1))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    graph: GraphArguments,
    /// The object's id, as `hprof histo --objects` lists it; or a class: then its object that
    /// retains most
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
    let (file, what) = (&arguments.graph.file, plain(&arguments.what));
    if Path::new(&what).is_file() && !file.exists() && process_named(file).is_none() {
        let file = plain(&file.display().to_string());
        let why = format!("the file comes first: hprof show {what} {file}");
        return Err(Failure::Input(why));
    }
    let (loaded, verdict) = arguments.graph.load(2)?;
    loaded.file.done();
    let most = limit(arguments.top);
    let shown = Shown::of(file, arguments.strings);
    let (object, others) = meant(&loaded, &arguments.what)?;
    if others > 0 && !arguments.json {
        let others = grouped(others);
        writeln!(io::stdout(), "{others} more {what} retain less; this one:")?;
    }
    let fields = if arguments.json { most } else { usize::MAX };
    let answer = show(&loaded, object, (most, fields), shown);
    loaded.print(arguments.json, loaded.check(answer)?)?;
    Ok(verdict)
}

/// The answer for a heap that is in memory. Errors: there is no such object; the file cannot be
/// read.
pub(crate) fn answer(
    loaded: &Loaded,
    what: &str,
    most: usize,
    shown: Shown,
) -> Result<Sections<'static>, Failure> {
    let (object, _) = meant(loaded, what)?;
    loaded.check(show(loaded, object, (most, most), shown))
}

/// The object with this id, or the largest one of a class, and how many others the class has.
fn meant(loaded: &Loaded, what: &str) -> Result<(u32, u64), Failure> {
    if !what.starts_with("0x") {
        let objects = objects_of(loaded, what)?;
        if let Some((largest, others)) = objects.split_first() {
            return Ok((*largest, others.len() as u64));
        }
    }
    Ok((object_with_id(&loaded.heap, what, &loaded.file)?, 0))
}
