//! The threads, their stacks, and the objects that their frames hold.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use graph::{GraphError, Heap, Local, Retained};
use reader::Stacks;
use serde_json::{json, Value};

use super::space::Space;
use super::stacks;

/// Bytes of the page for all threads.
const SPACE_BYTES: u64 = 250_000;

/// Approximate bytes of the numbers of a thread, and of a local.
const ROW_BYTES: u64 = 60;
const LOCAL_BYTES: u64 = 40;

/// Most objects listed for one frame, those that retain most.
const LOCALS_MAX: usize = 5;

/// The threads, most retained bytes first: name, class, id, retained bytes, number of locals,
/// frames from the top. A frame has its name, its number of locals, and the largest of them with
/// class and retained bytes.
pub(crate) fn in_json(
    heap: &Heap<'_>,
    retained: &Retained,
    stacks: &Stacks,
    space: &mut Space,
) -> Result<Value, GraphError> {
    let mut threads: Vec<u32> = heap.threads().map(|(_, thread)| thread).collect();
    threads.sort_by_key(|thread| (Reverse(retained.bytes(*thread)), *thread));
    threads.dedup();
    let names = heap.thread_names(&threads)?;
    space.open(SPACE_BYTES);
    let mut listed = Vec::new();
    for thread in &threads {
        if !space.has_room() {
            break;
        }
        let name = names.get(thread).map(|name| space.name(name));
        let class = space.name(&heap.class_name(heap.class(*thread)));
        let frames = frames(heap, retained, stacks, *thread, space);
        space.take(ROW_BYTES);
        let (id, locals) = (
            format!("{:x}", heap.id(*thread)),
            heap.locals(*thread).len(),
        );
        listed.push(json!([
            name,
            class,
            id,
            retained.bytes(*thread),
            locals,
            frames
        ]));
    }
    Ok(json!({ "count": threads.len(), "rows": listed }))
}

fn frames(
    heap: &Heap<'_>,
    retained: &Retained,
    stacks: &Stacks,
    thread: u32,
    space: &mut Space,
) -> Vec<Value> {
    let mut by_frame: BTreeMap<u32, Vec<&Local>> = BTreeMap::new();
    for local in heap.locals(thread) {
        if let Some(frame) = local.frame {
            by_frame.entry(frame).or_default().push(local);
        }
    }
    let trace = heap.thread_trace(thread).unwrap_or_default();
    let names = stacks::frames(stacks, trace, space);
    let mut frames = Vec::new();
    for (place, name) in (0_u32..).zip(names) {
        let mut locals = by_frame.remove(&place).unwrap_or_default();
        locals.sort_by_key(|local| (Reverse(retained.bytes(local.object)), local.object));
        locals.dedup_by_key(|local| local.object);
        let mut largest = Vec::new();
        for local in locals.iter().take(LOCALS_MAX) {
            space.take(LOCAL_BYTES);
            let class = space.name(&heap.class_name(heap.class(local.object)));
            largest.push(json!([class, retained.bytes(local.object)]));
        }
        frames.push(json!([name, locals.len(), largest]));
    }
    frames
}
