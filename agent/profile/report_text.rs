//! A report as text, in the layout of the JDK's own agent.

use super::call_rows::NamedCall;
use super::cpu_counts::costs;
use super::report::{Figures, Part};
use super::report_monitors;
use super::site_rows::sites;
use super::threads::Threads;
use super::Profiles;
use crate::options::{Cpu, Options};
use std::io::{Result, Write};
use std::time::{SystemTime, UNIX_EPOCH};
use tables::{Tables, TraceId};
use writer::profile::{Costs, Method, Sites};
use writer::text::{
    CpuSamplesBlock, CpuTimeBlock, Frame, Header, Moment, OldProfile, Report, SitesBlock,
    ThreadStart, Trace,
};
use writer::ClassName;

/// Writes head, threads, and one block a profile, each behind the traces that it names. The format of `java -prof`
/// has none of this: it stands alone if nothing else was measured, else at the end.
pub(super) fn write(
    figures: &Figures,
    profiles: &Profiles,
    options: &Options,
    out: &mut impl Write,
) -> Result<()> {
    let is_old = options.cpu == Some(Cpu::Old) && figures.part == Part::All;
    if is_old && figures.monitors.is_none() && figures.sites.is_none() {
        return write_old(figures, profiles, out);
    }
    let at = now();
    let tables = profiles.traces.tables();
    Header { created: at }.encode(out)?;
    let mut report = Report::new();
    report.begin_dump(out)?;
    write_threads(profiles.traces.threads(), &mut report, out)?;
    if let Some(monitors) = &figures.monitors {
        let how = (options.cutoff, at);
        report_monitors::write(monitors, &profiles.traces, how, &mut report, out)?;
    }
    if figures.part == Part::Traces {
        let mut all = Vec::new();
        tables.traces.for_each(|serial, _| all.push(serial));
        write_traces(all.into_iter(), tables, &mut report, out)?;
    }
    if let Some(rows) = &figures.sites {
        let sites = sites(rows);
        let sites = &Sites::new(&sites, figures.site_order(), options.cutoff);
        write_traces(sites.traces(), tables, &mut report, out)?;
        SitesBlock { sites, at }.encode(out)?;
    }
    if let Some(rows) = &figures.cpu {
        let costs = costs(rows);
        let samples = &Costs::new(&costs, options.cutoff);
        write_traces(samples.traces(), tables, &mut report, out)?;
        CpuSamplesBlock { samples, at }.encode(out)?;
    }
    if is_old {
        return write_old(figures, profiles, out);
    }
    if let Some(rows) = &figures.calls {
        let named: Vec<_> = rows.iter().map(|row| NamedCall::new(row, tables)).collect();
        let costs: Vec<_> = named.iter().map(NamedCall::cost).collect();
        let times = &Costs::new(&costs, options.cutoff);
        write_traces(times.traces(), tables, &mut report, out)?;
        CpuTimeBlock { times, at }.encode(out)?;
    }
    Ok(())
}

/// `cpu=old`: rows of caller and callee, which name no traces.
fn write_old(figures: &Figures, profiles: &Profiles, out: &mut impl Write) -> Result<()> {
    let tables = profiles.traces.tables();
    let rows = figures.calls.as_deref().unwrap_or_default();
    let named: Vec<_> = rows.iter().map(|row| NamedCall::new(row, tables)).collect();
    let calls: Vec<_> = named.iter().map(NamedCall::old).collect();
    OldProfile { calls: &calls }.encode(out)
}

fn write_threads(threads: &Threads, report: &mut Report, out: &mut impl Write) -> Result<()> {
    for (id, thread) in threads.rows() {
        let start = ThreadStart {
            thread: id,
            object: None,
            name: &thread.names.name,
            group: &thread.names.group,
        };
        report.thread_start(&start, out)?;
        if thread.has_ended {
            report.thread_end(id, out)?;
        }
    }
    Ok(())
}

/// Writes the traces that the report has not.
pub(super) fn write_traces(
    serials: impl Iterator<Item = TraceId>,
    tables: &Tables,
    report: &mut Report,
    out: &mut impl Write,
) -> Result<()> {
    for serial in serials {
        if !report.has_trace(serial) {
            write_trace(serial, tables, report, out)?;
        }
    }
    Ok(())
}

fn write_trace(
    serial: TraceId,
    tables: &Tables,
    report: &mut Report,
    out: &mut impl Write,
) -> Result<()> {
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
        thread: trace.as_ref().and_then(|trace| trace.thread),
        phase: None,
        frames: &frames,
    };
    report.trace(&trace, out).map(|_| ())
}

/// The moment that a report is made at. UTC.
fn now() -> Moment {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Moment {
        seconds_since_epoch: i64::try_from(now.unwrap_or_default().as_secs()).unwrap_or(0),
        utc_offset_seconds: 0,
    }
}
