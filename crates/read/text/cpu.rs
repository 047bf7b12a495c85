//! CPU profiles in text: the blocks CPU SAMPLES and CPU TIME.

use std::fmt::Display;
use std::io::{self, Write};

use reader::CpuSamples;
use tables::profile::{Costs, Method, Share};

use crate::Moment;

/// Writes the CPU SAMPLES block of samples that were counted at this time; their traces precede the
/// block. Without rows, it has no line of column names.
pub fn cpu_samples(samples: &Costs<'_>, at: Moment, out: &mut impl Write) -> io::Result<()> {
    let (total, rows) = (samples.whole(), ranked(samples));
    block("CPU SAMPLES", total, at, "method", rows, out)
}

/// Writes the block of a record, whose rows are ranked; `top` returns the method on top of a trace.
pub(crate) fn recorded_samples<'n>(
    record: &CpuSamples,
    top: impl Fn(u32) -> Option<Method<'n>>,
    at: Moment,
    out: &mut impl Write,
) -> io::Result<()> {
    let total = u64::from(record.total);
    let mut sum = 0;
    let rows = record.rows.iter().map(|row| {
        sum += u64::from(row.samples);
        Row {
            own: Share::new(row.samples.into(), total),
            accumulated: Share::new(sum, total),
            count: row.samples.into(),
            trace: row.trace,
            what: top_of(top(row.trace)),
        }
    });
    block("CPU SAMPLES", total, at, "method", rows, out)
}

/// Writes the CPU TIME block of times in nanoseconds, like [`cpu_samples`].
pub fn cpu_time(times: &Costs<'_>, at: Moment, out: &mut impl Write) -> io::Result<()> {
    let total = millis(times.whole());
    block("CPU TIME (ms)", total, at, "method", ranked(times), out)
}

/// Milliseconds, rounded.
pub(crate) fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000 + u64::from(nanos % 1_000_000 >= 500_000)
}

/// A row of a block.
pub(crate) struct Row<D> {
    pub(crate) own: Share,
    pub(crate) accumulated: Share,
    pub(crate) count: u64,
    pub(crate) trace: u32,
    /// The method or the monitor.
    pub(crate) what: D,
}

fn ranked<'a>(costs: &'a Costs<'a>) -> impl ExactSizeIterator<Item = Row<String>> + 'a {
    costs.rows().iter().map(|ranked| Row {
        own: ranked.own,
        accumulated: ranked.accumulated,
        count: ranked.row.count,
        trace: ranked.row.trace.get(),
        what: top_of(ranked.row.top),
    })
}

/// The method on top of a trace.
fn top_of(method: Option<Method<'_>>) -> String {
    method.map_or_else(|| "<empty trace>".to_owned(), |method| method.to_string())
}

/// Writes a block of rows about methods or monitors; without rows, it has no line of column names.
pub(crate) fn block<D: Display>(
    title: &str,
    total: impl Display,
    at: Moment,
    what: &str,
    rows: impl ExactSizeIterator<Item = Row<D>>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{title} BEGIN (total = {total}) {at}")?;
    if rows.len() > 0 {
        writeln!(out, "rank   self  accum   count trace {what}")?;
    }
    for (place, row) in rows.enumerate() {
        writeln!(
            out,
            "{:>4} {} {} {:>7} {:>5} {}",
            place + 1,
            row.own,
            row.accumulated,
            row.count,
            row.trace,
            row.what
        )?;
    }
    writeln!(out, "{title} END")
}
