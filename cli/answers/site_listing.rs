//! Allocation sites as an answer.

use reader::{Amount, Profiles, Site, SiteTable, Stacks};
use serde_json::json;

use crate::answers::site_source::SiteSource;
use crate::output::cell::Cell;
use crate::output::frame::{self, line_below};
use crate::output::number::counted;
use crate::output::sections::Sections;
use crate::output::table::{Table, INDENT};

/// The sites to print.
#[derive(Debug)]
pub(crate) struct Listing<'a> {
    pub(crate) found: &'a Profiles,
    pub(crate) source: SiteSource,
    pub(crate) table: &'a SiteTable,
    /// Largest first.
    pub(crate) rows: Vec<&'a Site>,
    /// Whether they are sorted by allocated bytes.
    pub(crate) allocated: bool,
}

impl<'a> Listing<'a> {
    /// Up to `top` sites with up to `depth` frames of each.
    pub(crate) fn sections(self, top: usize, depth: usize) -> Sections<'a> {
        let mut answer = Sections::default();
        self.head(&mut answer);
        let (has_allocated, allocated) = (self.table.allocated.is_some(), self.allocated);
        // Live and allocated numbers, or live numbers only.
        let both = |title| if has_allocated { title } else { "" };
        let share_title = if allocated { "allocated %" } else { "live %" };
        let (stacks, whole) = (&self.found.stacks, self.whole());
        let all = |site: &Site| site.allocated.unwrap_or_default();
        let table = Table::of((1_u64..).zip(self.rows), top)
            .right("rank", "rank", |(rank, _)| *rank)
            .right(share_title, "", move |(_, site)| {
                share(site, allocated, whole)
            })
            .right("live bytes", "", |(_, site)| site.live.bytes)
            .right("live objects", "", |(_, site)| site.live.objects)
            .right(both("allocated bytes"), "", move |(_, site)| {
                all(site).bytes
            })
            .right(both("allocated objects"), "", move |(_, site)| {
                all(site).objects
            })
            .left("class", "class", |(_, site)| &*site.class)
            .hidden("allocated", |(_, site)| site.allocated.map(in_json))
            .hidden("live", |(_, site)| in_json(site.live))
            .hidden("trace", |(_, site)| site.trace)
            .hidden("frames", move |(_, site)| {
                frame::in_json(stacks.frames(site.trace).take(depth))
            })
            .below(move |(_, site)| stack(stacks, site.trace, depth))
            .done();
        answer.table("sites", "", table.noun("site"));
        answer
    }

    fn head(&self, answer: &mut Sections<'_>) {
        let (found, table) = (self.found, self.table);
        let source = match (self.source, found.dumped.is_some()) {
            (SiteSource::Sites, true) => {
                "As the profiler counted; live are the objects of the heap dump"
            }
            (SiteSource::Sites, false) => "As the profiler counted",
            (SiteSource::Dump, _) => "From the heap dump",
        };
        let carried = counted(table.carried.objects, "object");
        answer.line(match found.dumped.is_some() {
            true => format!("{source}, estimated from {carried} with a stack"),
            false => source.to_owned(),
        });
        let (sites, live) = (
            counted(self.rows.len() as u64, "site"),
            in_words(table.live),
        );
        let rest = match table.allocated {
            Some(allocated) => format!("{} allocated", in_words(allocated)),
            None => format!("{} without a stack", in_words(table.stackless)),
        };
        answer.line(format!("{sites}; {live} live; {rest}\n"));
        answer.fact("allocated", table.allocated.map(in_json));
        answer.fact("damaged", found.damaged);
        let from = match self.source {
            SiteSource::Sites => "sites",
            SiteSource::Dump => "dump",
        };
        answer.fact("from", from);
        answer.fact("live", in_json(table.live));
        answer.fact("order", if self.allocated { "allocated" } else { "live" });
        answer.fact("without_stack", in_json(table.stackless));
    }

    /// All bytes of the sort order.
    fn whole(&self) -> u64 {
        match self.allocated {
            true => self.table.allocated.unwrap_or_default().bytes,
            false => self.table.live.bytes,
        }
    }
}

/// The site's share of all bytes of the sort order, in percent.
fn share(site: &Site, allocated: bool, whole: u64) -> String {
    let part = match allocated {
        true => site.allocated.unwrap_or_default().bytes,
        false => site.live.bytes,
    };
    match whole {
        0 => "-".to_owned(),
        whole => format!("{:.2}", part as f64 * 100.0 / whole as f64),
    }
}

/// A stack below its row.
fn stack(stacks: &Stacks, trace: u32, depth: usize) -> Vec<String> {
    if stacks.is_empty(trace) {
        return vec![format!("{INDENT}(no stack)")];
    }
    let mut lines: Vec<String> = stacks.frames(trace).take(depth).map(line_below).collect();
    let left_out = stacks.depth_frames(trace).saturating_sub(depth) as u64;
    if left_out > 0 {
        lines.push(format!(
            "{INDENT}... and {}",
            counted(left_out, "more frame")
        ));
    }
    lines
}

fn in_json(amount: Amount) -> Cell {
    Cell::json(json!({ "bytes": amount.bytes, "objects": amount.objects }))
}

fn in_words(amount: Amount) -> String {
    let bytes = counted(amount.bytes, "byte");
    format!("{bytes} in {}", counted(amount.objects, "object"))
}
