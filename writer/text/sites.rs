//! Allocation sites in text: the SITES block.

use std::io::{self, Write};

use super::Moment;
use crate::profile::{Ranked, Site, SiteOrder, Sites};
use crate::ClassName;

/// The SITES block.
#[derive(Clone, Copy, Debug)]
pub struct SitesBlock<'a> {
    /// The sites, ranked; their traces are in the report before.
    pub sites: &'a Sites<'a>,
    /// When they were counted.
    pub at: Moment,
}

impl SitesBlock<'_> {
    /// Writes the block; without rows it still has its headings.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let order = match self.sites.order() {
            SiteOrder::LiveBytes => "live bytes",
            SiteOrder::AllocatedBytes => "allocated bytes",
        };
        writeln!(out, "SITES BEGIN (ordered by {order}) {}", self.at)?;
        writeln!(
            out,
            "          percent          live          alloc'ed  stack class"
        )?;
        writeln!(
            out,
            " rank   self  accum     bytes objs     bytes  objs trace name"
        )?;
        for ranked in self.sites.rows() {
            row(ranked, out)?;
        }
        writeln!(out, "SITES END")
    }
}

fn row(ranked: &Ranked<'_, Site<'_>>, out: &mut impl Write) -> io::Result<()> {
    let site = ranked.row;
    writeln!(
        out,
        "{:>5} {} {} {:>9} {:>4} {:>9} {:>5} {:>5} {}",
        ranked.rank,
        ranked.own,
        ranked.accumulated,
        site.live.bytes,
        site.live.objects,
        site.allocated.bytes,
        site.allocated.objects,
        site.trace.get(),
        ClassName::from_signature(site.signature)
    )
}
