//! Rules on profiles: no duplicate rows, and plausible sums.

use std::collections::HashSet;

use format::BasicType;

use super::fault::Faults;
use super::rule::Rule;
use format::record::{AllocSite, AllocSites, ControlSettings, CpuSamples, HeapSummary};

/// Flags of CONTROL SETTINGS defined by the format text.
const CONTROL_FLAGS: u32 = 0b11;

/// Checks an ALLOC SITES record by itself.
pub(super) fn sites(offset: u64, record: &AllocSites, faults: &mut Faults) {
    let mut seen = HashSet::new();
    for site in &record.sites {
        judge_site(offset, site, faults);
        let (class, trace) = (site.class_serial, site.trace);
        if !seen.insert((site.array_type, class, trace)) {
            faults.add(Rule::DuplicateSite, offset, || {
                format!("a second row for class serial {class} and trace {trace}")
            });
        }
    }
    judge_site_totals(offset, record, faults);
    // The rows may be estimates. Samples may have been dropped, so a row's live objects may exceed
    // its allocated ones.
    let live = [record.live_bytes, record.live_objects].map(u64::from);
    let allocated = [record.allocated_bytes, record.allocated_objects];
    judge_live(offset, "ALLOC SITES", live, allocated, faults);
    if !(0.0..=1.0).contains(&record.cutoff) {
        faults.add(Rule::SiteCutoff, offset, || {
            format!("cutoff {}", record.cutoff)
        });
    }
}

/// Checks a HEAP SUMMARY by itself.
pub(super) fn summary(offset: u64, summary: &HeapSummary, faults: &mut Faults) {
    let live = [summary.live_bytes.into(), summary.live_objects.into()];
    let allocated = [summary.allocated_bytes, summary.allocated_objects];
    judge_live(offset, "HEAP SUMMARY", live, allocated, faults);
}

/// Checks a CPU SAMPLES record by itself.
pub(super) fn samples(offset: u64, record: &CpuSamples, faults: &mut Faults) {
    let mut seen = HashSet::new();
    let mut sum = 0_u64;
    for row in &record.rows {
        sum += u64::from(row.samples);
        if !seen.insert(row.trace) {
            faults.add(Rule::DuplicateSample, offset, || {
                format!("a second row for trace {}", row.trace)
            });
        }
    }
    if exceeds(sum, record.total) {
        faults.add(Rule::SampleTotal, offset, || {
            format!("{sum} samples in the rows, {} in all", record.total)
        });
    }
}

/// Checks CONTROL SETTINGS.
pub(super) fn control(offset: u64, settings: ControlSettings, faults: &mut Faults) {
    if settings.flags & !CONTROL_FLAGS != 0 {
        faults.add(Rule::ControlFlags, offset, || {
            format!("flags {:#x}", settings.flags)
        });
    }
}

fn judge_site(offset: u64, site: &AllocSite, faults: &mut Faults) {
    if site.array_type != 0 && BasicType::from_code(site.array_type).is_none() {
        faults.add(Rule::SiteType, offset, || {
            format!("array type {}", site.array_type)
        });
    }
}

fn judge_live(offset: u64, by: &str, live: [u64; 2], allocated: [u64; 2], faults: &mut Faults) {
    for ((live, allocated), what) in live.iter().zip(allocated).zip(["bytes", "objects"]) {
        if *live > allocated {
            faults.add(Rule::LiveNotAllocated, offset, || {
                format!("{by} with {live} {what} alive and {allocated} allocated")
            });
        }
    }
}

fn judge_site_totals(offset: u64, record: &AllocSites, faults: &mut Faults) {
    let sum = |number: fn(&AllocSite) -> u32| -> u64 {
        let numbers = record.sites.iter().map(|site| u64::from(number(site)));
        numbers.sum()
    };
    let wide = |what, number, total: u64| {
        let sum = sum(number);
        (sum > total).then_some((what, sum, total))
    };
    let narrow = |what, number, total: u32| {
        let sum = sum(number);
        exceeds(sum, total).then_some((what, sum, u64::from(total)))
    };
    let exceeded = [
        narrow("live bytes", |site| site.live_bytes, record.live_bytes),
        narrow(
            "live objects",
            |site| site.live_objects,
            record.live_objects,
        ),
        wide(
            "allocated bytes",
            |site| site.allocated_bytes,
            record.allocated_bytes,
        ),
        wide(
            "allocated objects",
            |site| site.allocated_objects,
            record.allocated_objects,
        ),
    ];
    for (what, sum, total) in exceeded.into_iter().flatten() {
        faults.add(Rule::SiteTotals, offset, || {
            format!("{sum} {what} in the rows, {total} in all")
        });
    }
}

/// Whether a sum exceeds a 32-bit total; a total at its maximum is no limit.
fn exceeds(sum: u64, total: u32) -> bool {
    total != u32::MAX && sum > u64::from(total)
}
