//! CPU profiles in text: the blocks CPU SAMPLES and CPU TIME.

use std::io::{self, Write};

use reader::CpuSamples;
use tables::profile::{Costs, Method, Share};

use crate::Moment;

/// Writes the CPU SAMPLES block of samples that were counted at this time; their traces precede the
/// block. Without rows, it has no line of column names.
pub fn cpu_samples(samples: &Costs<'_>, at: Moment, out: &mut impl Write) -> io::Result<()> {
    block("CPU SAMPLES", samples.total(), at, ranked(samples), out)
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
            top: top(row.trace),
        }
    });
    block("CPU SAMPLES", total, at, rows, out)
}

/// Writes the CPU TIME block of times in nanoseconds, like [`cpu_samples`].
pub fn cpu_time(times: &Costs<'_>, at: Moment, out: &mut impl Write) -> io::Result<()> {
    let total = millis(times.total());
    block("CPU TIME (ms)", total, at, ranked(times), out)
}

/// Milliseconds, rounded.
pub(crate) fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000 + u64::from(nanos % 1_000_000 >= 500_000)
}

/// A row of a block.
struct Row<'a> {
    own: Share,
    accumulated: Share,
    count: u64,
    trace: u32,
    top: Option<Method<'a>>,
}

fn ranked<'a>(costs: &'a Costs<'_>) -> impl ExactSizeIterator<Item = Row<'a>> {
    costs.rows().iter().map(|ranked| Row {
        own: ranked.own,
        accumulated: ranked.accumulated,
        count: ranked.row.count,
        trace: ranked.row.trace.get(),
        top: ranked.row.top,
    })
}

fn block<'a>(
    title: &str,
    total: u64,
    at: Moment,
    rows: impl ExactSizeIterator<Item = Row<'a>>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{title} BEGIN (total = {total}) {at}")?;
    if rows.len() > 0 {
        writeln!(out, "rank   self  accum   count trace method")?;
    }
    for (place, row) in rows.enumerate() {
        write!(
            out,
            "{:>4} {} {} {:>7} {:>5} ",
            place + 1,
            row.own,
            row.accumulated,
            row.count,
            row.trace
        )?;
        match row.top {
            Some(method) => writeln!(out, "{method}"),
            None => writeln!(out, "<empty trace>"),
        }?;
    }
    writeln!(out, "{title} END")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_to_the_millisecond() {
        assert_eq!(millis(499_999), 0);
        assert_eq!(millis(500_000), 1);
        assert_eq!(millis(1_499_999), 1);
        assert_eq!(millis(u64::MAX), u64::MAX / 1_000_000 + 1);
    }
}
