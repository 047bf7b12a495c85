//! What each thread keeps alive.

use std::io::{self, Write};

use graph::{Dominator, GraphError, Retained};
use serde_json::{json, Value};

use super::kept::{number, text};
use crate::heap_file::{sizes_word, Loaded};
use crate::leaks::described;
use crate::number::grouped;
use crate::table::{Side, Table};
use crate::threads::{threads, Thread};

/// The first `most` threads as JSON, largest retained size first. Errors: the file cannot be read.
pub(super) fn in_json(loaded: &Loaded<'_>, most: usize) -> Result<Value, GraphError> {
    let (heap, retained) = (&loaded.heap, &loaded.retained);
    let stacks = heap.stacks();
    let (threads, left_out) = threads((heap, retained), &stacks, most)?;
    let rows = threads.iter().map(|thread| {
        let object = thread.object;
        json!({
            "class": described(heap, object),
            "frames": frames_bytes(retained, thread),
            "id": format!("{:#x}", heap.id(object)),
            "objects": retained.subtree(object).count(),
            "retained": retained.bytes(object),
            "thread": thread.name,
        })
    });
    Ok(json!({
        "left_out": left_out,
        "rows": rows.collect::<Vec<_>>(),
        "sizes": sizes_word(heap.sizes()),
        "total_bytes": retained.total_bytes(),
    }))
}

/// Of the bytes that a thread retains, those that its frames lead to at once.
fn frames_bytes(retained: &Retained, thread: &Thread<'_>) -> u64 {
    let mut held: Vec<u32> = thread.locals.iter().map(|local| local.object).collect();
    held.sort_unstable();
    held.dedup();
    let alone = |object: &u32| retained.dominator(*object) == Dominator::Object(thread.object);
    let bytes = held.iter().filter(|object| alone(object));
    bytes.map(|object| retained.bytes(*object)).sum()
}

/// Prints rows of [`in_json`].
pub(super) fn print(rows: &[Value], to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("retained", Side::Right),
        ("frames", Side::Right),
        ("objects", Side::Right),
        ("thread", Side::Left),
    ]);
    for row in rows {
        let (class, id) = (text(row, "class"), text(row, "id"));
        let name = row["thread"].as_str().unwrap_or("?");
        table.row([
            grouped(number(row, "retained")).into(),
            grouped(number(row, "frames")).into(),
            grouped(number(row, "objects")).into(),
            format!("\"{name}\" {class} {id}").into(),
        ]);
    }
    table.print(to)
}
