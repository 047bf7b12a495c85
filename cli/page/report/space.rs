//! The space in a page: names, each stored once, and the total size.

use std::collections::{BTreeSet, HashMap};

use serde_json::{json, Map, Value};

use crate::output::left_out;
use crate::output::plain::cut;
use crate::output::sections::{Part, Sections};

/// Most characters kept of a name.
const NAME_CHARS: usize = 200;

/// Most characters kept of a sentence, or of a path in words.
const SENTENCE_CHARS: usize = 2000;

/// Approximate bytes of a value without its name.
const VALUE_BYTES: u64 = 6;

/// Names by number, and the bytes that they and the rows take. Each section of the page has its own
/// share, so that no heap makes a page too large.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// In the order of their numbers.
    pub(crate) names: Vec<String>,
    places: HashMap<String, u32>,
    used_bytes: u64,
    limit_bytes: u64,
}

impl Space {
    /// Most rows of a list in a row: of frames, of the steps of a path.
    pub(crate) const INNER_ROWS: usize = 64;

    /// Starts the next section, with this many bytes. It should stop when [`Space::has_room`] is
    /// false.
    pub(crate) fn open(&mut self, bytes: u64) {
        self.limit_bytes = self.used_bytes.saturating_add(bytes);
    }

    /// Whether the section may add a row.
    pub(crate) fn has_room(&self) -> bool {
        self.used_bytes < self.limit_bytes
    }

    /// Counts the bytes of a row without its names.
    pub(crate) fn take(&mut self, bytes: u64) {
        self.used_bytes = self.used_bytes.saturating_add(bytes);
    }

    /// The number of a name, which is first cut and made safe.
    pub(crate) fn name(&mut self, text: &str) -> u32 {
        self.named(cut(text, NAME_CHARS))
    }

    fn named(&mut self, name: String) -> u32 {
        if let Some(place) = self.places.get(&name) {
            return *place;
        }
        self.take(page_bytes(&name) + 3);
        let place = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.places.insert(name, place);
        place
    }

    /// An answer in this many bytes. Each text but ids is the number of its name, in hexadecimal. A
    /// list of objects is their keys and their values; it ends where the space does, and what is
    /// left out of it is counted beside it. No table takes the space of those that follow.
    pub(crate) fn pack(&mut self, answer: &Sections<'_>, bytes: u64) -> Value {
        let end = self.used_bytes.saturating_add(bytes);
        let entries = answer.entries();
        let is_table = |part: &Part<'_>| matches!(part, Part::Table(_));
        let mut tables = entries.iter().filter(|(_, part)| is_table(part)).count();
        let fields = entries.into_iter().map(|(key, part)| {
            self.limit_bytes = end;
            let value = if let Part::Table(table) = part {
                self.open(end.saturating_sub(self.used_bytes) / tables.max(1) as u64);
                tables = tables.saturating_sub(1);
                let all = (0..table.rows).map(|at| json!(table.row(at)));
                self.list(table.rows, all, usize::MAX)
            } else {
                (self.packed(key, json!(part), usize::MAX), 0)
            };
            (key.to_owned(), value)
        });
        left_out::object(fields)
    }

    /// A value of JSON, in the same way.
    pub(crate) fn pack_json(&mut self, value: Value, bytes: u64) -> Value {
        self.open(bytes);
        self.packed("", value, usize::MAX)
    }

    fn packed(&mut self, key: &str, value: Value, most: usize) -> Value {
        self.take(VALUE_BYTES);
        match value {
            Value::String(text) if is_id(&text) => text.into(),
            Value::String(text) => {
                let chars = match key {
                    "sentence" | "held_by" => SENTENCE_CHARS,
                    _ => NAME_CHARS,
                };
                format!("{:x}", self.named(cut(&text, chars))).into()
            }
            Value::Array(rows) => self.list(rows.len(), rows, most).0,
            Value::Object(object) => left_out::object(object.into_iter().map(|(name, value)| {
                // Objects in a list have their keys once.
                self.take(if key.is_empty() { 0 } else { name.len() as u64 });
                let value = match value {
                    Value::Array(rows) => self.list(rows.len(), rows, most),
                    other => (self.packed(&name, other, most), 0),
                };
                (name, value)
            })),
            other => other,
        }
    }

    /// The first `most` of all rows, and how many are left out.
    fn list(
        &mut self,
        all: usize,
        rows: impl IntoIterator<Item = Value>,
        most: usize,
    ) -> (Value, usize) {
        let (mut rows, mut kept) = (rows.into_iter().take(most), Vec::new());
        while self.has_room() {
            let Some(row) = rows.next() else {
                break;
            };
            kept.push(self.packed("", row, Self::INNER_ROWS));
        }
        let left_out = all.saturating_sub(kept.len());
        (in_columns(kept), left_out)
    }
}

/// Whether it is an object's id, which is no name.
fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("0x");
    digits
        .is_some_and(|digits| digits.len() <= 16 && digits.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// Objects as their keys and their values; null stands for what an object does not have.
fn in_columns(rows: Vec<Value>) -> Value {
    let objects: Option<Vec<_>> = rows.iter().map(Value::as_object).collect();
    let Some(objects) = objects.filter(|objects| objects.len() > 1) else {
        return rows.into();
    };
    let keys: BTreeSet<&String> = objects.iter().flat_map(|it| it.keys()).collect();
    let row = |object: &&Map<String, Value>| -> Value {
        keys.iter().map(|key| object.get(*key).cloned()).collect()
    };
    json!({ "keys": keys, "rows": objects.iter().map(row).collect::<Vec<_>>() })
}

/// Bytes of a text in the page, see [`super::page::escaped`].
fn page_bytes(text: &str) -> u64 {
    let bytes = |c: char| match c {
        '<' | '>' | '&' => 6,
        '"' | '\\' => 2,
        c => c.len_utf8() as u64,
    };
    text.chars().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::table::Table;

    #[test]
    fn a_name_is_kept_once_and_cut() {
        let mut space = Space::default();
        let long = "é".repeat(1000);
        let places = [space.name("a<b"), space.name(&long), space.name("a<b")];
        assert_eq!(places, [0, 1, 0]);
        assert_eq!(space.used_bytes, 8 + 3 + 2 * 200 + 3 + 3);
        let names = space.names;
        assert_eq!(names.len(), 2);
        assert_eq!(names.last().map(|name| name.chars().count()), Some(201));
    }

    #[test]
    fn no_table_takes_the_space_of_those_that_follow() {
        let rows: Vec<u64> = (0..1000).collect();
        let table = || Table::of(&rows, 1000).hidden("number", |row| **row);
        let mut answer = Sections::default();
        answer.table("first", "first_left_out", table());
        answer.table("second", "second_left_out", table());
        let packed = Space::default().pack(&answer, 2000);
        let count = |key: &str| packed[key]["rows"].as_array().map(Vec::len);
        assert!(
            count("first") > Some(50) && count("second") > Some(50),
            "{packed}"
        );
        let left_out = |key: &str| packed[key].as_u64();
        assert_eq!(
            left_out("first_left_out"),
            count("first").map(|rows| 1000 - rows as u64)
        );
    }

    #[test]
    fn a_section_ends_with_its_share() {
        let mut space = Space::default();
        space.open(10);
        space.take(9);
        assert!(space.has_room());
        space.take(9);
        assert!(!space.has_room());
        space.open(1);
        assert!(space.has_room());
    }
}
