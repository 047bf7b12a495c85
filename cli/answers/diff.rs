//! What grew from one heap to a later one.

mod both;
mod moves;
pub(crate) mod places;
mod site_growth;
mod sums;
mod trend;

use std::collections::BTreeMap;

use graph::Total;
use serde_json::json;

use crate::output::number::signed;
use crate::output::table::Rows;
use crate::output::{grouped, Cell, Sections, Table};
use both::{both, Both};
use moves::{changes, order, Change};
use places::{labelled, Kept};
pub(crate) use sums::Sums;
pub(crate) use trend::trends;

/// The growth between heaps with these sums: at most `most` places, and as many rows.
pub(crate) fn diff<'a>(before: Sums, after: Sums, most: usize) -> Sections<'a> {
    let mut answer = Sections::default();
    let (old, new) = (before.total_bytes, after.total_bytes);
    let (after_bytes, before_bytes) = (grouped(new), grouped(old));
    let grown = signed(change(old, new));
    answer.line(format!(
        "all reachable objects: {after_bytes} bytes, {before_bytes} before ({grown})\n"
    ));
    answer.fact("total_bytes_after", new);
    answer.fact("total_bytes_before", old);
    answer.maybe("pause_ms_after", after.pause_millis);
    answer.maybe("pause_ms_before", before.pause_millis);
    let places = places(changes(before.places, after.places), most);
    let has_places = !places.is_empty();
    answer.table("places", "places_left_out", places);
    if has_places {
        answer.line("");
    }
    let classes = classes(before.classes, after.classes, most);
    match before.sites.zip(after.sites) {
        Some((before, after)) => {
            let sites = site_growth::sites(before, after, most);
            if sites.is_empty() {
                answer.line("No site has changed.");
            }
            answer.table("sites", "sites_left_out", sites);
            answer.table("classes", "left_out", classes.shown(0));
        }
        None if classes.is_empty() => {
            answer.line("No class has changed.");
            answer.table("classes", "left_out", classes);
        }
        None => answer.table("classes", "left_out", classes.noun("class")),
    }
    answer
}

/// The places with most growth, in the order of the tree. Those above such a place are among them:
/// they grew by as much.
fn places<'a>(all: Vec<Change>, most: usize) -> Rows<'a, Change> {
    let left_out = all.len().saturating_sub(most);
    let mut rows: Vec<(usize, Change)> = all.into_iter().enumerate().collect();
    rows.sort_by_key(|(at, change)| (order(change), *at));
    rows.truncate(most);
    rows.sort_by_key(|(at, _)| *at);
    let kept = |kept: &Kept| Cell::json(json!({ "objects": kept.objects, "retained": kept.bytes }));
    Table::of(rows.into_iter().map(|(_, change)| change), usize::MAX)
        .right("grown", "", |row| i128::from(row.grown_bytes))
        .hidden("grown", |row| row.grown_bytes)
        .right("moved here", "moved", |row| row.moved_bytes)
        .right("retained", "", |row| row.after.bytes)
        .right("objects", "", |row| row.after.objects)
        .left("place", "", place)
        .hidden("after", move |row| kept(&row.after))
        .hidden("before", move |row| kept(&row.before))
        .hidden("class", |row| row.class.clone())
        .hidden("depth", |row| row.depth)
        .hidden("field", |row| row.field.clone())
        .left_out(left_out)
        .noun("place")
}

/// `shop.Cache.ALL  java.util.HashMap`, below the place above it.
fn place(row: &Change) -> String {
    let indent = "  ".repeat(row.depth);
    format!("{indent}{}", labelled(row.field.as_deref(), &row.class))
}

/// The classes that differ, those that grew most first.
fn classes<'a>(
    before: BTreeMap<String, Total>,
    after: BTreeMap<String, Total>,
    most: usize,
) -> Rows<'a, Both<String, Total>> {
    let grown =
        |row: &Both<String, Total>| change(row.before.retained_bytes, row.after.retained_bytes);
    let mut rows = both(before, after);
    rows.sort_by(|a, b| grown(b).cmp(&grown(a)).then_with(|| a.of.cmp(&b.of)));
    let total = |total: &Total| {
        Cell::json(json!({
            "objects": total.objects,
            "retained": total.retained_bytes,
            "shallow": total.shallow_bytes,
        }))
    };
    Table::of(rows, most)
        .right("grown", "", grown)
        .right("retained", "", |row| row.after.retained_bytes)
        .right("more objects", "", |row| {
            change(row.before.objects, row.after.objects)
        })
        .right("objects", "", |row| row.after.objects)
        .left("class", "class", |row| row.of.clone())
        .hidden("after", move |row| total(&row.after))
        .hidden("before", move |row| total(&row.before))
}

pub(crate) fn change(before: u64, after: u64) -> i128 {
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
        let table = classes(
            of(&[("gone", 5), ("same", 7), ("grown", 1)]),
            of(&[("same", 7), ("grown", 9), ("new", 3)]),
            9,
        );
        let mut text = Vec::new();
        Table::from(table).print(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let ends = |line: &str| {
            let mut words = line.split_whitespace();
            let (first, last) = (words.next().unwrap(), words.last().unwrap());
            format!("{first} {last}")
        };
        let changes: Vec<String> = text.lines().skip(1).map(ends).collect();
        assert_eq!(changes, ["+8 grown", "+3 new", "-5 gone"]);
    }
}
