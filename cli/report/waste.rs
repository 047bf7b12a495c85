//! What holds nothing new.

use graph::{Copies, Duplicates, Heap, Waste};
use serde_json::{json, Value};

use super::space::Space;
use crate::answer::waste::{fault, left_out};

/// Bytes of the page for all tables.
const SPACE_BYTES: u64 = 60_000;

/// Approximate bytes of a row without its names.
const ROW_BYTES: u64 = 60;

/// Most rows of each table.
const ROWS_MAX: usize = 25;

/// Bytes lost and the tables, largest loss first. A row of strings or arrays has bytes, objects,
/// length, class and the id of one of them; of collections bytes, objects, fault, class and holder;
/// of boxed values bytes, objects, class and holder.
pub(crate) fn in_json(heap: &Heap<'_>, waste: &Waste, space: &mut Space) -> Value {
    space.open(SPACE_BYTES);
    let collections = rows(&waste.collections, space, |row, space| {
        let class = space.name(&heap.class_name(row.class));
        let holder = space.name(&row.holder);
        json!([
            row.lost_bytes,
            row.objects,
            fault(row.filling),
            class,
            holder
        ])
    });
    let boxed = rows(&waste.boxed, space, |row, space| {
        let class = space.name(&heap.class_name(row.class));
        json!([row.bytes, row.objects, class, space.name(&row.holder)])
    });
    json!({
        "arrays": duplicates(heap, &waste.arrays, space),
        "boxed": boxed,
        "boxed_bytes": waste.boxed.iter().map(|row| row.bytes).sum::<u64>(),
        "collections": collections,
        "collections_bytes": waste.collections.iter().map(|row| row.lost_bytes).sum::<u64>(),
        "left_out": heap.redacted().map(|word| left_out(word, waste.unseen)),
        "lost": waste.lost_bytes(),
        "strings": duplicates(heap, &waste.strings, space),
        "zeros": duplicates(heap, &waste.zeros, space),
    })
}

fn duplicates(heap: &Heap<'_>, all: &Duplicates, space: &mut Space) -> Value {
    let rows = rows(&all.groups, space, |row: &Copies, space| {
        let class = space.name(&heap.class_name(heap.class(row.object)));
        let id = format!("{:x}", heap.id(row.object));
        json!([row.lost_bytes, row.objects, row.length, class, id])
    });
    json!({ "different": all.contents, "lost": all.lost_bytes, "objects": all.objects, "table": rows })
}

/// As many rows as the page has room for, and how many are left out.
fn rows<T>(all: &[T], space: &mut Space, row: impl Fn(&T, &mut Space) -> Value) -> Value {
    let mut listed = Vec::new();
    for one in all.iter().take(ROWS_MAX) {
        if !space.has_room() {
            break;
        }
        space.take(ROW_BYTES);
        listed.push(row(one, space));
    }
    json!({ "left": all.len() - listed.len(), "rows": listed })
}
