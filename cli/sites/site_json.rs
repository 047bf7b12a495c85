//! Allocation sites as JSON.

use reader::{Amount, Site};
use serde_json::{json, Value};

use super::Listing;
use crate::frame;
use crate::site_source::SiteSource;

/// Everything that `hprof sites` prints, with up to `top` sites and `depth` frames of each.
pub(super) fn in_json(listing: &Listing<'_>, top: usize, depth: usize) -> Value {
    let table = listing.table;
    let rows = listing.rows.iter().take(top);
    let sites = (1_u64..).zip(rows).map(|(rank, site)| {
        let mut value = site_in_json(listing, site, depth);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("rank".to_owned(), rank.into());
        }
        value
    });
    json!({
        "from": match listing.source {
            SiteSource::Sites => "sites",
            SiteSource::Dump => "dump",
        },
        "order": if listing.allocated { "allocated" } else { "live" },
        "live": amount(table.live),
        "allocated": table.allocated.map(amount),
        "without_stack": amount(table.stackless),
        "damaged": listing.found.damaged,
        "sites": sites.collect::<Vec<_>>(),
    })
}

fn site_in_json(listing: &Listing<'_>, site: &Site, depth: usize) -> Value {
    let frames = listing.found.stacks.frames(site.trace).take(depth);
    json!({
        "class": site.class,
        "trace": site.trace,
        "live": amount(site.live),
        "allocated": site.allocated.map(amount),
        "frames": frames.map(frame::in_json).collect::<Vec<_>>(),
    })
}

fn amount(amount: Amount) -> Value {
    json!({ "bytes": amount.bytes, "objects": amount.objects })
}
