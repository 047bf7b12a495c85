//! Allocation sites as JSON.

use reader::{Amount, Site};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{json, Value};

use super::listing::Listing;
use crate::frame;
use crate::json::List;
use crate::site_source::SiteSource;

/// Everything that `hprof sites` prints, with up to `top` sites and `depth` frames of each.
#[derive(Debug)]
pub(super) struct InJson<'l> {
    pub(super) listing: &'l Listing<'l>,
    pub(super) top: usize,
    pub(super) depth: usize,
}

impl Serialize for InJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let listing = self.listing;
        let rows = listing.rows.iter().take(self.top);
        let sites = (1_u64..).zip(rows).map(|(rank, site)| SiteInJson {
            listing,
            rank,
            site,
            depth: self.depth,
        });
        let mut map = to.serialize_map(Some(7))?;
        map.serialize_entry("allocated", &listing.table.allocated.map(amount))?;
        map.serialize_entry("damaged", &listing.found.damaged)?;
        let from = match listing.source {
            SiteSource::Sites => "sites",
            SiteSource::Dump => "dump",
        };
        map.serialize_entry("from", from)?;
        map.serialize_entry("live", &amount(listing.table.live))?;
        let order = if listing.allocated {
            "allocated"
        } else {
            "live"
        };
        map.serialize_entry("order", order)?;
        map.serialize_entry("sites", &List(sites))?;
        map.serialize_entry("without_stack", &amount(listing.table.stackless))?;
        map.end()
    }
}

#[derive(Debug)]
struct SiteInJson<'l> {
    listing: &'l Listing<'l>,
    rank: u64,
    site: &'l Site,
    depth: usize,
}

impl Serialize for SiteInJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let site = self.site;
        let frames = self
            .listing
            .found
            .stacks
            .frames(site.trace)
            .take(self.depth);
        let mut map = to.serialize_map(Some(6))?;
        map.serialize_entry("allocated", &site.allocated.map(amount))?;
        map.serialize_entry("class", &*site.class)?;
        map.serialize_entry("frames", &frame::in_json(frames))?;
        map.serialize_entry("live", &amount(site.live))?;
        map.serialize_entry("rank", &self.rank)?;
        map.serialize_entry("trace", &site.trace)?;
        map.end()
    }
}

fn amount(amount: Amount) -> Value {
    json!({ "bytes": amount.bytes, "objects": amount.objects })
}
