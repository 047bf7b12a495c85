//! Columns that line up.

use std::io::{self, Write};

use crate::plain::plain;

/// What stands before a line below a row.
const INDENT: &str = "        ";

/// Which side of its column a cell keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells, as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    sides: [Side; N],
    rows: Vec<[String; N]>,
    /// Lines that stand below rows, in order, each with the number of rows above it.
    below: Vec<(usize, String)>,
}

impl<const N: usize> Table<N> {
    /// A table with these titles; each column keeps to its side.
    pub(crate) fn new(columns: [(&str, Side); N]) -> Self {
        Self {
            sides: columns.map(|(_, side)| side),
            rows: vec![columns.map(|(title, _)| title.to_owned())],
            below: Vec::new(),
        }
    }

    /// Adds a row; control characters in its cells are replaced.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| plain(&cell)));
    }

    /// Adds a line below the last row, indented, that keeps to no column; control characters are replaced.
    pub(crate) fn below(&mut self, line: &str) {
        self.below.push((self.rows.len(), plain(line)));
    }

    /// Whether there is nothing below the titles.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// Prints titles and rows, two blanks between columns and none at the end.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut below = self.below.iter().peekable();
        for (number, row) in (1..).zip(&self.rows) {
            let mut line = String::new();
            for ((cell, width), side) in row.iter().zip(widths).zip(self.sides) {
                match side {
                    Side::Left => line += &format!("{cell:width$}  "),
                    Side::Right => line += &format!("{cell:>width$}  "),
                }
            }
            writeln!(to, "{}", line.trim_end())?;
            while let Some((_, line)) = below.next_if(|(rows, _)| *rows == number) {
                writeln!(to, "{INDENT}{line}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_line_up() {
        let mut table = Table::new([("name", Side::Left), ("count", Side::Right)]);
        assert!(table.is_empty());
        table.row(["a".to_owned(), "1".to_owned()]);
        table.row(["long name".to_owned(), "1,000,000".to_owned()]);
        let mut text = Vec::new();
        table.print(&mut text).unwrap();
        let expected = "name           count\na                  1\nlong name  1,000,000\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn lines_stand_below_their_row_in_no_column() {
        let mut table = Table::new([("name", Side::Left), ("count", Side::Right)]);
        for name in ["a", "b"] {
            table.row([name.to_owned(), "1".to_owned()]);
            table.below(&format!("at {name}, a line longer than the table\u{1b}"));
        }
        let mut text = Vec::new();
        table.print(&mut text).unwrap();
        let expected = "\
name  count
a         1
        at a, a line longer than the table\u{fffd}
b         1
        at b, a line longer than the table\u{fffd}
";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
