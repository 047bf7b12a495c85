//! An answer of a few kilobytes, as a model reads it: rows and names are cut, and what is left out
//! is counted.

use serde_json::{json, Map, Value};

use crate::output::folding::is_library;
use crate::output::left_out;
use crate::output::plain::cut;

/// Most bytes of an answer.
pub(crate) const ANSWER_BYTES_MAX: usize = 8 << 10;

/// Most characters of a sentence, which is the answer: names in it may be hostile.
const SENTENCE_CHARS: usize = 2000;

/// Rows of a list and characters of a text, from what is nice to what always fits.
const LIMITS: [(usize, usize); 6] = [
    (100, 1000),
    (30, 300),
    (12, 200),
    (6, 120),
    (2, 80),
    (1, 40),
];

#[derive(Clone, Copy)]
struct Limits {
    rows: usize,
    chars: usize,
}

/// The answer as JSON, of at most [`ANSWER_BYTES_MAX`] bytes.
///
/// Beside a list that is cut stands how many rows are missing: in `left_out` if the object has only
/// that, else in `…_left_out`. A path keeps both of its ends.
pub(crate) fn brief(answer: &Value) -> String {
    let mut shortest = String::new();
    for (rows, chars) in LIMITS {
        shortest = Limits { rows, chars }.cut(answer).to_string();
        if shortest.len() <= ANSWER_BYTES_MAX {
            break;
        }
    }
    shortest
}

impl Limits {
    fn cut(self, value: &Value) -> Value {
        match value {
            Value::String(text) => cut(text, self.chars).into(),
            Value::Array(rows) => self.rows(rows, false).0,
            Value::Object(object) => self.object(object),
            other => other.clone(),
        }
    }

    /// The rows, and how many are left out. Of a path those in the middle are.
    fn rows(self, rows: &[Value], is_path: bool) -> (Value, usize) {
        let left_out = rows.len().saturating_sub(self.rows);
        let tail = if is_path { self.rows / 2 } else { 0 };
        let behind = rows.len().saturating_sub(tail);
        let kept = rows.iter().enumerate().filter(|(place, _)| {
            left_out == 0 || *place < self.rows.saturating_sub(tail) || *place >= behind
        });
        let mut kept: Vec<Value> = kept.map(|(_, row)| self.cut(row)).collect();
        if is_path && left_out > 0 {
            let dropped = rows
                .get(self.rows.saturating_sub(tail)..behind)
                .unwrap_or_default();
            // One of them may stand for what was left out before.
            let objects = |row: &Value| row.get("left_out").and_then(Value::as_u64).unwrap_or(1);
            let objects: u64 = dropped.iter().map(objects).sum();
            kept.insert(self.rows - tail, json!({ "left_out": objects }));
        }
        (kept.into(), left_out)
    }

    fn object(self, object: &Map<String, Value>) -> Value {
        let is_path = object.contains_key("weak");
        let fields = object.iter().map(|(key, value)| {
            let kept = match value {
                Value::String(text) if key == "sentence" => (cut(text, SENTENCE_CHARS).into(), 0),
                Value::Array(frames) if key == "frames" => self.rows(&folded(frames), false),
                Value::Array(rows) if is_path => (self.rows(rows, true).0, 0),
                Value::Array(rows) => self.rows(rows, false),
                other => (self.cut(other), 0),
            };
            (key.clone(), kept)
        });
        left_out::object(fields)
    }
}

/// Frames, where one row counts those of libraries that follow each other and hold nothing.
fn folded(frames: &[Value]) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    for run in frames.chunk_by(|one, next| is_plumbing(one) && is_plumbing(next)) {
        match run {
            [first, _, ..] if is_plumbing(first) => {
                rows.push(json!({ "library_frames": run.len() }));
            }
            _ => rows.extend_from_slice(run),
        }
    }
    rows
}

fn is_plumbing(frame: &Value) -> bool {
    let line = frame.get("class").or_else(|| frame.get("at"));
    let class = line.and_then(Value::as_str).unwrap_or_default();
    let holds = |value: &Value| value.as_array().is_some_and(|rows| !rows.is_empty());
    let holds = frame
        .as_object()
        .is_some_and(|frame| frame.values().any(holds));
    !holds && is_library(class)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_as_it_is() {
        let answer = json!({ "left_out": 0, "rows": [{ "class": "app.Main", "retained": 5 }] });
        assert_eq!(brief(&answer), answer.to_string());
    }

    #[test]
    fn rows_that_are_left_out_are_counted() {
        let rows: Vec<Value> = (0..5000)
            .map(|number| json!({ "class": "c".repeat(500), "id": number }))
            .collect();
        let answer = json!({ "left_out": 7, "rows": rows, "groups": rows });
        let text = brief(&answer);
        assert!(text.len() <= ANSWER_BYTES_MAX, "{}", text.len());
        let answer: Value = serde_json::from_str(&text).unwrap();
        let kept = answer["rows"].as_array().unwrap().len() as u64;
        assert!(kept > 0);
        assert_eq!(answer["left_out"], 7 + 2 * (5000 - kept));
        let both = json!({ "left_out": 7, "paths": rows, "paths_left_out": 1, "rows": [] });
        let both: Value = serde_json::from_str(&brief(&both)).unwrap();
        let paths = both["paths"].as_array().unwrap().len() as u64;
        assert_eq!(
            (&both["left_out"], &both["paths_left_out"]),
            (&json!(7), &json!(5001 - paths))
        );
        let answer: Value = serde_json::from_str(&brief(&json!({ "rows": rows }))).unwrap();
        let kept = answer["rows"].as_array().unwrap().len() as u64;
        assert_eq!(answer["rows_left_out"], 5000 - kept);
    }

    #[test]
    fn a_path_keeps_both_ends() {
        let objects: Vec<Value> = (0..1000).map(|number| json!({ "id": number })).collect();
        let answer: Value =
            serde_json::from_str(&brief(&json!({ "objects": objects, "weak": false }))).unwrap();
        let kept = answer["objects"].as_array().unwrap();
        assert_eq!(kept.first().unwrap()["id"], 0);
        assert_eq!(kept.last().unwrap()["id"], 999);
        let left_out = kept.iter().find_map(|row| row["left_out"].as_u64());
        assert_eq!(left_out.unwrap() + kept.len() as u64 - 1, 1000);
    }

    #[test]
    fn what_is_left_out_of_a_path_twice_is_counted_once() {
        let name = "c".repeat(400);
        let mut objects: Vec<Value> = (0..36)
            .map(|id| json!({ "class": name, "id": id }))
            .collect();
        objects.insert(
            12,
            json!({ "class": name, "left_out": 1000, "of_class": 1000 }),
        );
        let answer: Value =
            serde_json::from_str(&brief(&json!({ "objects": objects, "weak": false }))).unwrap();
        let kept = answer["objects"].as_array().unwrap();
        assert!(kept.len() < 36, "{answer}");
        let left_out = kept.iter().filter_map(|row| row["left_out"].as_u64());
        let shown = kept.iter().filter(|row| row["id"].is_u64());
        assert_eq!(left_out.sum::<u64>() + shown.count() as u64, 1036);
    }

    #[test]
    fn a_sentence_is_not_cut() {
        let sentence = "It retains all. ".repeat(40);
        let rows: Vec<Value> = (0..500)
            .map(|id| json!({ "class": "c".repeat(500), "id": id }))
            .collect();
        let text = brief(&json!({ "rows": rows, "sentence": sentence }));
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert!(text.len() <= ANSWER_BYTES_MAX);
        assert_eq!(answer["sentence"], sentence);
    }

    #[test]
    fn frames_of_libraries_that_hold_nothing_are_one_row() {
        let frame = |class: &str| json!({ "class": class, "method": "run" });
        let holder = json!({ "class": "java.lang.Thread", "holds": [{ "id": "0x7" }] });
        let frames = [
            frame("java.util.HashMap"),
            frame("app.Main"),
            frame("java.lang.A"),
            json!({ "at": "jdk.internal.B.run(B.java)", "locals": [] }),
            holder.clone(),
        ];
        let answer: Value = serde_json::from_str(&brief(&json!({ "frames": frames }))).unwrap();
        let expected = json!([frames[0], frames[1], { "library_frames": 2 }, holder]);
        assert_eq!(answer["frames"], expected);
    }

    #[test]
    fn names_are_cut_and_cannot_move_a_cursor() {
        let long = format!("\u{1b}[2J{}", "x".repeat(100_000));
        let text = brief(&json!({ "class": long }));
        assert!(text.len() < 2000 && !text.contains("\\u001b") && text.contains('…'));
    }
}
