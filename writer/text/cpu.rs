//! Where the processor was, in text: the blocks CPU SAMPLES and CPU TIME.

use std::io::{self, Write};

use super::Moment;
use crate::profile::{Cost, Costs, Ranked};

/// The CPU SAMPLES block.
#[derive(Clone, Copy, Debug)]
pub struct CpuSamplesBlock<'a> {
    /// The samples, ranked; their traces are in the report before.
    pub samples: &'a Costs<'a>,
    /// When they were counted.
    pub at: Moment,
}

impl CpuSamplesBlock<'_> {
    /// Writes the block; without rows it has no line of column names either.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        block(
            "CPU SAMPLES",
            self.samples,
            self.samples.total(),
            self.at,
            out,
        )
    }
}

/// The CPU TIME block: the times of methods.
#[derive(Clone, Copy, Debug)]
pub struct CpuTimeBlock<'a> {
    /// The times, in nanoseconds and ranked; their traces are in the report before.
    pub times: &'a Costs<'a>,
    /// When they were counted.
    pub at: Moment,
}

impl CpuTimeBlock<'_> {
    /// Writes the block; without rows it has no line of column names either.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let total = millis(self.times.total());
        block("CPU TIME (ms)", self.times, total, self.at, out)
    }
}

/// Milliseconds, rounded to the nearest.
pub(crate) fn millis(nanos: u64) -> u64 {
    nanos / 1_000_000 + u64::from(nanos % 1_000_000 >= 500_000)
}

fn block(
    title: &str,
    costs: &Costs<'_>,
    total: u64,
    at: Moment,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{title} BEGIN (total = {total}) {at}")?;
    if !costs.rows().is_empty() {
        writeln!(out, "rank   self  accum   count trace method")?;
    }
    costs
        .rows()
        .iter()
        .try_for_each(|ranked| row(ranked, out))?;
    writeln!(out, "{title} END")
}

fn row(ranked: &Ranked<'_, Cost<'_>>, out: &mut impl Write) -> io::Result<()> {
    let cost = ranked.row;
    write!(
        out,
        "{:>4} {} {} {:>7} {:>5} ",
        ranked.rank,
        ranked.own,
        ranked.accumulated,
        cost.count,
        cost.trace.get()
    )?;
    match cost.top {
        Some(method) => writeln!(out, "{method}"),
        None => writeln!(out, "<empty trace>"),
    }
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
