//! Rows of an index, printed as those of a heap are.

use std::io::{self, Write};

use serde_json::Value;

use super::{threads, title, Arguments, By};
use crate::json;
use crate::number::{counted, grouped};
use crate::table::{Side, Table};

/// Whether this is an answer of `top`: nothing that is printed is missing.
pub(super) fn is_whole(answer: &Value, by: By) -> bool {
    let (numbers, texts) = match by {
        By::Object => (["retained", "shallow"].as_slice(), vec!["id", "class"]),
        By::Thread => (
            ["retained", "frames", "objects"].as_slice(),
            vec!["id", "class"],
        ),
        _ => (
            ["retained", "shallow", "objects"].as_slice(),
            vec![title(by)],
        ),
    };
    let is_row = |row: &Value| {
        let has_numbers = numbers.iter().all(|name| row[name].is_u64());
        has_numbers && texts.iter().all(|name| row[name].is_string())
    };
    let rows = answer[rows_name(by)].as_array();
    let has_rows = rows.is_some_and(|rows| rows.iter().all(is_row));
    let of_all = ["left_out", "total_bytes"];
    has_rows && of_all.iter().all(|name| answer[name].is_u64()) && answer["sizes"].is_string()
}

/// The rows of an answer.
pub(super) fn rows(answer: &Value, by: By) -> &[Value] {
    answer[rows_name(by)].as_array().map_or(&[], Vec::as_slice)
}

fn rows_name(by: By) -> &'static str {
    match by {
        By::Object => "objects",
        _ => "rows",
    }
}

/// Prints as many rows as asked for.
pub(super) fn print(answer: &Value, arguments: &Arguments, to: &mut dyn Write) -> io::Result<()> {
    let name = rows_name(arguments.by);
    let rows = rows(answer, arguments.by);
    let left_out = number(answer, "left_out").saturating_add(rows.len() as u64);
    let shown = rows.get(..arguments.top).unwrap_or(rows);
    let left_out = left_out.saturating_sub(shown.len() as u64);
    match (arguments.json, arguments.by) {
        (true, By::Object) => objects_in_json(answer, shown, left_out, to),
        (true, _) => {
            let mut answer = answer.as_object().cloned().unwrap_or_default();
            answer.insert("left_out".to_owned(), left_out.into());
            answer.insert(name.to_owned(), shown.into());
            json::print(&answer, to)
        }
        (false, By::Object) => objects(answer, shown, left_out, to),
        (false, By::Thread) => threads::print(shown, to),
        (false, by) => groups(shown, by, to),
    }
}

fn objects_in_json(
    answer: &Value,
    rows: &[Value],
    left_out: u64,
    to: &mut dyn Write,
) -> io::Result<()> {
    writeln!(to, "{{\"objects\":[")?;
    for (place, row) in rows.iter().enumerate() {
        writeln!(to, "{}{row}", if place == 0 { "" } else { "," })?;
    }
    let (sizes, total) = (&answer["sizes"], number(answer, "total_bytes"));
    writeln!(
        to,
        "],\"left_out\":{left_out},\"sizes\":{sizes},\"total_bytes\":{total}}}"
    )
}

fn objects(answer: &Value, rows: &[Value], left_out: u64, to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("retained", Side::Right),
        ("shallow", Side::Right),
        ("object", Side::Left),
        ("class", Side::Left),
    ]);
    for row in rows {
        table.row([
            grouped(number(row, "retained")).into(),
            grouped(number(row, "shallow")).into(),
            text(row, "id").into(),
            text(row, "class").into(),
        ]);
    }
    table.print(to)?;
    let all = left_out.saturating_add(rows.len() as u64);
    let by = match answer["sizes"].as_str() {
        Some("jvm") => "the JVM itself",
        _ => "Eclipse MAT's rules",
    };
    writeln!(
        to,
        "{} bytes in {}; sizes by {by}",
        grouped(number(answer, "total_bytes")),
        counted(all, "reachable object")
    )
}

fn groups(rows: &[Value], by: By, to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("retained", Side::Right),
        ("shallow", Side::Right),
        ("objects", Side::Right),
        (title(by), Side::Left),
    ]);
    for row in rows {
        table.row([
            grouped(number(row, "retained")).into(),
            grouped(number(row, "shallow")).into(),
            grouped(number(row, "objects")).into(),
            text(row, title(by)).into(),
        ]);
    }
    table.print(to)
}

/// A number of a row; 0 if there is none.
pub(super) fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or(0)
}

/// A text of a row; empty if there is none.
pub(super) fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_owned()
}
