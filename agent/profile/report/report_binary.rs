//! A report as HPROF records, in a file without a heap dump.
//!
//! It has no UNLOAD CLASS: here a class stands for all classes of its name, and JVMTI does not
//! report when one is unloaded.

use super::figures::{Figures, Part};
use crate::order::Order;
use crate::profile::cpu::cpu_counts::cpu_samples_record;
use crate::profile::Profiles;
use jvm::os::host::unix_millis;
use std::collections::BTreeSet;
use tables::profile::Sites;
use tables::{ClassId, ObjectId, ObjectTable, ThreadId, TraceId};
use writer::profile_record::{AllocSites, ControlSettings, EndThread, HeapSummary};
use writer::record::StartThread;
use writer::site_rows::sites;
use writer::{emit, DumpFile, WriteError};

/// Writes the whole file: head, settings, and one record for each profile.
pub(crate) fn write(
    figures: &Figures,
    profiles: &Profiles,
    asked: &Order<'_>,
    file: &DumpFile,
) -> Result<(), WriteError> {
    // This file contains no objects, so a class's number also serves as its object's id.
    let class_object = |class: ClassId| ObjectId::new(u64::from(class.get()));
    let threads = threads(profiles, asked.options.hides_names());
    emit::head(
        profiles.traces.tables(),
        &ObjectTable::new(),
        class_object,
        unix_millis(),
        &mut |bytes| file.head(bytes),
    )?;
    let mut out = Vec::new();
    for (start, has_ended) in &threads {
        start.encode(&mut out)?;
        if *has_ended {
            let thread = start.thread;
            EndThread { thread }.encode(&mut out)?;
        }
    }
    ControlSettings {
        alloc_traces: figures.sites.is_some(),
        cpu_sampling: figures.cpu.is_some(),
        depth_frames: u32::try_from(profiles.traces.depth_frames()).unwrap_or(u32::MAX),
    }
    .encode(&mut out)?;
    if let Some(rows) = &figures.sites {
        let sites = sites(rows);
        let sites = Sites::new(&sites, figures.site_order(), asked.cutoff);
        if figures.part != Part::HeapSummary {
            AllocSites { sites: &sites }.encode(&mut out)?;
        }
        HeapSummary {
            live: sites.live(),
            allocated: sites.allocated(),
        }
        .encode(&mut out)?;
    }
    if let Some(rows) = &figures.cpu {
        out.append(&mut cpu_samples_record(rows, asked.cutoff)?);
    }
    file.head(out)
}

/// The threads to which traces refer, each with whether it has ended. Adds their names to the
/// tables, so call it before the tables are written.
fn threads(profiles: &Profiles, hides_names: bool) -> Vec<(StartThread, bool)> {
    let traces = &profiles.traces;
    let tables = traces.tables();
    let mut named: BTreeSet<ThreadId> = BTreeSet::new();
    tables
        .traces
        .for_each(|_, trace| named.extend(trace.thread));
    let rows = traces.threads().rows(hides_names);
    let rows = rows.into_iter().filter(|(id, _)| named.contains(id));
    rows.map(|(thread, known)| {
        let start = StartThread {
            thread,
            object: None,
            trace: TraceId::EMPTY,
            name: tables.strings.intern(&known.names.name),
            group: tables.strings.intern(&known.names.group),
            parent_group: tables.strings.intern(&known.names.parent_group),
        };
        (start, known.has_ended)
    })
    .collect()
}
