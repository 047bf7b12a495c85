//! What each allocating stack keeps alive.

use std::io::{self, Write};

use graph::{Heap, Retained, SiteTotal};
use serde_json::{json, Value};

use crate::dump_file::DumpFile;
use crate::frame;
use crate::number::{grouped, whole};
use crate::outcome::Failure;
use crate::plain::plain;
use crate::site_source::ADVICE;
use crate::table::{Side, Table, INDENT};

/// Number of frames printed of each stack.
pub(crate) const DEPTH_FRAMES: usize = 8;

/// The sites, largest first. Errors: no object has a stack.
pub(crate) fn rows(
    heap: &Heap<'_>,
    retained: &Retained,
    file: &DumpFile,
) -> Result<Vec<SiteTotal>, Failure> {
    let stacks = heap.stacks();
    let mut rows = retained.sites(heap);
    rows.retain(|row| !stacks.is_empty(row.trace));
    if rows.is_empty() {
        let missing = "no object of the heap dump carries the stack where it was allocated";
        return Err(file.refuse(format!("no allocation sites: {missing}. {ADVICE}")));
    }
    Ok(rows)
}

/// The first `most` sites as JSON.
pub(super) fn in_json(heap: &Heap<'_>, rows: &[SiteTotal], most: usize) -> Value {
    let stacks = heap.stacks();
    let left_out = rows.len().saturating_sub(most);
    let rows = rows.iter().take(most).map(|row| {
        json!({
            "class": heap.class_name(row.class),
            "error": whole(row.error_bytes),
            "frames": frame::in_json(stacks.frames(row.trace)),
            "objects": whole(row.objects),
            "retained": whole(row.retained_bytes),
        })
    });
    json!({ "left_out": left_out, "rows": rows.collect::<Vec<_>>() })
}

/// Prints the first `most` sites.
pub(super) fn print(
    heap: &Heap<'_>,
    rows: &[SiteTotal],
    most: usize,
    to: &mut dyn Write,
) -> io::Result<()> {
    let stacks = heap.stacks();
    let mut table = Table::new([
        ("retained", Side::Right),
        ("error", Side::Right),
        ("objects", Side::Right),
        ("class", Side::Left),
    ]);
    for row in rows.iter().take(most) {
        table.row([
            grouped(whole(row.retained_bytes)).into(),
            grouped(whole(row.error_bytes)).into(),
            grouped(whole(row.objects)).into(),
            heap.class_name(row.class).into(),
        ]);
    }
    table.print_with(to, |number, to| {
        let trace = rows.get(number).map_or(0, |row| row.trace);
        for frame in stacks.frames(trace).take(DEPTH_FRAMES) {
            writeln!(to, "{INDENT}at {}", plain(&frame::line(frame)))?;
        }
        Ok(())
    })
}
