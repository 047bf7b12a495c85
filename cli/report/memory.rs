//! The memory of the process, and what objects hold outside of the heap.

use serde_json::Value;

use super::space::cut_to;
use crate::heap_file::Loaded;
use crate::memory;
use crate::outcome::Failure;
use crate::process::Process;

/// Most rows of each table.
const ROWS: usize = 10;

/// Most characters of a text.
const TEXT_CHARS: usize = 1000;

/// The answer of `hprof memory`, with its texts cut; null if it has nothing but the heap. Errors:
/// the file cannot be read.
pub(crate) fn in_json(loaded: &Loaded<'_>, process: Option<&Process>) -> Result<Value, Failure> {
    let of = |process| memory::answer(&loaded.file, &loaded.heap, process, ROWS);
    // The process may have ended meanwhile.
    let mut answer = of(process).or_else(|_| of(None))?.in_json();
    let has = |part: &str| {
        answer
            .get(part)
            .is_some_and(|part| !matches!(part, Value::Null))
    };
    let holders = answer.get("holders").and_then(Value::as_array);
    if !has("process") && holders.is_none_or(Vec::is_empty) {
        return Ok(Value::Null);
    }
    cut(&mut answer);
    Ok(answer)
}

fn cut(value: &mut Value) {
    match value {
        Value::String(text) => *text = cut_to(text, TEXT_CHARS),
        Value::Array(all) => all.iter_mut().for_each(cut),
        Value::Object(all) => all.values_mut().for_each(cut),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
