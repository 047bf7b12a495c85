//! One object as JSON.

use format::{BasicType, ClassName};
use graph::{Contents, Dominator, FieldValue};
use serde_json::{json, Value};

use super::{value, values, Facts, Page, Shown};
use crate::answer::object::ObjectRow;

/// All that `hprof show` prints of an object.
pub(super) fn of(page: &Page<'_, '_>, object: u32, facts: &Facts) -> Value {
    let (heap, retained) = (page.heap, page.retained);
    let mut answer = json!(ObjectRow::of(heap, retained, object));
    let dominator = match retained.dominator(object) {
        Dominator::Object(above) => json!(ObjectRow::of(heap, retained, above)),
        Dominator::Unreachable | Dominator::Roots => Value::Null,
    };
    let more = json!({
        "contents": facts.contents.as_ref().map(|contents| contents_in_json(page, contents)),
        "dominates": list(page, &retained.dominated(object)),
        "dominator": dominator,
        "reachable": retained.is_reachable(object),
        "referrers": list(page, &facts.referrers),
        "root": heap.root_kind(object).map(|kind| kind.name()),
        "text": facts.text,
    });
    if let (Some(answer), Value::Object(more)) = (answer.as_object_mut(), more) {
        answer.extend(more);
    }
    answer
}

/// Objects, and how many are left out.
fn list(page: &Page<'_, '_>, objects: &[u32]) -> Value {
    let shown = objects.iter().take(page.most);
    let shown = shown.map(|object| ObjectRow::of(page.heap, page.retained, *object));
    json!({
        "left_out": objects.len().saturating_sub(page.most),
        "objects": shown.collect::<Vec<_>>(),
    })
}

fn contents_in_json(page: &Page<'_, '_>, contents: &Contents) -> Value {
    match contents {
        Contents::References { length, ids } => {
            let listed = ids.iter().take(page.most).map(|id| reference(page, *id));
            json!({ "elements": listed.collect::<Vec<_>>(), "length": length })
        }
        Contents::Values {
            length,
            kind,
            bytes,
        } => {
            let listed = values(*kind, bytes).take(page.most);
            let listed = page.with_strings().then(|| listed.collect::<Vec<_>>());
            json!({ "length": length, "type": type_name(*kind), "values": listed })
        }
        Contents::Class(_) | Contents::Instance { .. } => {
            let fields = page.heap.fields(contents);
            let listed = fields.iter().take(page.most);
            let listed = listed.map(|field| field_in_json(page, field));
            json!({
                "fields": listed.collect::<Vec<_>>(),
                "left_out": fields.len().saturating_sub(page.most),
            })
        }
    }
}

fn field_in_json(page: &Page<'_, '_>, field: &FieldValue) -> Value {
    let mut row = json!({ "name": field.name, "type": type_name(field.kind) });
    let (key, told) = match (field.kind, page.shown) {
        (BasicType::Object, _) => ("object", reference(page, field.value)),
        (_, Shown::References) => ("value", Value::Null),
        (kind, Shown::Values { .. }) => ("value", value(kind, field.value).into()),
    };
    if let Some(row) = row.as_object_mut() {
        row.insert(key.to_owned(), told);
    }
    row
}

/// An object by its id; null for null. One that is not in the dump has nothing but the id.
fn reference(page: &Page<'_, '_>, id: u64) -> Value {
    match page.heap.object(id) {
        _ if id == 0 => Value::Null,
        Some(object) => json!(ObjectRow::of(page.heap, page.retained, object)),
        None => json!({ "id": format!("{id:#x}") }),
    }
}

/// `int`; `object` for a reference.
fn type_name(kind: BasicType) -> String {
    match kind {
        BasicType::Object => "object".to_owned(),
        kind => {
            let array = ClassName::array_of(kind).to_java();
            array.trim_end_matches("[]").to_owned()
        }
    }
}
