//! Waste as JSON.

use graph::Duplicates;
use serde_json::{json, Value};

use super::{fault, Answer};

/// All that `hprof waste` prints.
pub(super) fn of(answer: &Answer<'_, '_>) -> Value {
    let (heap, waste) = (answer.heap, &answer.waste);
    let collections = waste.collections.iter().take(answer.most).map(|row| {
        json!({
            "class": heap.class_name(row.class),
            "fault": fault(row.filling),
            "held_by": row.holder,
            "lost_bytes": row.lost_bytes,
            "objects": row.objects,
        })
    });
    let boxed = waste.boxed.iter().take(answer.most).map(|row| {
        json!({
            "bytes": row.bytes,
            "class": heap.class_name(row.class),
            "held_by": row.holder,
            "objects": row.objects,
        })
    });
    json!({
        "arrays": duplicates(answer, &waste.arrays),
        "boxed": boxed.collect::<Vec<_>>(),
        "boxed_left_out": waste.boxed.len().saturating_sub(answer.most),
        "collections": collections.collect::<Vec<_>>(),
        "collections_left_out": waste.collections.len().saturating_sub(answer.most),
        "damaged": heap.damaged(),
        "lost_bytes": waste.lost_bytes(),
        "strings": duplicates(answer, &waste.strings),
        "total_bytes": answer.total_bytes,
    })
}

fn duplicates(answer: &Answer<'_, '_>, all: &Duplicates) -> Value {
    let heap = answer.heap;
    let rows = all.groups.iter().take(answer.most).map(|row| {
        let mut value = json!({
            "class": heap.class_name(heap.class(row.object)),
            "id": format!("{:#x}", heap.id(row.object)),
            "length": row.length,
            "lost_bytes": row.lost_bytes,
            "objects": row.objects,
        });
        let text = answer.texts.as_ref().and_then(|all| all.get(&row.object));
        if let (Some(text), Some(value)) = (text, value.as_object_mut()) {
            value.insert("text".to_owned(), json!(text));
        }
        value
    });
    json!({
        "different": all.contents,
        "groups": rows.collect::<Vec<_>>(),
        "groups_left_out": all.groups.len().saturating_sub(answer.most),
        "lost_bytes": all.lost_bytes,
        "objects": all.objects,
    })
}
