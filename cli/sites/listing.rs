//! Allocation sites as text.

use std::io::{self, Write};

use reader::{Allocations, Amount, Site, SiteTable, Stacks};

use crate::frame;
use crate::number::{counted, grouped};
use crate::plain::plain;
use crate::site_source::SiteSource;
use crate::table::{Cell, Side, Table, INDENT};

/// The sites to print.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    pub(super) found: &'a Allocations,
    pub(super) source: SiteSource,
    pub(super) table: &'a SiteTable,
    /// Largest first.
    pub(super) rows: Vec<&'a Site>,
    /// Whether they are sorted by allocated bytes.
    pub(super) allocated: bool,
}

impl Listing<'_> {
    /// Prints up to `top` sites with up to `depth` frames of each.
    pub(super) fn print(&self, top: usize, depth: usize, to: &mut dyn Write) -> io::Result<()> {
        self.print_head(to)?;
        if self.table.allocated.is_some() {
            self.print_both(top, depth, to)?;
        } else {
            self.print_live(top, depth, to)?;
        }
        let left_out = self.rows.len().saturating_sub(top) as u64;
        if left_out > 0 {
            writeln!(
                to,
                "... and {}; --top 0 prints all",
                counted(left_out, "more site")
            )?;
        }
        Ok(())
    }

    fn print_head(&self, to: &mut dyn Write) -> io::Result<()> {
        let live = in_words(self.table.live);
        let source = match (self.source, self.found.dumped.is_some()) {
            (SiteSource::Sites, true) => {
                "As the profiler counted; live are the objects of the heap dump"
            }
            (SiteSource::Sites, false) => "As the profiler counted",
            (SiteSource::Dump, _) => "From the heap dump",
        };
        let carried = self.table.carried.objects;
        let carried = match self.found.dumped.is_some() {
            true => format!(
                ", estimated from {} with a stack",
                counted(carried, "object")
            ),
            false => String::new(),
        };
        writeln!(to, "{source}{carried}")?;
        let rest = match (self.table.allocated, self.table.stackless) {
            (Some(allocated), _) => format!("; {} allocated", in_words(allocated)),
            (None, none) => format!("; {} without a stack", in_words(none)),
        };
        let sites = counted(self.rows.len() as u64, "site");
        writeln!(to, "{sites}; {live} live{rest}\n")
    }

    /// Live and allocated numbers.
    fn print_both(&self, top: usize, depth: usize, to: &mut dyn Write) -> io::Result<()> {
        let share = if self.allocated {
            "allocated %"
        } else {
            "live %"
        };
        let mut table = Table::new([
            ("rank", Side::Right),
            (share, Side::Right),
            ("live bytes", Side::Right),
            ("live objects", Side::Right),
            ("allocated bytes", Side::Right),
            ("allocated objects", Side::Right),
            ("class", Side::Left),
        ]);
        self.fill(&mut table, top, |[rank, share], site| {
            let [live_bytes, live_objects] = cells(site.live);
            let [bytes, objects] = cells(site.allocated.unwrap_or_default());
            let class = site.class.clone().into();
            [rank, share, live_bytes, live_objects, bytes, objects, class]
        });
        self.print_table(&table, depth, to)
    }

    /// Live numbers only.
    fn print_live(&self, top: usize, depth: usize, to: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("rank", Side::Right),
            ("live %", Side::Right),
            ("live bytes", Side::Right),
            ("live objects", Side::Right),
            ("class", Side::Left),
        ]);
        self.fill(&mut table, top, |[rank, share], site| {
            let [bytes, objects] = cells(site.live);
            let class = site.class.clone().into();
            [rank, share, bytes, objects, class]
        });
        self.print_table(&table, depth, to)
    }

    /// One row for each site, from its rank and share.
    fn fill<const N: usize>(
        &self,
        table: &mut Table<N>,
        top: usize,
        row: impl Fn([Cell; 2], &Site) -> [Cell; N],
    ) {
        for (rank, site) in (1_u64..).zip(self.rows.iter().take(top)) {
            let words = [grouped(rank).into(), self.share(site).into()];
            table.row(row(words, site));
        }
    }

    /// Prints the rows, each with its stack below.
    fn print_table<const N: usize>(
        &self,
        table: &Table<N>,
        depth: usize,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        table.print_with(to, |row, to| match self.rows.get(row) {
            Some(site) => print_stack(&self.found.stacks, site.trace, depth, to),
            None => Ok(()),
        })
    }

    /// The site's share of all bytes of the sort order, in percent.
    fn share(&self, site: &Site) -> String {
        let bytes = |amount: Option<Amount>| amount.unwrap_or_default().bytes;
        let (part, whole) = if self.allocated {
            (bytes(site.allocated), bytes(self.table.allocated))
        } else {
            (site.live.bytes, self.table.live.bytes)
        };
        match whole {
            0 => "-".to_owned(),
            whole => format!("{:.2}", part as f64 * 100.0 / whole as f64),
        }
    }
}

/// Prints a stack below its row.
fn print_stack(stacks: &Stacks, trace: u32, depth: usize, to: &mut dyn Write) -> io::Result<()> {
    if stacks.is_empty(trace) {
        writeln!(to, "{INDENT}(no stack)")?;
    }
    for frame in stacks.frames(trace).take(depth) {
        writeln!(to, "{INDENT}at {}", plain(&frame::line(frame)))?;
    }
    let left_out = stacks.depth_frames(trace).saturating_sub(depth) as u64;
    if left_out > 0 {
        writeln!(to, "{INDENT}... and {}", counted(left_out, "more frame"))?;
    }
    Ok(())
}

fn cells(amount: Amount) -> [Cell; 2] {
    [grouped(amount.bytes).into(), grouped(amount.objects).into()]
}

fn in_words(amount: Amount) -> String {
    let bytes = counted(amount.bytes, "byte");
    format!("{bytes} in {}", counted(amount.objects, "object"))
}
