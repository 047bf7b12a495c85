//! How an answer tells that a list was cut.

use serde_json::{json, Map, Value};

/// Counts rows that are left out of the list under a key: in `left_out` if the object has only
/// that, else in `…_left_out`.
pub(crate) fn add_left_out(object: &mut Map<String, Value>, key: &str, rows: usize) {
    if rows == 0 {
        return;
    }
    let own = format!("{key}_left_out");
    let key = match object.contains_key("left_out") && !object.contains_key(&own) {
        true => "left_out".to_owned(),
        false => own,
    };
    let before = object.get(&key).and_then(Value::as_u64).unwrap_or(0);
    object.insert(key, json!(before.saturating_add(rows as u64)));
}
