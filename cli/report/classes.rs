//! The table of classes.

use std::cmp::Reverse;

use graph::{Heap, Retained, Total};
use serde_json::{json, Value};

use super::space::Space;

/// Bytes of the page for this table.
const SPACE_BYTES: u64 = 450_000;

/// Approximate bytes of a row's numbers.
const ROW_BYTES: u64 = 40;

/// The classes with reachable objects, most retained bytes first: name, objects, shallow and
/// retained bytes. Classes that do not fit are summed up.
pub(crate) fn in_json(heap: &Heap<'_>, retained: &Retained, space: &mut Space) -> Value {
    let totals = retained.totals(heap, heap.classes(), |object| heap.class(object));
    let mut rows: Vec<(u32, Total)> = (0..).zip(totals).collect();
    rows.retain(|(_, total)| total.objects > 0);
    rows.sort_by_key(|(class, total)| (Reverse(total.retained_bytes), *class));
    space.open(SPACE_BYTES);
    let mut listed = Vec::new();
    let (mut classes, mut objects, mut bytes) = (0_u64, 0_u64, 0_u64);
    for (class, total) in &rows {
        if space.has_room() {
            space.take(ROW_BYTES);
            let name = space.name(&heap.class_name(*class));
            listed.push(json!([
                name,
                total.objects,
                total.shallow_bytes,
                total.retained_bytes
            ]));
        } else {
            classes += 1;
            objects += total.objects;
            bytes += total.shallow_bytes;
        }
    }
    json!({
        "rows": listed,
        "rest": { "classes": classes, "objects": objects, "bytes": bytes },
    })
}
