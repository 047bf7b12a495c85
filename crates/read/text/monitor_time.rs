//! Contention in text: the MONITOR TIME block.

use std::io::{self, Write};

use crate::cpu::millis;
use crate::Moment;
use format::ClassName;
use tables::profile::{Contention, Contentions, Ranked};

/// The MONITOR TIME block.
#[derive(Clone, Copy, Debug)]
pub struct MonitorTimeBlock<'a> {
    /// The contention, ranked; its traces precede the block.
    pub contentions: &'a Contentions<'a>,
    /// The time of the count.
    pub at: Moment,
}

impl MonitorTimeBlock<'_> {
    /// Writes the block; without rows, it has no line of column names.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let total = millis(self.contentions.whole());
        writeln!(out, "MONITOR TIME BEGIN (total = {total} ms) {}", self.at)?;
        let rows = self.contentions.rows();
        if !rows.is_empty() {
            writeln!(out, "rank   self  accum   count trace monitor")?;
        }
        rows.iter().try_for_each(|ranked| row(ranked, out))?;
        writeln!(out, "MONITOR TIME END")
    }
}

fn row(ranked: &Ranked<'_, Contention<'_>>, out: &mut impl Write) -> io::Result<()> {
    let contention = ranked.row;
    writeln!(
        out,
        "{:>4} {} {} {:>7} {:>5} {} (Java)",
        ranked.rank,
        ranked.own,
        ranked.accumulated,
        contention.count,
        contention.trace.get(),
        ClassName::from_signature(contention.signature)
    )
}
