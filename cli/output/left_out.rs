//! How an answer tells that a list was cut.

use serde_json::{json, Map, Value};

/// An object, of whose lists so many rows are left out: they are counted in `left_out` if the
/// object has only that, else in `…_left_out`.
pub(crate) fn object(fields: impl IntoIterator<Item = (String, (Value, usize))>) -> Value {
    let (mut object, mut missing) = (Map::new(), Vec::new());
    for (key, (value, left_out)) in fields {
        if left_out > 0 {
            missing.push((format!("{key}_left_out"), left_out as u64));
        }
        object.insert(key, value);
    }
    for (own, rows) in missing {
        let key = match object.contains_key("left_out") && !object.contains_key(&own) {
            true => "left_out".to_owned(),
            false => own,
        };
        let before = object.get(&key).and_then(Value::as_u64).unwrap_or(0);
        object.insert(key, json!(before.saturating_add(rows)));
    }
    object.into()
}
