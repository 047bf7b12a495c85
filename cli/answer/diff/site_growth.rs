//! Which lines of code allocated what grew: the sites of two dumps, matched by class and stack.

use std::collections::HashMap;
use std::io::{self, Write};

use graph::{Heap, SiteTotal};
use serde::Serialize;

use crate::answer::sites::DEPTH_FRAMES;
use crate::frame;
use crate::number::{grouped, signed, whole};
use crate::plain::plain;
use crate::table::{Side, Table, INDENT};

/// A class and the stack that allocated its objects, in the words that a person reads: serial
/// numbers differ between dumps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Site {
    class: String,
    frames: Vec<String>,
}

/// The bytes that a site keeps alive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Kept {
    objects: f64,
    retained_bytes: f64,
    /// Standard error of the bytes.
    error_bytes: f64,
}

/// The sites of one dump.
#[derive(Debug, Default)]
pub(super) struct Sites(HashMap<Site, Kept>);

impl Sites {
    /// The sites with these sums.
    pub(super) fn of(heap: &Heap<'_>, rows: &[SiteTotal]) -> Self {
        let stacks = heap.stacks();
        let mut sites: HashMap<Site, Kept> = HashMap::new();
        for row in rows {
            let site = Site {
                class: heap.class_name(row.class),
                frames: stacks.frames(row.trace).map(frame::line).collect(),
            };
            sites.entry(site).or_default().add(Kept {
                objects: row.objects,
                retained_bytes: row.retained_bytes,
                error_bytes: row.error_bytes,
            });
        }
        Self(sites)
    }
}

impl Kept {
    fn add(&mut self, more: Self) {
        self.objects += more.objects;
        self.retained_bytes += more.retained_bytes;
        self.error_bytes = self.error_bytes.hypot(more.error_bytes);
    }
}

/// A site in both dumps.
#[derive(Debug)]
struct Row {
    site: Site,
    before: Kept,
    after: Kept,
}

impl Row {
    fn grown_bytes(&self) -> f64 {
        self.after.retained_bytes - self.before.retained_bytes
    }
}

/// The sites that differ, those that grew most first.
#[derive(Debug)]
pub(super) struct SiteGrowth(Vec<Row>);

impl SiteGrowth {
    /// The growth from one dump to the next.
    pub(super) fn of(mut before: Sites, after: Sites) -> Self {
        let both = after.0.into_iter().map(|(site, after)| Row {
            before: before.0.remove(&site).unwrap_or_default(),
            site,
            after,
        });
        let mut rows: Vec<Row> = both.collect();
        rows.extend(before.0.into_iter().map(|(site, before)| Row {
            site,
            before,
            after: Kept::default(),
        }));
        rows.retain(|row| row.before != row.after);
        rows.sort_by(|a, b| {
            let bytes = b.grown_bytes().total_cmp(&a.grown_bytes());
            bytes.then_with(|| a.site.cmp(&b.site))
        });
        Self(rows)
    }

    /// The first `most` sites, and how many are left out.
    pub(super) fn rows(self, most: usize) -> (Vec<SiteRow>, usize) {
        let left_out = self.0.len().saturating_sub(most);
        let rows = self.0.into_iter().take(most).map(|row| SiteRow {
            grown_bytes: row.grown_bytes(),
            grown_objects: row.after.objects - row.before.objects,
            error_bytes: row.after.error_bytes.hypot(row.before.error_bytes),
            after: row.after.into(),
            before: row.before.into(),
            class: row.site.class,
            frames: row.site.frames,
        });
        (rows.collect(), left_out)
    }
}

/// A site in an answer.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SiteRow {
    after: SiteSum,
    before: SiteSum,
    class: String,
    frames: Vec<String>,
    #[serde(skip)]
    grown_bytes: f64,
    #[serde(skip)]
    grown_objects: f64,
    #[serde(skip)]
    error_bytes: f64,
}

/// The bytes that a site keeps alive, without fractions.
#[derive(Clone, Copy, Debug, Serialize)]
struct SiteSum {
    error: u64,
    objects: u64,
    retained: u64,
}

impl From<Kept> for SiteSum {
    fn from(kept: Kept) -> Self {
        Self {
            error: whole(kept.error_bytes),
            objects: whole(kept.objects),
            retained: whole(kept.retained_bytes),
        }
    }
}

/// Prints sites, with their stacks.
pub(super) fn print(rows: &[SiteRow], to: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new([
        ("grown", Side::Right),
        ("error", Side::Right),
        ("retained", Side::Right),
        ("more objects", Side::Right),
        ("objects", Side::Right),
        ("class", Side::Left),
    ]);
    for row in rows {
        table.row([
            signed_sum(row.grown_bytes).into(),
            grouped(whole(row.error_bytes)).into(),
            grouped(row.after.retained).into(),
            signed_sum(row.grown_objects).into(),
            grouped(row.after.objects).into(),
            row.class.clone().into(),
        ]);
    }
    table.print_with(to, |number, to| {
        let frames = rows.get(number).map_or(&[][..], |row| &row.frames);
        for frame in frames.iter().take(DEPTH_FRAMES) {
            writeln!(to, "{INDENT}at {}", plain(frame))?;
        }
        Ok(())
    })
}

/// A change with its sign, without its fraction.
fn signed_sum(change: f64) -> String {
    let size = i128::from(whole(change.abs()));
    signed(if change < 0.0 { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_of_either_dump_are_compared() {
        let of = |all: &[(&str, f64)]| {
            let site = |(class, bytes): &(&str, f64)| {
                let site = Site {
                    class: (*class).to_owned(),
                    frames: vec!["a.B.c(B.java:1)".to_owned()],
                };
                let kept = Kept {
                    objects: 1.0,
                    retained_bytes: *bytes,
                    error_bytes: 3.0,
                };
                (site, kept)
            };
            Sites(all.iter().map(site).collect())
        };
        let growth = SiteGrowth::of(
            of(&[("gone", 5.0), ("same", 7.0), ("grown", 1.0)]),
            of(&[("same", 7.0), ("grown", 9.4), ("new", 3.0)]),
        );
        let classes: Vec<_> = growth.0.iter().map(|row| row.site.class.clone()).collect();
        assert_eq!(classes, ["grown", "new", "gone"]);
        let (rows, left_out) = growth.rows(1);
        assert_eq!((rows[0].after.retained, left_out), (9, 2));
        let mut text = Vec::new();
        print(&rows, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let row = ["+8", "4", "9", "0", "1", "grown", "at", "a.B.c(B.java:1)"];
        let words: Vec<_> = text
            .lines()
            .skip(1)
            .flat_map(str::split_whitespace)
            .collect();
        assert_eq!(words, row);
    }
}
