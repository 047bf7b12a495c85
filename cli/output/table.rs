//! A table of an answer: rows of typed cells, as aligned text and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use serde::ser::{Serialize, Serializer};

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

/// A column: its title in text, its key in JSON, its side, and what makes the cell of a row.
/// Without title it is not in the text, without key not in JSON.
struct Column<'a> {
    title: &'static str,
    key: &'static str,
    side: Side,
    cell: Box<dyn Fn(usize) -> Cell + 'a>,
}

/// Rows of this type, to which columns are added.
pub(crate) struct Rows<'a, R> {
    rows: Rc<Vec<R>>,
    table: Table<'a>,
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
        let rows = Rc::clone(&self.rows);
        let cell = move |at| rows.get(at).map_or(Cell::Missing, |row| cell(row).into());
        self.table.columns.push(Column {
            title,
            key,
            side,
            cell: Box::new(cell),
        });
        self
    }

    /// With at most so many rows in the text.
    pub(crate) fn shown(mut self, most: usize) -> Self {
        self.table.shown = most;
        self
    }

    /// With so many more rows that are left out.
    pub(crate) fn left_out(mut self, more: usize) -> Self {
        self.table.left_out = self.table.left_out.saturating_add(more);
        self
    }

    /// With a line of text, if rows are left out, that counts them by this noun.
    pub(crate) fn noun(mut self, noun: &'static str) -> Self {
        self.table.noun = noun;
        self
    }

    /// With a last row in the text.
    pub(crate) fn total(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.table.total = cells.into_iter().collect();
        self
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<'a, R> From<Rows<'a, R>> for Table<'a> {
    fn from(rows: Rows<'a, R>) -> Self {
        rows.table
    }
}

/// Rows of cells, which are made when they are printed.
pub(crate) struct Table<'a> {
    columns: Vec<Column<'a>>,
    /// Number of rows.
    pub(crate) rows: usize,
    /// Most rows of the text.
    shown: usize,
    /// Number of rows that are left out.
    pub(crate) left_out: usize,
    /// The last row of the text.
    total: Vec<Cell>,
    /// What a row is, in the line that counts those that are left out.
    noun: &'static str,
}

impl<'a> Table<'a> {
    /// The first `most` rows, to which columns are added.
    pub(crate) fn of<R>(rows: impl IntoIterator<Item = R>, most: usize) -> Rows<'a, R> {
        let mut rest = rows.into_iter();
        let rows: Rc<Vec<R>> = Rc::new(rest.by_ref().take(most).collect());
        let table = Table {
            columns: Vec::new(),
            rows: rows.len(),
            shown: usize::MAX,
            left_out: rest.count(),
            total: Vec::new(),
            noun: "",
        };
        Rows { rows, table }
    }

    /// Prints titles and rows, with two spaces between columns and none at the end; nothing if
    /// there are no rows.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let shown = self.rows.min(self.shown);
        if shown == 0 && self.total.is_empty() {
            return self.print_rest(to);
        }
        let titled = |column: &&Column<'_>| !column.title.is_empty();
        let columns: Vec<_> = self.columns.iter().filter(titled).collect();
        if columns.is_empty() {
            return (1..=shown).try_for_each(|row| self.print_below(row, to));
        }
        let mut cells: Vec<Cell> = columns.iter().map(|column| column.title.into()).collect();
        cells.extend((0..shown).flat_map(|row| columns.iter().map(move |it| (it.cell)(row))));
        cells.extend_from_slice(&self.total);
        let mut widths = vec![0; columns.len()];
        for row in cells.chunks(columns.len()) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text().chars().count());
            }
        }
        for (number, row) in cells.chunks(columns.len()).enumerate() {
            let mut line = String::new();
            for ((cell, width), column) in row.iter().zip(&widths).zip(&columns) {
                let text = cell.text();
                // Formatting limits widths, and names from a file may exceed the limit.
                let blanks = " ".repeat(width.saturating_sub(text.chars().count()));
                match column.side {
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
        let mut below = self.columns.iter().filter(|it| it.side == Side::Below);
        if let (Some(row), Some(column)) = (row.checked_sub(1), below.next()) {
            if let Cell::Lines(lines) = (column.cell)(row) {
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

    /// The cells of a row in JSON, by their keys.
    pub(crate) fn row(&self, at: usize) -> BTreeMap<&'static str, Cell> {
        let keyed = self.columns.iter().filter(|it| !it.key.is_empty());
        let cells = keyed.map(|it| (it, (it.cell)(at)));
        let cells = cells.filter(|(it, cell)| it.side != Side::Optional || *cell != Cell::Missing);
        cells.map(|(it, cell)| (it.key, cell)).collect()
    }
}

impl Serialize for Table<'_> {
    /// A list of rows, one after the other: they may be more than fit into memory.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((0..self.rows).map(|at| self.row(at)))
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
            .noun("class");
        let mut text = Vec::new();
        Table::from(table).print(&mut text).unwrap();
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
            .left("class", "class", |_| "a\u{1b}");
        let expected =
            r#"[{"class":"a\u001b","objects":5},{"class":"a\u001b","loader":1,"objects":7}]"#;
        assert_eq!(
            serde_json::to_string(&Table::from(table)).unwrap(),
            expected
        );
    }
}
