//! Allocation sites as rows of a report.

use std::sync::Arc;

use format::ClassName;
use tables::profile::{Site, SiteOrder, SiteTotals, Sites};
use tables::{ClassId, TraceId, Weight};

use crate::WriteError;
use crate::{profile_record, record};

/// A site and its weights.
#[derive(Clone, Debug)]
pub struct SiteRow {
    /// The class's signature.
    pub signature: Arc<[u8]>,
    /// The class, as a row of the session's tables, or of the dump's if a dump has replaced it.
    pub class: ClassId,
    /// The stack, likewise.
    pub trace: TraceId,
    /// All objects ever allocated there.
    pub allocated: Weight,
    /// Those that are alive.
    pub live: Weight,
}

impl SiteRow {
    /// Adds another site's weights.
    pub fn add(&mut self, other: &Self) {
        self.allocated.add(other.allocated, 1.0);
        self.live.add(other.live, 1.0);
    }
}

/// The record of these sites, down to the cutoff. Its totals include those of the `others`. Errors:
/// as of [`record::encode`].
pub fn alloc_sites(
    rows: &[SiteRow],
    others: &[SiteRow],
    cutoff: f64,
) -> Result<Vec<u8>, WriteError> {
    let (sites, others) = (sites(rows), sites(others));
    let ranked = Sites::new(&sites, SiteOrder::LiveBytes, cutoff).beside(&others);
    let mut out = Vec::new();
    record::encode(&profile_record::alloc_sites(&ranked), &mut out)?;
    Ok(out)
}

/// The traces of the sites above the cutoff.
pub fn ranked_traces(rows: &[SiteRow], cutoff: f64) -> Vec<TraceId> {
    let sites = sites(rows);
    let ranked = Sites::new(&sites, SiteOrder::LiveBytes, cutoff);
    ranked.traces().collect()
}

/// The rows in the writer's form.
pub fn sites(rows: &[SiteRow]) -> Vec<Site<'_>> {
    let site = |row| {
        let row: &SiteRow = row;
        Site {
            class: row.class,
            name: ClassName::from_signature(&row.signature),
            trace: row.trace,
            live: totals(row.live),
            allocated: totals(row.allocated),
        }
    };
    rows.iter().map(site).collect()
}

/// Rounds an estimate for display.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sums of positive numbers; the cast saturates
fn totals(weight: Weight) -> SiteTotals {
    SiteTotals {
        bytes: weight.bytes.round() as u64,
        objects: weight.objects.round() as u64,
    }
}
