//! The allocation stacks of live bytes.

use std::cmp::Reverse;
use std::collections::HashMap;

use graph::Heap;
use reader::Stacks;
use serde_json::{json, Value};

use super::space::Space;
use crate::frame;

/// Bytes of the page for all stacks.
const SPACE_BYTES: u64 = 300_000;

/// Approximate bytes of a row without its frames, and of a frame.
const ROW_BYTES: u64 = 30;
const FRAME_BYTES: u64 = 6;

/// Most frames shown of a stack, from the top.
pub(crate) const FRAMES_MAX: usize = 64;

/// Objects of one class allocated by one stack.
struct Row {
    bytes: u64,
    objects: u64,
    class: String,
    trace: u32,
}

/// The profiler's counts, otherwise those of the dump's objects; null if no stack is known. A row
/// has bytes, objects, class, and the frames from the top.
pub(crate) fn in_json(heap: &Heap<'_>, stacks: &Stacks, space: &mut Space) -> Value {
    let recorded = recorded(heap, stacks);
    let is_recorded = !recorded.is_empty();
    let mut rows = if is_recorded {
        recorded
    } else {
        carried(heap, stacks)
    };
    if rows.is_empty() {
        return Value::Null;
    }
    rows.sort_by(|a, b| {
        let key = |row: &Row| (Reverse(row.bytes), row.trace);
        key(a).cmp(&key(b)).then_with(|| a.class.cmp(&b.class))
    });
    space.open(SPACE_BYTES);
    let mut listed = Vec::new();
    let (mut stacks_left, mut bytes_left) = (0_u64, 0_u64);
    for row in &rows {
        if !space.has_room() {
            stacks_left += 1;
            bytes_left = bytes_left.saturating_add(row.bytes);
            continue;
        }
        let class = space.name(&row.class);
        let frames = frames(stacks, row.trace, space);
        space.take(ROW_BYTES);
        let is_cut = stacks.depth_frames(row.trace) > FRAMES_MAX;
        listed.push(json!([
            row.bytes,
            row.objects,
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
pub(crate) fn frames(stacks: &Stacks, trace: u32, space: &mut Space) -> Vec<u32> {
    let mut names = Vec::new();
    for frame in stacks.frames(trace).take(FRAMES_MAX) {
        space.take(FRAME_BYTES);
        names.push(space.name(&frame::line(frame)));
    }
    names
}

fn recorded(heap: &Heap<'_>, stacks: &Stacks) -> Vec<Row> {
    let table = heap.sites().unwrap_or_default();
    let with_stack = |site: &&reader::Site| site.live.bytes > 0 && !stacks.is_empty(site.trace);
    let row = |site: &reader::Site| Row {
        bytes: site.live.bytes,
        objects: site.live.objects,
        class: site.class.to_string(),
        trace: site.trace,
    };
    table.rows.iter().filter(with_stack).map(row).collect()
}

fn carried(heap: &Heap<'_>, stacks: &Stacks) -> Vec<Row> {
    let mut counts: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    for (object, trace) in heap.traced() {
        let (bytes, objects) = counts.entry((*trace, heap.class(*object))).or_default();
        (*bytes, *objects) = (*bytes + heap.shallow_bytes(*object), *objects + 1);
    }
    counts.retain(|(trace, _), _| !stacks.is_empty(*trace));
    let row = |((trace, class), (bytes, objects))| Row {
        bytes,
        objects,
        class: heap.class_name(class),
        trace,
    };
    counts.into_iter().map(row).collect()
}
