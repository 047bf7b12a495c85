//! A report as HPROF records, in a file without a heap dump.

use super::cpu_counts::cpu_samples_record;
use super::report::{Figures, Part};
use super::site_rows::sites;
use super::Profiles;
use crate::options::Options;
use std::time::{SystemTime, UNIX_EPOCH};
use tables::{ClassId, ObjectId, ObjectTable};
use writer::profile::Sites;
use writer::profile_record::{AllocSites, ControlSettings, HeapSummary};
use writer::{emit, DumpFile, WriteError};

/// Writes the whole file: head, settings, one record a profile.
pub(super) fn write(
    figures: &Figures,
    profiles: &Profiles,
    options: &Options,
    file: &DumpFile,
) -> Result<(), WriteError> {
    // There are no objects in this file: a class's number serves as its object's.
    let class_object = |class: ClassId| ObjectId::new(u64::from(class.get()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(0);
    emit::head(
        profiles.traces.tables(),
        &ObjectTable::new(),
        class_object,
        millis,
        &mut |bytes| file.head(bytes),
    )?;
    let mut out = Vec::new();
    ControlSettings {
        alloc_traces: figures.sites.is_some(),
        cpu_sampling: figures.cpu.is_some(),
        depth_frames: u32::try_from(profiles.traces.depth_frames()).unwrap_or(u32::MAX),
    }
    .encode(&mut out)?;
    if let Some(rows) = &figures.sites {
        let sites = sites(rows);
        let sites = Sites::new(&sites, figures.site_order(), options.cutoff);
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
        out.append(&mut cpu_samples_record(rows, options.cutoff)?);
    }
    file.head(out)
}
