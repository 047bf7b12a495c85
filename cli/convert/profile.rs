//! Where the time, or the memory, went: as a picture, folded stacks, or a profile for pprof.

use reader::{CpuKind, CpuTable, Profiles, SiteTable, Stacks};

use crate::answers::site_source::{choose, SiteSource};
use crate::files::dump_file::DumpFile;
use crate::output::outcome::{Failure, Verdict};

use super::flame_graph::FlameGraph;
use super::order::{Arguments, Form, Source};
use super::pprof;

/// Reads the file and writes its profile.
pub(super) fn write(arguments: &Arguments, form: Form) -> Result<Verdict, Failure> {
    let (file, from) = (arguments.input()?, arguments.from);
    let profile = Profile::read(&file, from)?;
    let (stacks, weights) = (&profile.stacks, &profile.weights);
    if form == Form::Pprof {
        arguments.write(&file, form, |to| {
            Ok(match weights {
                Weights::Cpu(table, kind) => pprof::write_cpu(stacks, table, *kind, to),
                Weights::Sites(table) => pprof::write_sites(stacks, table, to),
            }?)
        })?;
        return Ok(file.verdict(profile.damaged));
    }
    let is_allocated = from == Some(Source::Allocated);
    let graph = match weights {
        Weights::Cpu(table, kind) => FlameGraph::of_cpu(stacks, table, *kind),
        Weights::Sites(table) => FlameGraph::of_sites(stacks, table, is_allocated),
    };
    let graph = graph.map_err(|why| file.refuse(why))?;
    arguments.write(&file, form, |to| match form {
        Form::Svg => graph.draw(&file, to),
        _ => Ok(graph.collapse(to)?),
    })?;
    arguments.tell(&graph.told())?;
    Ok(file.verdict(profile.damaged))
}

/// Stacks with their weights.
struct Profile {
    stacks: Stacks,
    /// Number of damaged places.
    damaged: u64,
    weights: Weights,
}

enum Weights {
    Cpu(CpuTable, CpuKind),
    Sites(SiteTable),
}

impl Profile {
    /// What this source has; by default the first that the file has.
    fn read(file: &DumpFile, from: Option<Source>) -> Result<Self, Failure> {
        let mut found = file.whole(Profiles::read)?;
        let source = match from {
            Some(Source::Sites | Source::Allocated) => Some(SiteSource::Sites),
            Some(Source::Dump) => Some(SiteSource::Dump),
            Some(Source::Samples | Source::Times) | None => {
                let samples = found.samples.take().filter(|_| from != Some(Source::Times));
                let times = found.times.take().filter(|_| from != Some(Source::Samples));
                let samples = samples.map(|table| Weights::Cpu(table, CpuKind::Samples));
                let times = times.map(|table| Weights::Cpu(table, CpuKind::Times));
                match (samples.or(times), from) {
                    (Some(weights), _) => {
                        return Ok(Self {
                            stacks: found.stacks,
                            damaged: found.damaged,
                            weights,
                        })
                    }
                    (None, Some(source)) => return Err(file.refuse(nothing(source))),
                    (None, None) => None,
                }
            }
        };
        let chosen = choose(&found, source).map(|(source, _)| source);
        let chosen = chosen.map_err(|reason| match source {
            Some(_) => file.refuse(reason),
            None => file.refuse(NOTHING),
        })?;
        let table = match chosen {
            SiteSource::Sites => found.recorded,
            SiteSource::Dump => found.dumped,
        };
        Ok(Self {
            stacks: found.stacks,
            damaged: found.damaged,
            weights: Weights::Sites(table.unwrap_or_default()),
        })
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
