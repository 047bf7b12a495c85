//! Allocation sites in text: the SITES block.

use std::io::{self, Write};

use format::{ClassName, SORTED_BY_ALLOCATION};
use reader::{AllocSite, AllocSites};
use tables::profile::{Share, SiteOrder, SiteTotals, Sites};

use crate::Moment;

/// Writes the SITES block of sites that were counted at this time; their traces precede the block.
/// Without rows, it still has its headings.
pub fn sites(sites: &Sites<'_>, at: Moment, out: &mut impl Write) -> io::Result<()> {
    let rows = sites.rows().iter().map(|ranked| Row {
        own: ranked.own,
        accumulated: ranked.accumulated,
        live: ranked.row.live,
        allocated: ranked.row.allocated,
        trace: ranked.row.trace.get(),
        class: ranked.row.name,
    });
    block(sites.order, at, rows, out)
}

/// Writes the block of a record, whose rows are ranked.
///
/// A number of 4 GiB or more is 2^32 - 1, as in the record, except the totals of allocations.
pub(crate) fn recorded_sites<'n>(
    record: &AllocSites,
    name: impl Fn(&AllocSite) -> ClassName<'n>,
    at: Moment,
    out: &mut impl Write,
) -> io::Result<()> {
    let (order, whole) = match record.flags & SORTED_BY_ALLOCATION {
        0 => (SiteOrder::LiveBytes, record.live_bytes.into()),
        _ => (SiteOrder::AllocatedBytes, record.allocated_bytes),
    };
    let mut sum = 0;
    let rows = record.sites.iter().map(|site| {
        let weight = match order {
            SiteOrder::LiveBytes => site.live_bytes,
            SiteOrder::AllocatedBytes => site.allocated_bytes,
        };
        sum += u64::from(weight);
        Row {
            own: Share::new(weight.into(), whole),
            accumulated: Share::new(sum, whole),
            live: totals(site.live_bytes, site.live_objects),
            allocated: totals(site.allocated_bytes, site.allocated_objects),
            trace: site.trace,
            class: name(site),
        }
    });
    block(order, at, rows, out)
}

fn totals(bytes: u32, objects: u32) -> SiteTotals {
    SiteTotals {
        bytes: bytes.into(),
        objects: objects.into(),
    }
}

/// A row of the block.
struct Row<'a> {
    own: Share,
    accumulated: Share,
    live: SiteTotals,
    allocated: SiteTotals,
    trace: u32,
    class: ClassName<'a>,
}

fn block<'a>(
    order: SiteOrder,
    at: Moment,
    rows: impl Iterator<Item = Row<'a>>,
    out: &mut impl Write,
) -> io::Result<()> {
    let order = match order {
        SiteOrder::LiveBytes => "live bytes",
        SiteOrder::AllocatedBytes => "allocated bytes",
    };
    writeln!(out, "SITES BEGIN (ordered by {order}) {at}")?;
    writeln!(
        out,
        "          percent          live          alloc'ed  stack class"
    )?;
    writeln!(
        out,
        " rank   self  accum     bytes objs     bytes  objs trace name"
    )?;
    for (place, row) in rows.enumerate() {
        writeln!(
            out,
            "{:>5} {} {} {:>9} {:>4} {:>9} {:>5} {:>5} {}",
            place + 1,
            row.own,
            row.accumulated,
            row.live.bytes,
            row.live.objects,
            row.allocated.bytes,
            row.allocated.objects,
            row.trace,
            row.class
        )?;
    }
    writeln!(out, "SITES END")
}
