//! Contention in text: the MONITOR TIME block.

use std::io::{self, Write};

use crate::cpu::millis;
use crate::Moment;
use format::ClassName;
use tables::profile::{Contention, Contentions, Ranked};

/// Writes the MONITOR TIME block of contention that was counted at this time; its traces precede
/// the block. Without rows, it has no line of column names.
pub fn monitor_time(
    contentions: &Contentions<'_>,
    at: Moment,
    out: &mut impl Write,
) -> io::Result<()> {
    let total = millis(contentions.total_nanos());
    writeln!(out, "MONITOR TIME BEGIN (total = {total} ms) {at}")?;
    let rows = contentions.rows();
    if !rows.is_empty() {
        writeln!(out, "rank   self  accum   count trace monitor")?;
    }
    rows.iter().try_for_each(|ranked| row(ranked, out))?;
    writeln!(out, "MONITOR TIME END")
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
