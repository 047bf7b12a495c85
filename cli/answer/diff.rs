//! What grew from one heap to a later one.

mod moves;
mod places;
mod site_growth;
mod sums;

use std::collections::BTreeMap;
use std::io::{self, Write};

use graph::Total;
use serde::Serialize;
use serde_json::Value;

use crate::number::{counted, grouped, signed};
use crate::table::{Side, Table};
use moves::{changes, order, Change};
use site_growth::{SiteGrowth, SiteRow};
pub(crate) use sums::Sums;

/// How two heaps differ. Its fields are those of the JSON, in their order.
#[derive(Debug, Serialize)]
pub(crate) struct DiffAnswer {
    /// The classes that differ, those whose retained bytes grew most first.
    pub(crate) classes: Vec<ClassRow>,
    /// Number of classes that are left out.
    pub(crate) left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_ms_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause_ms_before: Option<u64>,
    /// Where the heap grew: a tree, each place before those below it.
    pub(crate) places: Vec<PlaceRow>,
    places_left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    sites: Option<Vec<SiteRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sites_left_out: Option<usize>,
    total_bytes_after: u64,
    /// Bytes of all reachable objects of the earlier heap.
    pub(crate) total_bytes_before: u64,
}

/// A class in both heaps.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ClassRow {
    pub(crate) after: ClassSum,
    pub(crate) before: ClassSum,
    pub(crate) class: String,
}

/// The objects of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ClassSum {
    pub(crate) objects: u64,
    pub(crate) retained: u64,
    shallow: u64,
}

/// A place in the dominator tree, in both heaps.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlaceRow {
    pub(crate) after: PlaceSum,
    pub(crate) before: PlaceSum,
    /// The class of its objects; for a class object, `class` and its name.
    class: String,
    /// Number of places in the list that are above it.
    pub(crate) depth: usize,
    /// The field or local variable that refers to it, if there is only one.
    field: Option<String>,
    /// New bytes, here and in the places below.
    pub(crate) grown: u64,
    /// Bytes of classes that left as many bytes at other places.
    pub(crate) moved: u64,
}

/// The objects of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PlaceSum {
    pub(crate) objects: u64,
    pub(crate) retained: u64,
}

impl ClassRow {
    fn grown_bytes(&self) -> i128 {
        change(self.before.retained, self.after.retained)
    }
}

impl From<Total> for ClassSum {
    fn from(total: Total) -> Self {
        Self {
            objects: total.objects,
            retained: total.retained_bytes,
            shallow: total.shallow_bytes,
        }
    }
}

impl PlaceRow {
    fn of(change: Change) -> Self {
        let sum = |kept: moves::Kept| PlaceSum {
            objects: kept.objects,
            retained: kept.bytes,
        };
        Self {
            after: sum(change.after),
            before: sum(change.before),
            class: change.class,
            depth: change.depth,
            field: change.field,
            grown: change.grown_bytes,
            moved: change.moved_bytes,
        }
    }

    /// `shop.Cache.ALL  java.util.HashMap`
    pub(crate) fn name(&self) -> String {
        match &self.field {
            Some(field) => format!("{field}  {}", self.class),
            None => self.class.clone(),
        }
    }
}

impl DiffAnswer {
    /// The growth between heaps with these sums: at most `most` places, and as many rows.
    pub(crate) fn of(before: Sums, after: Sums, most: usize) -> Self {
        let (places, places_left_out) = largest(changes(before.places, after.places), most);
        let mut classes = class_rows(before.classes, after.classes);
        let left_out = classes.len().saturating_sub(most);
        classes.truncate(most);
        let sites = before.sites.zip(after.sites);
        let sites = sites.map(|(before, after)| SiteGrowth::of(before, after).rows(most));
        let (sites, sites_left_out) = sites.unzip();
        Self {
            classes,
            left_out,
            pause_ms_after: after.pause_millis,
            pause_ms_before: before.pause_millis,
            places,
            places_left_out,
            sites,
            sites_left_out,
            total_bytes_after: after.total_bytes,
            total_bytes_before: before.total_bytes,
        }
    }

    /// By how much all reachable objects together grew.
    pub(crate) fn grown_bytes(&self) -> i128 {
        change(self.total_bytes_before, self.total_bytes_after)
    }

    /// As JSON.
    pub(crate) fn in_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As text.
    pub(crate) fn print(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(
            to,
            "all reachable objects: {} bytes, {} before ({})\n",
            grouped(self.total_bytes_after),
            grouped(self.total_bytes_before),
            signed(self.grown_bytes())
        )?;
        if !self.places.is_empty() {
            self.print_places(to)?;
            rest(self.places_left_out, "place", to)?;
            writeln!(to)?;
        }
        match &self.sites {
            None if self.classes.is_empty() => writeln!(to, "No class has changed."),
            Some(sites) => {
                site_growth::print(sites, to)?;
                rest(self.sites_left_out.unwrap_or(0), "site", to)
            }
            None => {
                self.print_classes(to)?;
                rest(self.left_out, "class", to)
            }
        }
    }

    fn print_places(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("grown", Side::Right),
            ("moved here", Side::Right),
            ("retained", Side::Right),
            ("objects", Side::Right),
            ("place", Side::Left),
        ]);
        for row in &self.places {
            table.row([
                signed(row.grown.into()).into(),
                grouped(row.moved).into(),
                grouped(row.after.retained).into(),
                grouped(row.after.objects).into(),
                format!("{}{}", "  ".repeat(row.depth), row.name()).into(),
            ]);
        }
        table.print(to)
    }

    fn print_classes(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("grown", Side::Right),
            ("retained", Side::Right),
            ("more objects", Side::Right),
            ("objects", Side::Right),
            ("class", Side::Left),
        ]);
        for row in &self.classes {
            table.row([
                signed(row.grown_bytes()).into(),
                grouped(row.after.retained).into(),
                signed(change(row.before.objects, row.after.objects)).into(),
                grouped(row.after.objects).into(),
                row.class.clone().into(),
            ]);
        }
        table.print(to)
    }
}

/// The places with most growth, in the order of the tree, and how many are left out. Those above
/// such a place are among them: they grew by as much.
fn largest(all: Vec<Change>, most: usize) -> (Vec<PlaceRow>, usize) {
    let left_out = all.len().saturating_sub(most);
    let mut rows: Vec<(usize, Change)> = all.into_iter().enumerate().collect();
    rows.sort_by_key(|(at, change)| (order(change), *at));
    rows.truncate(most);
    rows.sort_by_key(|(at, _)| *at);
    let rows = rows.into_iter().map(|(_, change)| PlaceRow::of(change));
    (rows.collect(), left_out)
}

/// The classes of both heaps, those that grew most first.
fn class_rows(
    before: BTreeMap<String, Total>,
    mut after: BTreeMap<String, Total>,
) -> Vec<ClassRow> {
    let mut rows: Vec<ClassRow> = Vec::new();
    for (class, before) in before {
        let after = after.remove(&class).unwrap_or_default();
        rows.push(ClassRow {
            class,
            before: before.into(),
            after: after.into(),
        });
    }
    rows.extend(after.into_iter().map(|(class, after)| ClassRow {
        class,
        before: ClassSum::default(),
        after: after.into(),
    }));
    rows.retain(|row| row.before != row.after);
    rows.sort_by_key(|row| (-row.grown_bytes(), row.class.clone()));
    rows
}

/// What is left out of a table.
fn rest(left_out: usize, noun: &str, to: &mut dyn Write) -> io::Result<()> {
    let more = match (left_out, noun) {
        (0, _) => return Ok(()),
        (2.., "class") => format!("{} more classes", grouped(left_out as u64)),
        _ => counted(left_out as u64, &format!("more {noun}")),
    };
    writeln!(to, "... and {more}; --top 0 prints all")
}

fn change(before: u64, after: u64) -> i128 {
    i128::from(after) - i128::from(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_either_dump_are_compared() {
        let total = |bytes| Total {
            objects: 1,
            shallow_bytes: bytes,
            retained_bytes: bytes,
        };
        let of = |all: &[(&str, u64)]| {
            all.iter()
                .map(|(class, bytes)| ((*class).to_owned(), total(*bytes)))
                .collect()
        };
        let rows = class_rows(
            of(&[("gone", 5), ("same", 7), ("grown", 1)]),
            of(&[("same", 7), ("grown", 9), ("new", 3)]),
        );
        let changes: Vec<_> = rows
            .iter()
            .map(|row| (row.class.as_str(), row.grown_bytes()))
            .collect();
        assert_eq!(changes, [("grown", 8), ("new", 3), ("gone", -5)]);
    }
}
