//! `hprof flame`: where did the time, or the memory, go?

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use reader::{Allocations, CpuKind, CpuProfile, CpuTable, SiteTable, Stacks};

use crate::dump_file::DumpFile;
use crate::flame_graph::FlameGraph;
use crate::outcome::{Failure, Verdict};
use crate::pprof;
use crate::site_source::{choose, SiteSource};
use crate::target;

/// Draws a flame graph of CPU time or allocations
///
/// Every stack is a tower of boxes, as wide as the time or memory that it cost.
///
/// A CPU profile is drawn by samples, or by milliseconds if the times of methods were measured. A
/// file without a CPU profile is drawn by the live bytes of its allocation sites, as
/// `hprof sites --flame` does.
///
/// Reads HPROF binary and HPROF text (format=a), which hprof-rs and the JDK's HPROF agent write
/// with cpu=samples, cpu=times or heap=sites. Open the SVG file in a browser: click a box to zoom
/// in, press Ctrl-F to search.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hprof flame cpu.hprof -o cpu.svg         then open cpu.svg in a browser
  hprof flame java.hprof.txt -o cpu.svg    a text profile
  hprof flame --collapsed cpu.hprof        folded stacks, for speedscope and other tools")]
pub(crate) struct Arguments {
    /// The profile or heap dump, plain or gzip; - for standard input
    file: PathBuf,
    /// Write to this file instead of stdout, replacing it unless it is a dump or a profile
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print folded stacks, `root;...;leaf number`, instead of a picture
    #[arg(long)]
    collapsed: bool,
    /// Write a profile for `go tool pprof` to this file instead of a picture
    #[arg(long, value_name = "FILE", conflicts_with_all = ["collapsed", "output"])]
    pprof: Option<PathBuf>,
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
    if let Some(to) = &arguments.pprof {
        let damaged = write_pprof(&file, arguments.from, to)?;
        return Ok(file.verdict(damaged));
    }
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
    let of_sites = |found: &Allocations, table: &SiteTable| {
        FlameGraph::of_sites(found, table, false).map_err(|why| file.refuse(why))
    };
    let of_cpu = |stacks: &Stacks, table: &CpuTable, kind| {
        FlameGraph::of_cpu(stacks, table, kind).map_err(|why| file.refuse(why))
    };
    with_source(file, from, of_cpu, of_sites)
}

/// Writes the source as a profile for pprof; the number of damaged places.
fn write_pprof(file: &DumpFile, from: Option<FlameSource>, to: &Path) -> Result<u64, Failure> {
    let of_sites = |found: &Allocations, table: &SiteTable| {
        target::write(to, file, |to| pprof::write_sites(found, table, to))
    };
    let of_cpu = |stacks: &Stacks, table: &CpuTable, kind| {
        target::write(to, file, |to| pprof::write_cpu(stacks, table, kind, to))
    };
    Ok(with_source(file, from, of_cpu, of_sites)?.1)
}

/// Makes something of the source, and counts the damaged places.
fn with_source<T>(
    file: &DumpFile,
    from: Option<FlameSource>,
    of_cpu: impl FnOnce(&Stacks, &CpuTable, CpuKind) -> Result<T, Failure>,
    of_sites: impl FnOnce(&Allocations, &SiteTable) -> Result<T, Failure>,
) -> Result<(T, u64), Failure> {
    let source = match from {
        Some(FlameSource::Sites) => Some(SiteSource::Sites),
        Some(FlameSource::Dump) => Some(SiteSource::Dump),
        Some(FlameSource::Samples | FlameSource::Times) | None => {
            let profile = file.whole(CpuProfile::read)?;
            match (cpu_table(&profile, from), from) {
                (Some((kind, table)), _) => {
                    let made = of_cpu(&profile.stacks, table, kind)?;
                    return Ok((made, profile.damaged));
                }
                (None, Some(source)) => return Err(file.refuse(nothing(source))),
                (None, None) => None,
            }
        }
    };
    let found = file.whole(Allocations::read)?;
    let (_, table) = choose(&found, source).map_err(|reason| match source {
        Some(_) => file.refuse(reason),
        None => file.refuse(NOTHING),
    })?;
    Ok((of_sites(&found, table)?, found.damaged))
}

/// `None` if the profile has no such data.
fn cpu_table(profile: &CpuProfile, from: Option<FlameSource>) -> Option<(CpuKind, &CpuTable)> {
    let samples = profile
        .samples
        .as_ref()
        .map(|table| (CpuKind::Samples, table));
    let times = profile.times.as_ref().map(|table| (CpuKind::Times, table));
    match from {
        Some(FlameSource::Samples) => samples,
        Some(FlameSource::Times) => times,
        _ => samples.or(times),
    }
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
