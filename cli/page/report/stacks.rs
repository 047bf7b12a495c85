//! The allocation stacks of live bytes.

use std::cmp::Reverse;

use reader::{Site, Stacks};
use serde_json::Value;

use super::space::Space;
use crate::files::heap_file::Loaded;
use crate::output::frame;
use crate::output::{Cell, Sections, Table};

/// Bytes of the page for all stacks.
const SPACE_BYTES: u64 = 300_000;

/// Most stacks, if the page has room for them.
const ROWS_MAX: usize = 5_000;

/// Estimates of the dump's objects, otherwise the profiler's counts; null if no stack is known. A
/// row has bytes, objects, class, and the frames from the top.
pub(crate) fn packed(loaded: &Loaded, stacks: &Stacks, space: &mut Space) -> Value {
    let live = loaded.retained.live_sites(&loaded.heap, stacks);
    let is_recorded = live.is_none();
    let rows = live.or_else(|| loaded.heap.sites());
    let mut rows = rows.unwrap_or_default().rows;
    rows.retain(|row| row.live.bytes > 0 && !stacks.is_empty(row.trace));
    if rows.is_empty() {
        return Value::Null;
    }
    rows.sort_by(|a, b| {
        let key = |row: &Site| (Reverse(row.live.bytes), row.trace);
        key(a).cmp(&key(b)).then_with(|| a.class.cmp(&b.class))
    });
    let mut answer = Sections::default();
    answer.json("recorded", is_recorded);
    let total_bytes: u64 = rows.iter().map(|row| row.live.bytes).sum();
    answer.fact("total_bytes", total_bytes);
    let table = Table::of(rows, ROWS_MAX)
        .hidden("bytes", |row| row.live.bytes)
        .hidden("class", |row| row.class.clone())
        .hidden("frames", |row| {
            // One more than the page shows, so that it counts what it leaves out.
            let frames = stacks.frames(row.trace).take(Space::INNER_ROWS + 1);
            Cell::Lines(frames.map(frame::line).collect())
        });
    answer.table("rows", "left_out", table);
    space.pack(&answer, SPACE_BYTES)
}
