//! An answer: facts, lines of text and tables, each printed as text or as JSON.
//!
//! JSON has facts and tables under their keys, in the order of the keys; the text has lines and
//! tables in the order in which they were added.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::output::cell::Cell;
use crate::output::table::Table;

/// A part of an answer.
#[derive(Debug)]
enum Section<'a> {
    /// In JSON alone.
    Fact(&'static str, Cell),
    /// In the text alone: safe to print.
    Line(String),
    /// Its key, and that of the number of rows that are left out; "" if it has none.
    Table(&'static str, &'static str, Table<'a>),
    /// Sections under a key.
    Group(&'static str, Sections<'a>),
    /// A list of sections under a key.
    Each(&'static str, Vec<Sections<'a>>),
}

/// The parts of an answer.
#[derive(Debug, Default)]
pub(crate) struct Sections<'a>(Vec<Section<'a>>);

impl<'a> Sections<'a> {
    /// Adds a value for JSON.
    pub(crate) fn fact(&mut self, key: &'static str, value: impl Into<Cell>) {
        self.0.push(Section::Fact(key, value.into()));
    }

    /// Adds the parts of another answer.
    pub(crate) fn extend(&mut self, other: Sections<'a>) {
        self.0.extend(other.0);
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
        self.0.push(Section::Line(line.into()));
    }

    /// Adds lines of text, which must be safe to print.
    pub(crate) fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        self.0.extend(lines.into_iter().map(Section::Line));
    }

    /// Adds a table; without rows it is in JSON alone.
    pub(crate) fn table(&mut self, key: &'static str, left_out: &'static str, table: Table<'a>) {
        self.0.push(Section::Table(key, left_out, table));
    }

    /// Adds a whole table, after an empty line if it has rows.
    pub(crate) fn part(&mut self, key: &'static str, table: Table<'a>) {
        if !table.is_empty() {
            self.line("");
        }
        self.table(key, "", table);
    }

    /// Adds sections under a key.
    pub(crate) fn group(&mut self, key: &'static str, group: Sections<'a>) {
        self.0.push(Section::Group(key, group));
    }

    /// Adds a list of sections under a key.
    pub(crate) fn each(&mut self, key: &'static str, all: Vec<Sections<'a>>) {
        self.0.push(Section::Each(key, all));
    }

    /// Prints the text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|section| match section {
            Section::Fact(..) => Ok(()),
            Section::Line(line) => writeln!(to, "{line}"),
            Section::Table(.., table) => table.print(to),
            Section::Group(_, group) => group.print(to),
            Section::Each(_, all) => all.iter().try_for_each(|one| one.print(to)),
        })
    }
}

impl<'a> Sections<'a> {
    /// What JSON has, in the order of the keys.
    pub(crate) fn entries(&self) -> Vec<(&str, Entry<'_, 'a>)> {
        let mut entries: Vec<(&str, Entry<'_, 'a>)> = Vec::new();
        for section in &self.0 {
            match section {
                Section::Line(_) => {}
                Section::Fact(key, value) => entries.push((key, Entry::Value(value))),
                Section::Group(key, group) => entries.push((key, Entry::Group(group))),
                Section::Each(key, all) => entries.push((key, Entry::Each(all))),
                Section::Table(key, left_out, table) => {
                    entries.push((key, Entry::Table(table)));
                    entries.push((left_out, Entry::LeftOut(table.rest())));
                }
            }
        }
        entries.retain(|(key, _)| !key.is_empty());
        entries.sort_by_key(|(key, _)| *key);
        entries
    }
}

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let entries = self.entries();
        let mut map = to.serialize_map(Some(entries.len()))?;
        entries
            .iter()
            .try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

/// What stands under a key.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Entry<'s, 'a> {
    Value(&'s Cell),
    Table(&'s Table<'a>),
    LeftOut(usize),
    Group(&'s Sections<'a>),
    Each(&'s [Sections<'a>]),
}
