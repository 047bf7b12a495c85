//! Which lines of code allocated what grew: the sites of two dumps, matched by class and stack.

use std::collections::BTreeMap;

use graph::{Heap, SiteTotal};
use serde_json::json;

use super::both::{both, Both};
use crate::answers::sites::DEPTH_FRAMES;
use crate::output::frame;
use crate::output::number::whole;
use crate::output::table::{Rows, INDENT};
use crate::output::{plain, Cell, Table};

/// A class and the stack that allocated its objects, in the words that a person reads: serial
/// numbers differ between dumps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Site {
    class: String,
    frames: Vec<String>,
}

/// The sites of one dump.
pub(super) type Sites = BTreeMap<Site, SiteTotal>;

/// The sites with these sums.
pub(super) fn by_words(heap: &Heap<'_>, rows: &[SiteTotal]) -> Sites {
    let stacks = heap.stacks();
    let mut sites = Sites::new();
    for row in rows {
        let site = Site {
            class: heap.class_name(row.class),
            frames: stacks.frames(row.trace).map(frame::line).collect(),
        };
        sites.entry(site).or_default().add(row);
    }
    sites
}

/// A total without fractions.
fn in_json(total: &SiteTotal) -> Cell {
    Cell::json(json!({
        "error": whole(total.error_bytes),
        "objects": whole(total.objects),
        "retained": whole(total.retained_bytes),
    }))
}

fn grown_bytes(row: &Both<Site, SiteTotal>) -> f64 {
    row.after.retained_bytes - row.before.retained_bytes
}

/// The sites that differ, those that grew most first.
fn rows(before: Sites, after: Sites) -> Vec<Both<Site, SiteTotal>> {
    let mut rows = both(before, after);
    rows.sort_by(|a, b| {
        let bytes = grown_bytes(b).total_cmp(&grown_bytes(a));
        bytes.then_with(|| a.of.cmp(&b.of))
    });
    rows
}

/// The first `most` sites of the growth from one dump to the next.
pub(super) fn sites<'a>(
    before: Sites,
    after: Sites,
    most: usize,
) -> Rows<'a, Both<Site, SiteTotal>> {
    Table::of(rows(before, after), most)
        .right("grown", "", |row| signed_sum(grown_bytes(row)))
        .right("error", "", |row| {
            whole(row.after.error_bytes.hypot(row.before.error_bytes))
        })
        .right("retained", "", |row| whole(row.after.retained_bytes))
        .right("more objects", "", |row| {
            signed_sum(row.after.objects - row.before.objects)
        })
        .right("objects", "", |row| whole(row.after.objects))
        .left("class", "class", |row| row.of.class.clone())
        .hidden("after", |row| in_json(&row.after))
        .hidden("before", |row| in_json(&row.before))
        .hidden("frames", |row| Cell::json(&row.of.frames))
        .below(|row| {
            let frames = row.of.frames.iter().take(DEPTH_FRAMES);
            let line = |frame: &String| format!("{INDENT}at {}", plain(frame));
            frames.map(line).collect()
        })
        .noun("site")
}

/// A change without its fraction.
pub(super) fn signed_sum(change: f64) -> i128 {
    // Of the two, the one that is negative counts as 0.
    i128::from(whole(change)) - i128::from(whole(-change))
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
                let kept = SiteTotal {
                    objects: 1.0,
                    retained_bytes: *bytes,
                    error_bytes: 3.0,
                    ..SiteTotal::default()
                };
                (site, kept)
            };
            all.iter().map(site).collect::<Sites>()
        };
        let before = || of(&[("gone", 5.0), ("same", 7.0), ("grown", 1.0)]);
        let after = || of(&[("same", 7.0), ("grown", 9.4), ("new", 3.0)]);
        let growth = rows(before(), after());
        let classes: Vec<_> = growth.iter().map(|row| &*row.of.class).collect();
        assert_eq!(classes, ["grown", "new", "gone"]);
        let mut text = Vec::new();
        let table = Table::from(sites(before(), after(), 1));
        table.print(&mut text).unwrap();
        let expected = "\
grown  error  retained  more objects  objects  class
   +8      4         9             0        1  grown
        at a.B.c(B.java:1)
... and 2 more sites; --top 0 prints all
";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
