//! The report of allocation sites (`heap=sites`): ranked, as text or as records, into a file of its own.

use super::allocations::{Allocations, SiteRow};
use crate::file_name::USED_NAMES;
use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::options::{Format, Options};
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};
use tables::{ClassId, ObjectId, ObjectTable, Tables, TraceId, Weight};
use writer::profile::{Method, Site, SiteOrder, SiteTotals, Sites};
use writer::profile_record::{AllocSites, ControlSettings, HeapSummary};
use writer::text::{Frame, Header, Moment, Report, SitesBlock, TextStream, Trace};
use writer::{emit, ClassName, DumpFile, Target, WriteError, Written};

/// Writes the sites into the next file, and says how it went on stderr. `true`: the file is there.
///
/// On any thread attached to the JVM, in the live phase. The application runs on meanwhile.
pub(crate) fn report(jni: &mut Jni<'_>, options: &Options, allocations: &Allocations) -> bool {
    let path = options.file.choose(&mut USED_NAMES.lock(), options.force);
    let rows = allocations.sites(jni);
    match write(options.target(path), options, allocations, &rows) {
        Ok(written) => {
            say(&format!(
                "wrote {}: {} bytes, {} allocation sites, sampled every {} bytes",
                written.path.display(),
                written.bytes,
                rows.len(),
                allocations.interval_bytes()
            ));
            true
        }
        Err(error) => {
            say(&format!("no report of allocation sites: {error}"));
            false
        }
    }
}

/// The record of these sites, down to the cutoff.
pub(crate) fn alloc_sites(rows: &[SiteRow], cutoff: f64) -> Result<Vec<u8>, WriteError> {
    let sites = sites(rows);
    let ranked = Sites::new(&sites, SiteOrder::LiveBytes, cutoff);
    let mut out = Vec::new();
    AllocSites { sites: &ranked }.encode(&mut out)?;
    Ok(out)
}

/// The traces of the sites above the cutoff.
pub(crate) fn ranked_traces(rows: &[SiteRow], cutoff: f64) -> Vec<TraceId> {
    let sites = sites(rows);
    let ranked = Sites::new(&sites, SiteOrder::LiveBytes, cutoff);
    ranked.traces().collect()
}

fn sites(rows: &[SiteRow]) -> Vec<Site<'_>> {
    let site = |row| {
        let row: &SiteRow = row;
        Site {
            class: row.class,
            signature: &row.signature,
            trace: row.trace,
            live: totals(row.live),
            allocated: totals(row.allocated),
        }
    };
    rows.iter().map(site).collect()
}

/// An estimate as the number that is shown.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sums of positive numbers; the cast saturates
fn totals(weight: Weight) -> SiteTotals {
    SiteTotals {
        bytes: weight.bytes.round() as u64,
        objects: weight.objects.round() as u64,
    }
}

fn write(
    target: Target,
    options: &Options,
    allocations: &Allocations,
    rows: &[SiteRow],
) -> Result<Written, WriteError> {
    let file = DumpFile::create(target)?;
    let sites = sites(rows);
    let ranked = Sites::new(&sites, SiteOrder::LiveBytes, options.cutoff);
    let tables = allocations.tables();
    match options.format {
        Format::Text => text(&ranked, tables, &file)?,
        Format::Binary => binary(&ranked, options, tables, &file)?,
    }
    file.finish()
}

fn binary(
    sites: &Sites<'_>,
    options: &Options,
    tables: &Tables,
    file: &DumpFile,
) -> Result<(), WriteError> {
    // There are no objects in this file: a class's number serves as its object's.
    let class_object = |class: ClassId| ObjectId::new(u64::from(class.get()));
    let millis = now().as_millis();
    let millis = u64::try_from(millis).unwrap_or(0);
    emit::head(
        tables,
        &ObjectTable::new(),
        class_object,
        millis,
        &mut |bytes| file.head(bytes),
    )?;
    let mut out = Vec::new();
    ControlSettings {
        alloc_traces: true,
        cpu_sampling: false,
        depth_frames: options.trace_depth_frames(),
    }
    .encode(&mut out)?;
    AllocSites { sites }.encode(&mut out)?;
    HeapSummary {
        live: sites.live(),
        allocated: sites.allocated(),
    }
    .encode(&mut out)?;
    file.head(out)
}

fn text(sites: &Sites<'_>, tables: &Tables, file: &DumpFile) -> Result<(), WriteError> {
    let seconds = i64::try_from(now().as_secs()).unwrap_or(0);
    let at = Moment {
        seconds_since_epoch: seconds,
        utc_offset_seconds: 0,
    };
    let mut out = TextStream::new(|bytes| file.head(bytes));
    // The stream keeps the first error and tells it at the end.
    let _ = text_lines(sites, tables, at, &mut out);
    out.finish()
}

fn text_lines(
    sites: &Sites<'_>,
    tables: &Tables,
    at: Moment,
    out: &mut impl Write,
) -> std::io::Result<()> {
    Header { created: at }.encode(out)?;
    let mut report = Report::new();
    report.begin_dump(out)?;
    for serial in sites.traces() {
        if !report.has_trace(serial) {
            write_trace(serial, tables, &mut report, out)?;
        }
    }
    SitesBlock { sites, at }.encode(out)
}

fn write_trace(
    serial: TraceId,
    tables: &Tables,
    report: &mut Report,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let trace = tables.traces.get(serial);
    let ids = trace.as_ref().map_or(&[][..], |trace| &trace.frames);
    let text = |id| tables.strings.get(id).unwrap_or_default();
    let rows: Vec<_> = ids
        .iter()
        .filter_map(|&id| {
            let frame = tables.frames.get(id)?;
            let class = tables.classes.get(frame.class)?;
            let names = [class.signature, frame.method, frame.source].map(text);
            Some((names, frame.line))
        })
        .collect();
    let frames: Vec<Frame<'_>> = rows
        .iter()
        .map(|([class, method, source], line)| Frame {
            method: Method {
                class: ClassName::from_signature(class),
                name: method,
            },
            source,
            line: *line,
        })
        .collect();
    let trace = Trace {
        serial,
        thread: None,
        phase: None,
        frames: &frames,
    };
    report.trace(&trace, out).map(|_| ())
}

fn now() -> std::time::Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}
