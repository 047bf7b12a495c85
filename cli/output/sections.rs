//! An answer: facts, lines of text and tables, each printed as text or as JSON.
//!
//! JSON has facts and tables under their keys, in the order of the keys; the text has lines and
//! tables in the order in which they were added.

use std::io::{self, Write};

use serde::ser::{Serialize, Serializer};

use crate::output::cell::Cell;
use crate::output::table::{Rows, Table};

/// A part of an answer.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Part<'a> {
    /// In JSON alone.
    Fact(Cell),
    /// In the text alone: safe to print.
    Line(String),
    Table(Table<'a>),
    Group(Sections<'a>),
    /// A list of sections.
    Each(Vec<Sections<'a>>),
}

/// The parts of an answer with their keys; those without a key are in the text alone.
#[derive(Default)]
pub(crate) struct Sections<'a>(Vec<(&'static str, Part<'a>)>);

impl<'a> Sections<'a> {
    /// Adds a value for JSON.
    pub(crate) fn fact(&mut self, key: &'static str, value: impl Into<Cell>) {
        self.0.push((key, Part::Fact(value.into())));
    }

    /// Adds a value for JSON, if there is one.
    pub(crate) fn maybe(&mut self, key: &'static str, value: Option<impl Into<Cell>>) {
        if let Some(value) = value {
            self.fact(key, value);
        }
    }

    /// Adds any value for JSON.
    pub(crate) fn json(&mut self, key: &'static str, value: impl Serialize) {
        self.fact(key, Cell::json(value));
    }

    /// Adds a line of text, which must be safe to print.
    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.0.push(("", Part::Line(line.into())));
    }

    /// Adds lines of text, which must be safe to print.
    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.line(line));
    }

    /// Adds a table, with the number of rows that are left out under a key of its own if it has
    /// one; without rows it is in JSON alone.
    pub(crate) fn table(
        &mut self,
        key: &'static str,
        left_out: &'static str,
        table: impl Into<Table<'a>>,
    ) {
        let table = table.into();
        self.fact(left_out, table.left_out);
        self.0.push((key, Part::Table(table)));
    }

    /// Adds a whole table, after an empty line if it has rows.
    pub(crate) fn part<R: 'a>(&mut self, key: &'static str, table: Rows<'a, R>) {
        if !table.is_empty() {
            self.line("");
        }
        self.table(key, "", table);
    }

    /// Adds sections under a key.
    pub(crate) fn group(&mut self, key: &'static str, group: Sections<'a>) {
        self.0.push((key, Part::Group(group)));
    }

    /// Adds a list of sections under a key.
    pub(crate) fn each(&mut self, key: &'static str, all: Vec<Sections<'a>>) {
        self.0.push((key, Part::Each(all)));
    }

    /// Adds the parts of another answer.
    pub(crate) fn extend(&mut self, other: Sections<'a>) {
        self.0.extend(other.0);
    }

    /// Prints the text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|(_, part)| match part {
            Part::Fact(_) => Ok(()),
            Part::Line(line) => writeln!(to, "{line}"),
            Part::Table(table) => table.print(to),
            Part::Group(group) => group.print(to),
            Part::Each(all) => all.iter().try_for_each(|one| one.print(to)),
        })
    }

    /// What JSON has, in the order of the keys.
    pub(crate) fn entries(&self) -> Vec<(&'static str, &Part<'a>)> {
        let keyed = self.0.iter().filter(|(key, _)| !key.is_empty());
        let mut entries: Vec<_> = keyed.map(|(key, part)| (*key, part)).collect();
        entries.sort_by_key(|(key, _)| *key);
        entries
    }
}

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.entries())
    }
}
