//! `hprof sites`: which code allocated the objects in the heap?

mod listing;
mod site_json;

use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use reader::{Allocations, Site, SiteTable};

use crate::dump_file::DumpFile;
use crate::flame_graph::FlameGraph;
use crate::json;
use crate::number::limit;
use crate::outcome::{Failure, Verdict};
use crate::pprof;
use crate::site_source::{choose, SiteSource};
use crate::target;
use listing::Listing;

/// Number of sites printed by default.
const TOP: usize = 20;

/// Number of frames printed of each stack by default.
const DEPTH_FRAMES: usize = 8;

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
  hprof sites --allocated --top 5 heap.hprof    the sites that allocated most
  hprof sites --flame sites.svg heap.hprof      a flame graph for a browser
  hprof sites --collapsed heap.hprof            folded stacks, for speedscope and other tools")]
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
    #[arg(long, conflicts_with_all = ["flame", "collapsed"])]
    json: bool,
    /// Draw all sites as a flame graph in this file instead of a table, replacing it unless it is a
    /// dump or a profile
    #[arg(long, value_name = "SVG", conflicts_with = "collapsed")]
    flame: Option<PathBuf>,
    /// Write all sites as a profile for `go tool pprof` to this file instead of a table; classes
    /// are labels
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "flame", "collapsed"])]
    pprof: Option<PathBuf>,
    /// Print all sites as folded stacks, `root;...;leaf;class bytes`, instead of a table
    #[arg(long)]
    collapsed: bool,
    /// Write the folded stacks to this file instead of stdout
    #[arg(short, long, value_name = "FILE", requires = "collapsed")]
    output: Option<PathBuf>,
}

/// Reads the file and prints, or draws, its sites.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::of_one(&arguments.file, arguments.dump)?;
    let found = file.whole(Allocations::read)?;
    let chosen = choose(&found, arguments.from);
    let (source, table) = chosen.map_err(|reason| file.refuse(reason))?;
    if arguments.allocated && table.allocated.is_none() {
        return Err(file.refuse(NOT_ALLOCATED));
    }
    if let Some(to) = &arguments.pprof {
        target::write(to, &file, |to| pprof::write_sites(&found, table, to))?;
        return Ok(file.verdict(found.damaged));
    }
    if arguments.collapsed || arguments.flame.is_some() {
        let graph = FlameGraph::of_sites(&found, table, arguments.allocated);
        draw(arguments, &file, &graph.map_err(|why| file.refuse(why))?)?;
        return Ok(file.verdict(found.damaged));
    }
    let listing = Listing {
        found: &found,
        source,
        table,
        rows: ordered(table, arguments.allocated),
        allocated: arguments.allocated,
    };
    // The warning comes before the answer.
    let verdict = file.verdict(found.damaged);
    print(arguments, &listing)?;
    Ok(verdict)
}

const NOT_ALLOCATED: &str = "a heap dump does not count freed objects; leave --allocated out";

fn draw(arguments: &Arguments, file: &DumpFile, graph: &FlameGraph) -> Result<(), Failure> {
    match &arguments.flame {
        None => graph.collapse(file, arguments.output.as_deref()),
        Some(_) if graph.is_empty() => {
            Err(file.refuse("its sites hold no bytes, so there is nothing to draw"))
        }
        Some(path) => graph.draw(file, Some(path)),
    }
}

fn print(arguments: &Arguments, listing: &Listing<'_>) -> Result<(), Failure> {
    let mut to = BufWriter::new(io::stdout().lock());
    if arguments.json {
        let (top, depth) = (arguments.top.unwrap_or(0), arguments.depth.unwrap_or(0));
        let value = site_json::InJson {
            listing,
            top: limit(top),
            depth: limit(depth),
        };
        json::print(&value, &mut to)?;
    } else {
        let top = arguments.top.unwrap_or(TOP);
        let depth = arguments.depth.unwrap_or(DEPTH_FRAMES);
        listing.print(limit(top), limit(depth), &mut to)?;
    }
    to.flush()?;
    Ok(())
}

/// The rows, largest first. The table has them by live bytes.
fn ordered(table: &SiteTable, allocated: bool) -> Vec<&Site> {
    let mut rows: Vec<&Site> = table.rows.iter().collect();
    if allocated {
        rows.sort_by_key(|site| {
            let amount = site.allocated.unwrap_or_default();
            Reverse((amount.bytes, amount.objects))
        });
    }
    rows
}
