//! A report as text, in the layout of the JDK's own agent.

use super::figures::{Figures, Part};
use super::report_monitors;
use crate::order::Order;
use crate::profile::cpu::cpu_counts::costs;
use crate::profile::stacks::StackTraces;
use crate::profile::threads::KnownThread;
use crate::profile::times::call_rows::NamedCall;
use crate::profile::Profiles;
use jvm::os::host::{unix_millis, utc_offset_seconds};
use options::Cpu;
use std::collections::HashSet;
use std::io::{Result, Write};
use tables::profile::{Costs, Sites};
use tables::{ThreadId, TraceId};
use text::{Frame, Moment};
use writer::site_rows::sites;

/// Writes the head, the threads, all traces to which the blocks refer, and then one block for each
/// profile, because readers look for traces in one place. The format of `java -prof` has none of
/// this: its block stands alone if nothing else was measured, otherwise at the end.
pub(crate) fn write(
    figures: &Figures,
    profiles: &Profiles,
    asked: &Order<'_>,
    out: &mut impl Write,
) -> Result<()> {
    let is_old = asked.options.cpu.is_some_and(Cpu::is_old) && figures.part == Part::All;
    if is_old && figures.cpu.is_none() && figures.monitors.is_none() && figures.sites.is_none() {
        return write_old(figures, profiles, out);
    }
    let at = now();
    text::header(at, out)?;
    let threads = profiles.traces.threads.rows(asked.options.hides_names());
    write_threads(&threads, out)?;
    let threads = threads.iter().map(|(id, _)| *id).collect();
    let mut written = HashSet::new();
    if figures.part == Part::Traces {
        let mut all = Vec::new();
        let tables = &profiles.traces.tables;
        tables.traces.for_each(|serial, _| all.push(serial));
        write_traces(all.into_iter(), &profiles.traces, &mut written, out)?;
    }
    write_blocks(
        figures,
        profiles,
        asked,
        is_old,
        at,
        (&threads, written),
        out,
    )?;
    if is_old {
        return write_old(figures, profiles, out);
    }
    Ok(())
}

fn write_blocks(
    figures: &Figures,
    profiles: &Profiles,
    asked: &Order<'_>,
    is_old: bool,
    at: Moment,
    (threads, mut written): (&HashSet<ThreadId>, HashSet<TraceId>),
    out: &mut impl Write,
) -> Result<()> {
    let traces = &profiles.traces;
    let sites = figures.sites.as_ref().map(|rows| sites(rows));
    let order = figures.site_order();
    let sites = sites
        .as_ref()
        .map(|rows| Sites::new(rows, order, asked.cutoff));
    let samples = figures.cpu.as_ref().map(|rows| costs(rows));
    let ranked = |costs| Costs::new(costs, asked.cutoff);
    let samples = samples.as_deref().map(ranked);
    let calls = figures.calls.as_ref().filter(|_| !is_old);
    let calls: Option<Vec<_>> =
        calls.map(|rows| rows.iter().map(|row| NamedCall::new(row, traces)).collect());
    let calls: Option<Vec<_>> = calls
        .as_ref()
        .map(|named| named.iter().map(NamedCall::cost).collect());
    let times = calls.as_deref().map(ranked);

    let monitors = figures.monitors.as_ref();
    let contended = monitors.map(|it| report_monitors::serials(it, traces, asked.cutoff));
    let serials = contended.into_iter().flatten();
    let serials = serials.chain(sites.iter().flat_map(Sites::traces));
    let serials = serials.chain(samples.iter().chain(&times).flat_map(Costs::traces));
    write_traces(serials, traces, &mut written, out)?;
    if let Some(monitors) = monitors {
        report_monitors::write(monitors, traces, asked.cutoff, at, threads, out)?;
    }
    if let Some(sites) = &sites {
        text::sites(sites, at, out)?;
    }
    if let Some(samples) = &samples {
        text::cpu_samples(samples, at, out)?;
    }
    match &times {
        Some(times) => text::cpu_time(times, at, out),
        None => Ok(()),
    }
}

/// `cpu=old`: rows of caller and callee, without traces.
fn write_old(figures: &Figures, profiles: &Profiles, out: &mut impl Write) -> Result<()> {
    let traces = &profiles.traces;
    let rows = figures.calls.as_deref().unwrap_or_default();
    let named: Vec<_> = rows.iter().map(|row| NamedCall::new(row, traces)).collect();
    let calls: Vec<_> = named.iter().map(NamedCall::old).collect();
    text::old_profile(&calls, out)
}

fn write_threads(threads: &[(ThreadId, KnownThread)], out: &mut impl Write) -> Result<()> {
    for (id, thread) in threads {
        // Objects have no ids in this report.
        text::thread_start(id.get(), 0, &thread.names.name, &thread.names.group, out)?;
        if thread.has_ended {
            text::thread_end(id.get(), out)?;
        }
    }
    Ok(())
}

/// Writes the traces that are not in the report yet.
fn write_traces(
    serials: impl Iterator<Item = TraceId>,
    traces: &StackTraces,
    written: &mut HashSet<TraceId>,
    out: &mut impl Write,
) -> Result<()> {
    for serial in serials {
        if written.insert(serial) {
            write_trace(serial, traces, out)?;
        }
    }
    Ok(())
}

fn write_trace(serial: TraceId, traces: &StackTraces, out: &mut impl Write) -> Result<()> {
    let rows = traces.named_frames(serial);
    let frames = rows.iter().map(|frame| Frame {
        method: frame.named_method(),
        source: &frame.source,
        line: frame.line,
    });
    let thread = traces.tables.traces.get(serial).and_then(|it| it.thread);
    text::trace(serial.get(), thread, frames, out)
}

/// The current local time, for the report's head.
fn now() -> Moment {
    let seconds = unix_millis() / 1000;
    Moment {
        seconds_since_epoch: i64::try_from(seconds).unwrap_or(0),
        utc_offset_seconds: utc_offset_seconds(seconds),
    }
}
