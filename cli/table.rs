//! Aligned columns.

use std::io::{self, Write};
use std::rc::Rc;

use crate::plain::{plain, shown, SHOWN_CHARS};
use crate::screen::title;

/// The indentation of lines below a row.
pub(crate) const INDENT: &str = "        ";

/// The alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The text of a cell: its own, or a name shared with other cells.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Own(Box<str>),
    Shared(Rc<str>),
}

impl Cell {
    fn text(&self) -> &str {
        match self {
            Self::Own(text) => text,
            Self::Shared(text) => text,
        }
    }

    /// Number of printed characters.
    fn width(&self) -> usize {
        self.text().chars().take(SHOWN_CHARS).count()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Own(text.into())
    }
}

impl From<Rc<str>> for Cell {
    fn from(text: Rc<str>) -> Self {
        Self::Shared(text)
    }
}

/// Rows of cells; each column is as wide as its widest cell.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    sides: [Side; N],
    rows: Vec<[Cell; N]>,
}

impl<const N: usize> Table<N> {
    /// A table with these titles and alignments.
    pub(crate) fn new(columns: [(&str, Side); N]) -> Self {
        Self {
            sides: columns.map(|(_, side)| side),
            rows: vec![columns.map(|(title, _)| title.to_owned().into())],
        }
    }

    /// Adds a row. Printing cuts long cells and replaces control characters.
    pub(crate) fn row(&mut self, cells: [Cell; N]) {
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// Prints titles and rows, with two spaces between columns and none at the end.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        self.print_with(to, |_, _| Ok(()))
    }

    /// Like [`Table::print`]; after each row, calls `below` with its number from 0.
    pub(crate) fn print_with(
        &self,
        to: &mut dyn Write,
        below: impl Fn(usize, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for ((cell, width), side) in row.iter().zip(widths).zip(self.sides) {
                let text = plain(&shown(cell.text()));
                // Formatting limits widths, and names from a file may exceed the limit.
                let blanks = " ".repeat(width.saturating_sub(cell.width()));
                match side {
                    Side::Left => line.extend([&text, blanks.as_str()]),
                    Side::Right => line.extend([blanks.as_str(), &text]),
                }
                line.push_str("  ");
            }
            let line = line.trim_end();
            match number {
                0 => writeln!(to, "{}", title(line))?,
                _ => writeln!(to, "{line}")?,
            }
            if let Some(row) = number.checked_sub(1) {
                below(row, to)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(name: &str, count: &str) -> [Cell; 2] {
        [name, count].map(|text| text.to_owned().into())
    }

    fn printed(table: &Table<2>) -> String {
        let mut text = Vec::new();
        let below = |row: usize, to: &mut dyn Write| writeln!(to, "{INDENT}under {row}");
        table.print_with(&mut text, below).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn cells_line_up_and_lines_below_keep_to_no_column() {
        let mut table = Table::new([("name", Side::Left), ("count", Side::Right)]);
        assert!(table.is_empty());
        table.row(cells("a", "1"));
        table.row(cells("long\u{1b}name", "1,000,000"));
        let expected = "\
name           count
a                  1
        under 0
long\u{fffd}name  1,000,000
        under 1
";
        assert_eq!(printed(&table), expected);
    }

    #[test]
    fn a_name_of_any_length_is_cut() {
        let mut table = Table::new([("name", Side::Left), ("count", Side::Right)]);
        table.row(cells(&"x".repeat(100_000), "1"));
        let text = printed(&table);
        assert!(text.contains(&format!("{}…  ", "x".repeat(SHOWN_CHARS - 1))));
        assert!(text.len() < 4 * SHOWN_CHARS);
    }
}
