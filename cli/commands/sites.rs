//! `hprof sites`: which code allocated the objects in the heap?

use std::path::PathBuf;

use reader::Profiles;

use crate::answers::site_source::{choose, SiteSource};
use crate::answers::sites::{listing, DEPTH_FRAMES};
use crate::files::input_file::InputFile;
use crate::output::{limit, print, Failure, Verdict};

/// Number of sites printed by default.
const TOP: usize = 20;

/// Lists the places in the program that allocated most memory
///
/// A site is a class and a stack: all objects of that class that were allocated there. `live` is
/// what was still in use when the file was written, `allocated` is everything since the start,
/// including garbage. Without a heap dump, garbage counts as live until a collection has removed
/// it.
///
/// The numbers come from ALLOC SITES records (hprof-rs and the JDK's HPROF agent write them with
/// heap=sites or heap=all), from the SITES section of a text profile (format=a), or from a heap
/// dump whose objects have allocation stacks. Each object with a stack stands for those of its
/// class and size that have none.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hprof sites heap.hprof                        the 20 largest sites, 8 frames each
  hprof sites --allocated --top 5 heap.hprof    the sites that allocated most")]
pub(crate) struct Arguments {
    /// The heap dump or profile, plain or gzip; - for standard input
    file: PathBuf,
    /// Which heap dump of a file with several, from 1 [default: the last]
    #[arg(long, value_name = "N")]
    dump: Option<usize>,
    /// Print at most N sites; 0 for all [default: 20, all in JSON]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print at most N frames of each stack, the innermost first; 0 for all [default: 8, all in
    /// JSON]
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Sort by live bytes, largest first; the default
    #[arg(long, conflicts_with = "allocated")]
    live: bool,
    /// Sort by all bytes ever allocated, largest first
    #[arg(long)]
    allocated: bool,
    /// Which sites to use, if the file has both [default: sites]
    #[arg(long, value_enum, value_name = "SOURCE")]
    from: Option<SiteSource>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads the file and prints its sites.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = InputFile::new(&arguments.file)?.only(arguments.dump)?;
    let found = file.whole(Profiles::read)?;
    let chosen = choose(&found, arguments.from);
    let (source, table) = chosen.map_err(|reason| file.refuse(reason))?;
    if arguments.allocated && table.allocated.is_none() {
        return Err(file.refuse(NOT_ALLOCATED));
    }
    // The warning comes before the answer.
    let verdict = file.verdict(found.damaged);
    let of = |number: Option<usize>, default| {
        let default = if arguments.json { 0 } else { default };
        limit(number.unwrap_or(default))
    };
    let most = (of(arguments.top, TOP), of(arguments.depth, DEPTH_FRAMES));
    let answer = listing(&found, (source, table), arguments.allocated, most);
    print(arguments.json, answer)?;
    Ok(verdict)
}

const NOT_ALLOCATED: &str = "a heap dump does not count freed objects; leave --allocated out";
