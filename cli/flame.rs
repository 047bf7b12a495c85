//! `hprof flame`: where did the time, or the memory, go?

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use reader::{Allocations, CpuKind, CpuProfile};

use crate::dump_file::DumpFile;
use crate::flame_graph::FlameGraph;
use crate::outcome::{Failure, Verdict};
use crate::site_source::{choose, SiteSource};

/// Draws a flame graph: every stack is a tower of boxes, as wide as the time or memory that it cost
///
/// A CPU profile is drawn by samples, or by milliseconds if the times of methods were measured. A file without a
/// CPU profile is drawn by the live bytes of its allocation sites, as `hprof sites --flame` does.
///
/// Reads HPROF binary and HPROF text (format=a), which hprof-rs and the JDK's HPROF agent write with cpu=samples,
/// cpu=times or heap=sites. Open the SVG file in a browser: click a box to zoom in, press Ctrl-F to search.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hprof flame cpu.hprof -o cpu.svg         then open cpu.svg in a browser
  hprof flame java.hprof.txt -o cpu.svg    a text profile
  hprof flame --collapsed cpu.hprof        folded stacks, for speedscope and other tools")]
pub(crate) struct Arguments {
    /// The profile or heap dump, uncompressed or gzip; - for standard input
    file: PathBuf,
    /// Write to this file, replacing it unless it is a dump or a profile; without it to stdout, unless that is a
    /// terminal
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print folded stacks, `root;...;leaf number`, instead of a picture
    #[arg(long)]
    collapsed: bool,
    /// What to draw, if the file has several [default: the first of these in the file]
    #[arg(long, value_enum, value_name = "SOURCE")]
    from: Option<FlameSource>,
}

/// What can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FlameSource {
    /// CPU samples
    Samples,
    /// Times of methods; only in text profiles
    Times,
    /// Live bytes, as the profiler counted them
    Sites,
    /// Live bytes of the heap dump's objects that have a stack
    Dump,
}

/// Reads the file and draws it.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::new(&arguments.file)?;
    let (graph, damaged) = graph(&file, arguments.from)?;
    let output = arguments.output.as_deref();
    if arguments.collapsed {
        graph.collapse(&file, output)?;
        return Ok(file.verdict(damaged));
    }
    if graph.is_empty() {
        return Err(file.refuse("all its numbers are 0, so there is nothing to draw"));
    }
    if output.is_none() && io::stdout().is_terminal() {
        return Err(file.refuse(
            "name a file for the picture, as in -o flame.svg, or use --collapsed for text",
        ));
    }
    graph.draw(&file, output)?;
    Ok(file.verdict(damaged))
}

/// The graph to draw, and the number of damaged places.
fn graph(file: &DumpFile, from: Option<FlameSource>) -> Result<(FlameGraph, u64), Failure> {
    match from {
        Some(FlameSource::Sites) => site_graph(file, Some(SiteSource::Sites)),
        Some(FlameSource::Dump) => site_graph(file, Some(SiteSource::Dump)),
        Some(source @ (FlameSource::Samples | FlameSource::Times)) => {
            let profile = file.whole(CpuProfile::read)?;
            let graph =
                cpu_graph(&profile, from).unwrap_or_else(|| Err(nothing(source).to_owned()));
            Ok((graph.map_err(|why| file.refuse(why))?, profile.damaged))
        }
        None => {
            let profile = file.whole(CpuProfile::read)?;
            match cpu_graph(&profile, None) {
                Some(graph) => Ok((graph.map_err(|why| file.refuse(why))?, profile.damaged)),
                None => site_graph(file, None),
            }
        }
    }
}

fn site_graph(file: &DumpFile, from: Option<SiteSource>) -> Result<(FlameGraph, u64), Failure> {
    let found = file.whole(Allocations::read)?;
    let (_, table) = choose(&found, from).map_err(|reason| match from {
        Some(_) => file.refuse(reason),
        None => file.refuse(NOTHING),
    })?;
    let graph = FlameGraph::of_sites(&found, table, false);
    Ok((graph.map_err(|why| file.refuse(why))?, found.damaged))
}

/// `None` if the profile has no such data. The error is a sentence: the profile is too large.
fn cpu_graph(
    profile: &CpuProfile,
    from: Option<FlameSource>,
) -> Option<Result<FlameGraph, String>> {
    let samples = profile
        .samples
        .as_ref()
        .map(|table| (CpuKind::Samples, table));
    let times = profile.times.as_ref().map(|table| (CpuKind::Times, table));
    let (kind, table) = match from {
        Some(FlameSource::Samples) => samples,
        Some(FlameSource::Times) => times,
        _ => samples.or(times),
    }?;
    Some(FlameGraph::of_cpu(&profile.stacks, table, kind))
}

const NOTHING: &str = "neither a CPU profile nor allocation sites. Record them with the agent's \
                       option cpu=samples, or heap=sites";

fn nothing(source: FlameSource) -> &'static str {
    match source {
        FlameSource::Times => {
            "no CPU TIME section, which the agent's option cpu=times makes in text profiles"
        }
        _ => "no CPU samples. Record them with the agent's option cpu=samples",
    }
}
