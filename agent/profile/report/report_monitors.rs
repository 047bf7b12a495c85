//! Monitors in a text report: WAIT lines, MONITOR DUMP, MONITOR TIME.

use crate::message::counted;
use crate::profile::monitors::waits::{WaitEvent, Waits};
use crate::profile::monitors::{Contended, MonitorFigures, Place};
use crate::profile::stacks::StackTraces;
use std::collections::HashSet;
use std::io::{Result, Write};
use std::sync::Arc;
use tables::profile::{Contention, Contentions};
use tables::{ThreadId, TraceId};
use text::{Moment, Monitor};

/// Nanoseconds per millisecond.
const NANOS: u64 = 1_000_000;

/// The traces to which the blocks refer.
pub(crate) fn serials(figures: &MonitorFigures, traces: &StackTraces, cutoff: f64) -> Vec<TraceId> {
    let threads = figures.state.iter().flat_map(|state| &state.threads);
    let mut serials: Vec<_> = threads.map(|thread| thread.trace).collect();
    let rows = contention(&figures.counted.contention, traces);
    let rows: Vec<_> = rows.iter().map(Row::contention).collect();
    serials.extend(Contentions::new(&rows, cutoff).traces());
    serials
}

/// Writes the blocks. The threads and traces to which they refer are in the report already.
pub(crate) fn write(
    figures: &MonitorFigures,
    traces: &StackTraces,
    cutoff: f64,
    at: Moment,
    threads: &HashSet<ThreadId>,
    out: &mut impl Write,
) -> Result<()> {
    let counted = &figures.counted;
    write_waits(&counted.waits, traces, threads, out)?;
    write_state(figures, traces, out)?;
    let rows = contention(&counted.contention, traces);
    let rows: Vec<_> = rows.iter().map(Row::contention).collect();
    let contentions = &Contentions::new(&rows, cutoff);
    text::monitor_time(contentions, at, out)
}

/// The blocks' contents, for the report's summary line.
pub(crate) fn summary(figures: &MonitorFigures) -> String {
    let contention = &figures.counted.contention;
    let nanos: u128 = contention.iter().map(|(_, it)| u128::from(it.nanos)).sum();
    let mut text = format!(
        "{}, {} ms",
        counted(
            contention.len() as u64,
            "contended place",
            "contended places"
        ),
        nanos / u128::from(NANOS)
    );
    let waits = &figures.counted.waits;
    let (kept, dropped) = (waits.events().count(), waits.dropped);
    if kept > 0 {
        text.push_str(&format!(
            "; {} of waits",
            counted(kept as u64, "line", "lines")
        ));
    }
    if dropped > 0 {
        text.push_str(&format!(", {dropped} older left out"));
    }
    text
}

fn write_waits(
    waits: &Waits,
    traces: &StackTraces,
    threads: &HashSet<ThreadId>,
    out: &mut impl Write,
) -> Result<()> {
    // A thread that ended long ago is forgotten.
    let named = |thread: ThreadId| threads.contains(&thread).then_some(thread);
    for event in waits.events() {
        match *event {
            WaitEvent::Wait {
                class,
                timeout_millis,
                thread,
            } => {
                let signature = traces.signature(class);
                text::monitor_wait(&signature, timeout_millis, named(thread), out)?;
            }
            WaitEvent::Waited {
                class,
                nanos,
                thread,
            } => {
                let signature = traces.signature(class);
                text::monitor_waited(&signature, nanos / NANOS, named(thread), out)?;
            }
        }
    }
    Ok(())
}

fn write_state(figures: &MonitorFigures, traces: &StackTraces, out: &mut impl Write) -> Result<()> {
    let Some(state) = &figures.state else {
        return Ok(());
    };
    let rows = state.monitors.iter();
    let rows: Vec<_> = rows.map(|row| (traces.signature(row.class), row)).collect();
    let monitors: Vec<_> = rows
        .iter()
        .map(|(signature, row)| Monitor {
            signature,
            owner: row.owner,
            waiting_to_enter: &row.waiting_to_enter,
            waiting_to_be_notified: &row.waiting_to_be_notified,
        })
        .collect();
    text::monitor_dump(&state.threads, &monitors, out)
}

struct Row {
    signature: Arc<[u8]>,
    place: Place,
    contended: Contended,
}

impl Row {
    fn contention(&self) -> Contention<'_> {
        Contention {
            trace: self.place.trace,
            signature: &self.signature,
            count: self.contended.count,
            nanos: self.contended.nanos,
        }
    }
}

fn contention(contention: &[(Place, Contended)], traces: &StackTraces) -> Vec<Row> {
    let rows = contention.iter();
    rows.map(|&(place, contended)| Row {
        signature: traces.signature(place.class),
        place,
        contended,
    })
    .collect()
}
