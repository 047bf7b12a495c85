//! Where the time, or the memory, went: as a picture, folded stacks, or a profile for pprof.

use reader::{Allocations, CpuKind, CpuProfile, CpuTable, SiteTable, Stacks};

use crate::dump_file::DumpFile;
use crate::outcome::{Failure, Verdict};
use crate::site_source::{choose, SiteSource};

use super::flame_graph::FlameGraph;
use super::order::{Arguments, Form, Source};
use super::pprof;

/// Reads the file and writes its profile.
pub(super) fn write(arguments: &Arguments, form: Form) -> Result<Verdict, Failure> {
    let (file, from) = (arguments.input()?, arguments.from);
    let damaged = match form {
        Form::Pprof => write_pprof(arguments, &file)?,
        _ => {
            let (graph, damaged) = graph(&file, from)?;
            arguments.write(&file, form, |to| match form {
                Form::Svg => graph.draw(&file, to),
                _ => Ok(graph.collapse(to)?),
            })?;
            arguments.tell(&graph.told())?;
            damaged
        }
    };
    Ok(file.verdict(damaged))
}

/// The graph to draw, and the number of damaged places.
fn graph(file: &DumpFile, from: Option<Source>) -> Result<(FlameGraph, u64), Failure> {
    let is_allocated = from == Some(Source::Allocated);
    let of_sites = |found: &Allocations, table: &SiteTable| {
        FlameGraph::of_sites(found, table, is_allocated).map_err(|why| file.refuse(why))
    };
    let of_cpu = |stacks: &Stacks, table: &CpuTable, kind| {
        FlameGraph::of_cpu(stacks, table, kind).map_err(|why| file.refuse(why))
    };
    with_source(file, from, of_cpu, of_sites)
}

/// Writes the source as a profile for pprof; the number of damaged places.
fn write_pprof(arguments: &Arguments, file: &DumpFile) -> Result<u64, Failure> {
    let of_sites = |found: &Allocations, table: &SiteTable| {
        arguments.write(file, Form::Pprof, |to| {
            Ok(pprof::write_sites(found, table, to)?)
        })
    };
    let of_cpu = |stacks: &Stacks, table: &CpuTable, kind| {
        arguments.write(file, Form::Pprof, |to| {
            Ok(pprof::write_cpu(stacks, table, kind, to)?)
        })
    };
    Ok(with_source(file, arguments.from, of_cpu, of_sites)?.1)
}

/// Makes something of the source, and counts the damaged places.
fn with_source<T>(
    file: &DumpFile,
    from: Option<Source>,
    of_cpu: impl FnOnce(&Stacks, &CpuTable, CpuKind) -> Result<T, Failure>,
    of_sites: impl FnOnce(&Allocations, &SiteTable) -> Result<T, Failure>,
) -> Result<(T, u64), Failure> {
    let source = match from {
        Some(Source::Sites | Source::Allocated) => Some(SiteSource::Sites),
        Some(Source::Dump) => Some(SiteSource::Dump),
        Some(Source::Samples | Source::Times) | None => {
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
fn cpu_table(profile: &CpuProfile, from: Option<Source>) -> Option<(CpuKind, &CpuTable)> {
    let samples = profile
        .samples
        .as_ref()
        .map(|table| (CpuKind::Samples, table));
    let times = profile.times.as_ref().map(|table| (CpuKind::Times, table));
    match from {
        Some(Source::Samples) => samples,
        Some(Source::Times) => times,
        _ => samples.or(times),
    }
}

const NOTHING: &str = "neither a CPU profile nor allocation sites. Record them with the agent's \
                       option cpu=samples, or heap=sites";

fn nothing(source: Source) -> &'static str {
    match source {
        Source::Times => {
            "no CPU TIME section, which the agent's option cpu=times makes in text profiles"
        }
        _ => "no CPU samples. Record them with the agent's option cpu=samples",
    }
}
