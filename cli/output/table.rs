//! A table of an answer: rows of typed cells, as aligned text and as JSON.

use std::fmt;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::output::cell::Cell;
use crate::output::number::{counted, grouped};
use crate::output::screen::title;

/// The indentation of lines below a row.
pub(crate) const INDENT: &str = "        ";

/// Where a column's cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
    /// In JSON alone.
    Hidden,
    /// The same, and only in rows that have one.
    Optional,
    /// In lines below the row.
    Below,
}

/// A column's title in text, its key in JSON, and its side. Without title it is not in the text,
/// without key not in JSON.
#[derive(Clone, Copy, Debug)]
struct Head {
    title: &'static str,
    key: &'static str,
    side: Side,
}

/// Makes a row's cell of a column.
type CellOf<'a, R> = Box<dyn Fn(&R) -> Cell + 'a>;

/// Rows of this type, to which columns are added.
pub(crate) struct Rows<'a, R> {
    rows: Vec<R>,
    left_out: usize,
    heads: Vec<Head>,
    cells: Vec<CellOf<'a, R>>,
}

impl<'a, R: 'a> Rows<'a, R> {
    /// With a column of words. Without title it is not in the text, without key not in JSON.
    pub(crate) fn left<C: Into<Cell>>(
        self,
        title: &'static str,
        key: &'static str,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column((title, key, Side::Left), cell)
    }

    /// With a column of numbers. Without title it is not in the text, without key not in JSON.
    pub(crate) fn right<C: Into<Cell>>(
        self,
        title: &'static str,
        key: &'static str,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column((title, key, Side::Right), cell)
    }

    /// With a column of JSON alone.
    pub(crate) fn hidden<C: Into<Cell>>(
        self,
        key: &'static str,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(("", key, Side::Hidden), cell)
    }

    /// With a column of JSON alone, which only those rows have that have a value.
    pub(crate) fn optional<C: Into<Cell>>(
        self,
        key: &'static str,
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(("", key, Side::Optional), cell)
    }

    /// With lines below each row of the text, which keep to no column and are safe to print.
    pub(crate) fn below(self, lines: impl Fn(&R) -> Vec<String> + 'a) -> Self {
        self.column(("", "", Side::Below), move |row| Cell::Lines(lines(row)))
    }

    fn column<C: Into<Cell>>(
        mut self,
        (title, key, side): (&'static str, &'static str, Side),
        cell: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.heads.push(Head { title, key, side });
        self.cells.push(Box::new(move |row| cell(row).into()));
        self
    }

    /// The table.
    pub(crate) fn done(self) -> Table<'a> {
        let (rows, cells) = (self.rows, self.cells);
        Table {
            heads: self.heads,
            rows: rows.len(),
            shown: usize::MAX,
            left_out: self.left_out,
            cell: Box::new(
                move |row, column| match (rows.get(row), cells.get(column)) {
                    (Some(row), Some(cell)) => cell(row),
                    _ => Cell::Missing,
                },
            ),
            total: Vec::new(),
            noun: "",
        }
    }
}

/// Rows of cells, which are made when they are printed.
pub(crate) struct Table<'a> {
    heads: Vec<Head>,
    rows: usize,
    /// Most rows of the text.
    shown: usize,
    left_out: usize,
    /// The cell of a row and a column.
    cell: Box<dyn Fn(usize, usize) -> Cell + 'a>,
    /// The last row of the text.
    total: Vec<Cell>,
    /// What a row is, in the line that counts those that are left out.
    noun: &'static str,
}

impl<'a> Table<'a> {
    /// The first `most` rows, to which columns are added.
    pub(crate) fn of<R>(rows: impl IntoIterator<Item = R>, most: usize) -> Rows<'a, R> {
        let mut rows = rows.into_iter();
        Rows {
            rows: rows.by_ref().take(most).collect(),
            left_out: rows.count(),
            heads: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// With at most so many rows in the text.
    pub(crate) fn shown(mut self, most: usize) -> Self {
        self.shown = most;
        self
    }

    /// With so many more rows that are left out.
    pub(crate) fn left_out(mut self, more: usize) -> Self {
        self.left_out = self.left_out.saturating_add(more);
        self
    }

    /// With a line of text, if rows are left out, that counts them by this noun.
    pub(crate) fn noun(mut self, noun: &'static str) -> Self {
        self.noun = noun;
        self
    }

    /// With a last row in the text.
    pub(crate) fn total(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.total = cells.into_iter().collect();
        self
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of rows that are left out.
    pub(crate) fn rest(&self) -> usize {
        self.left_out
    }

    /// Prints titles and rows, with two spaces between columns and none at the end; nothing if
    /// there are no rows.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let shown = self.rows.min(self.shown);
        if shown == 0 && self.total.is_empty() {
            return self.print_rest(to);
        }
        let heads = self.heads.iter().enumerate();
        let columns: Vec<(usize, &Head)> =
            heads.filter(|(_, head)| !head.title.is_empty()).collect();
        if columns.is_empty() {
            return (1..=shown).try_for_each(|row| self.print_below(row, to));
        }
        let mut cells: Vec<Cell> = columns.iter().map(|(_, head)| head.title.into()).collect();
        for row in 0..shown {
            cells.extend(columns.iter().map(|(column, _)| (self.cell)(row, *column)));
        }
        cells.extend_from_slice(&self.total);
        let mut widths = vec![0; columns.len()];
        for row in cells.chunks(columns.len()) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text().chars().count());
            }
        }
        for (number, row) in cells.chunks(columns.len()).enumerate() {
            let mut line = String::new();
            for ((cell, width), (_, head)) in row.iter().zip(&widths).zip(&columns) {
                let text = cell.text();
                // Formatting limits widths, and names from a file may exceed the limit.
                let blanks = " ".repeat(width.saturating_sub(text.chars().count()));
                match head.side {
                    Side::Right => line.extend([&blanks, &*text]),
                    _ => line.extend([&*text, &blanks]),
                }
                line.push_str("  ");
            }
            let line = line.trim_end();
            match number {
                0 => writeln!(to, "{}", title(line))?,
                _ => writeln!(to, "{line}")?,
            }
            self.print_below(number, to)?;
        }
        self.print_rest(to)
    }

    /// Prints what stands below a row, whose number is from 1.
    fn print_below(&self, row: usize, to: &mut dyn Write) -> io::Result<()> {
        let is_below = |head: &Head| head.side == Side::Below;
        let column = self.heads.iter().position(is_below);
        if let (Some(row), Some(column)) = (row.checked_sub(1), column) {
            if let Cell::Lines(lines) = (self.cell)(row, column) {
                lines.iter().try_for_each(|line| writeln!(to, "{line}"))?;
            }
        }
        Ok(())
    }

    fn print_rest(&self, to: &mut dyn Write) -> io::Result<()> {
        let more = match (self.left_out, self.noun) {
            (0, _) | (_, "") => return Ok(()),
            (2.., "class") => format!("{} more classes", grouped(self.left_out as u64)),
            (left_out, noun) => counted(left_out as u64, &format!("more {noun}")),
        };
        writeln!(to, "... and {more}; --top 0 prints all")
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The rows in JSON, each made when it is asked for.
    pub(crate) fn rows_in_json(&self) -> impl Iterator<Item = Value> + '_ {
        let keys = self.keys();
        (0..self.rows).map(move |row| {
            let row = Row {
                table: self,
                keys: &keys,
                row,
            };
            serde_json::to_value(row).unwrap_or_default()
        })
    }

    /// The keys of JSON in their order, each with the number of its column.
    fn keys(&self) -> Vec<(usize, &Head)> {
        let heads = self.heads.iter().enumerate();
        let mut keys: Vec<_> = heads.filter(|(_, head)| !head.key.is_empty()).collect();
        keys.sort_by_key(|(_, head)| head.key);
        keys
    }
}

impl Serialize for Table<'_> {
    /// A list of rows, one after the other: they may be more than fit into memory.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let keys = self.keys();
        to.collect_seq((0..self.rows).map(|row| Row {
            table: self,
            keys: &keys,
            row,
        }))
    }
}

/// A row in JSON.
struct Row<'t, 'a> {
    table: &'t Table<'a>,
    keys: &'t [(usize, &'t Head)],
    row: usize,
}

impl Serialize for Row<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (column, head) in self.keys {
            let cell = (self.table.cell)(self.row, *column);
            if head.side != Side::Optional || cell != Cell::Missing {
                map.serialize_entry(head.key, &cell)?;
            }
        }
        map.end()
    }
}

impl fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("heads", &self.heads)
            .field("rows", &self.rows)
            .finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::output::plain::SHOWN_CHARS;

    fn printed(rows: &[(&str, u64)]) -> String {
        let table = Table::of(rows, 2)
            .left("name", "class", |row| row.0)
            .right("count", "objects", |row| row.1)
            .hidden("half", |row| row.1 / 2)
            .below(|row| vec![format!("{INDENT}under {}", row.1)])
            .done();
        let mut text = Vec::new();
        table.noun("class").print(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn cells_line_up_and_lines_below_keep_to_no_column() {
        let expected = "\
name           count
a                  1
        under 1
long\u{fffd}name  1,000,000
        under 1000000
... and 1 more class; --top 0 prints all
";
        let rows = [("a", 1), ("long\u{1b}name", 1_000_000), ("b", 7)];
        assert_eq!(printed(&rows), expected);
    }

    #[test]
    fn a_name_of_any_length_is_cut() {
        let text = printed(&[(&"x".repeat(100_000), 1)]);
        assert!(text.contains(&format!("{}…  ", "x".repeat(SHOWN_CHARS - 1))));
        assert!(text.len() < 4 * SHOWN_CHARS);
    }

    #[test]
    fn rows_in_json_have_all_keys_in_order() {
        let table = Table::of([(5_u64, None), (7, Some(1_u64))], 9)
            .right("objects", "objects", |row| row.0)
            .left("shown only", "", |_| "text")
            .optional("loader", |row| row.1)
            .left("class", "class", |_| "a\u{1b}")
            .done();
        let expected =
            r#"[{"class":"a\u001b","objects":5},{"class":"a\u001b","loader":1,"objects":7}]"#;
        assert_eq!(serde_json::to_string(&table).unwrap(), expected);
    }
}
