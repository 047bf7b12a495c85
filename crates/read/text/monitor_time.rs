//! Contention in text: the MONITOR TIME block.

use std::io::{self, Write};

use crate::cpu::{block, millis, Row};
use crate::Moment;
use format::ClassName;
use tables::profile::Contentions;

/// Writes the MONITOR TIME block of contention that was counted at this time; its traces precede
/// the block. Without rows, it has no line of column names.
pub fn monitor_time(
    contentions: &Contentions<'_>,
    at: Moment,
    out: &mut impl Write,
) -> io::Result<()> {
    let total = format!("{} ms", millis(contentions.whole()));
    let rows = contentions.rows().iter().map(|ranked| Row {
        own: ranked.own,
        accumulated: ranked.accumulated,
        count: ranked.row.count,
        trace: ranked.row.trace.get(),
        what: format!("{} (Java)", ClassName::from_signature(ranked.row.signature)),
    });
    block("MONITOR TIME", total, at, "monitor", rows, out)
}
