//! A report as HPROF records, in a file without a heap dump.
//!
//! It has no UNLOAD CLASS: here a class stands for all classes of its name, and JVMTI does not
//! report when one is unloaded.

use super::figures::{Figures, Part};
use crate::order::Order;
use crate::profile::cpu::cpu_counts::cpu_samples_record;
use crate::profile::Profiles;
use format::record::{EndThread, Record, StartThread};
use jvm::os::host::unix_millis;
use std::collections::BTreeSet;
use tables::profile::Sites;
use tables::{ClassId, ObjectId, ObjectTable, ThreadId, TraceId};
use writer::emit::{self, Texts};
use writer::profile_record::{alloc_sites, control_settings, heap_summary};
use writer::record::{encode, header};
use writer::site_rows::sites;
use writer::{DumpFile, WriteError};

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
        header(unix_millis()),
        (&profiles.traces.tables, Texts::All),
        &ObjectTable::default(),
        class_object,
        &mut |bytes| file.head(bytes),
    )?;
    let mut out = Vec::new();
    for (start, has_ended) in threads {
        encode(&Record::StartThread(start), &mut out)?;
        if has_ended {
            let serial = start.serial;
            encode(&Record::EndThread(EndThread { serial }), &mut out)?;
        }
    }
    let (has_sites, has_samples) = (figures.sites.is_some(), figures.cpu.is_some());
    let settings = control_settings(has_sites, has_samples, profiles.traces.depth_frames());
    encode(&settings, &mut out)?;
    if let Some(rows) = &figures.sites {
        let sites = sites(rows);
        let sites = Sites::new(&sites, figures.site_order(), asked.cutoff);
        if figures.part != Part::HeapSummary {
            encode(&alloc_sites(&sites), &mut out)?;
        }
        let summary = heap_summary(sites.live, sites.allocated);
        encode(&Record::HeapSummary(summary), &mut out)?;
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
    let tables = &traces.tables;
    let mut named: BTreeSet<ThreadId> = BTreeSet::new();
    tables
        .traces
        .for_each(|_, trace| named.extend(trace.thread));
    let rows = traces.threads.rows(hides_names);
    let rows = rows.into_iter().filter(|(id, _)| named.contains(id));
    rows.map(|(thread, known)| {
        let start = StartThread {
            serial: thread.get(),
            object: 0,
            trace: TraceId::EMPTY.get(),
            name: tables.strings.intern(&known.names.name).into(),
            group: tables.strings.intern(&known.names.group).into(),
            parent_group: tables.strings.intern(&known.names.parent_group).into(),
        };
        (start, known.has_ended)
    })
    .collect()
}
