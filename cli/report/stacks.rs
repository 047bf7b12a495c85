//! The allocation stacks of live bytes.

use std::cmp::Reverse;

use graph::{Heap, Retained};
use reader::{Site, Stacks};
use serde_json::{json, Value};

use super::space::Space;
use crate::frame;

/// Bytes of the page for all stacks.
const SPACE_BYTES: u64 = 300_000;

/// Approximate bytes of a row without its frames, and of a frame.
const ROW_BYTES: u64 = 30;
const FRAME_BYTES: u64 = 6;

/// Most frames shown of a stack, from the top.
const FRAMES_MAX: usize = 64;

/// Estimates of the dump's objects, otherwise the profiler's counts; null if no stack is known. A
/// row has bytes, objects, class, and the frames from the top.
pub(crate) fn in_json(
    (heap, retained): (&Heap<'_>, &Retained),
    stacks: &Stacks,
    space: &mut Space,
) -> Value {
    let live = retained.live_sites(heap, stacks);
    let is_recorded = live.is_none();
    let mut rows = live.or_else(|| heap.sites()).unwrap_or_default().rows;
    rows.retain(|row| row.live.bytes > 0 && !stacks.is_empty(row.trace));
    if rows.is_empty() {
        return Value::Null;
    }
    rows.sort_by(|a, b| {
        let key = |row: &Site| (Reverse(row.live.bytes), row.trace);
        key(a).cmp(&key(b)).then_with(|| a.class.cmp(&b.class))
    });
    space.open(SPACE_BYTES);
    let mut listed = Vec::new();
    let (mut stacks_left, mut bytes_left) = (0_u64, 0_u64);
    for row in &rows {
        if !space.has_room() {
            stacks_left += 1;
            bytes_left = bytes_left.saturating_add(row.live.bytes);
            continue;
        }
        let class = space.name(&row.class);
        let frames = frames(stacks, row.trace, space);
        space.take(ROW_BYTES);
        let is_cut = stacks.depth_frames(row.trace) > FRAMES_MAX;
        listed.push(json!([
            row.live.bytes,
            row.live.objects,
            class,
            frames,
            u8::from(is_cut)
        ]));
    }
    json!({
        "recorded": is_recorded,
        "rows": listed,
        "rest": { "stacks": stacks_left, "bytes": bytes_left },
    })
}

/// The numbers of the frames' names of a trace, from the top.
fn frames(stacks: &Stacks, trace: u32, space: &mut Space) -> Vec<u32> {
    let mut names = Vec::new();
    for frame in stacks.frames(trace).take(FRAMES_MAX) {
        space.take(FRAME_BYTES);
        names.push(space.name(&frame::line(frame)));
    }
    names
}
