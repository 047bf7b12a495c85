//! Records of profiles: allocation sites, totals of the heap, samples, settings.
//!
//! The format has only four bytes for live totals and for the numbers of a row. A larger number is
//! written as 2^32 - 1, because a profile whose largest row is known to be "at least 4 GiB" is
//! worth more than none. Percentages are computed from the true numbers before.

use format::record::{
    AllocSite, AllocSites, ControlSettings, CpuSample, CpuSamples, HeapSummary, Record,
};
use format::SORTED_BY_ALLOCATION;
use tables::profile::{Costs, Site, SiteOrder, SiteTotals, Sites};

/// The flag of CONTROL SETTINGS for "alloc traces on" (format text).
const ALLOC_TRACES: u32 = 0x1;
/// The flag of CONTROL SETTINGS for "cpu sampling on" (format text).
const CPU_SAMPLING: u32 = 0x2;

/// Allocation sites, complete down to the cutoff. Their classes and traces must come before them in
/// the file. The flag for "incremental" is never set.
pub fn alloc_sites(sites: &Sites<'_>) -> Record {
    let totals = heap_summary(sites.live, sites.allocated);
    Record::AllocSites(AllocSites {
        flags: match sites.order {
            SiteOrder::LiveBytes => 0,
            SiteOrder::AllocatedBytes => SORTED_BY_ALLOCATION,
        },
        cutoff: ratio(sites.cutoff),
        live_bytes: totals.live_bytes,
        live_objects: totals.live_objects,
        allocated_bytes: totals.allocated_bytes,
        allocated_objects: totals.allocated_objects,
        sites: sites.rows().iter().map(|ranked| site(ranked.row)).collect(),
    })
}

/// The format has a float where the options have a double.
#[allow(clippy::cast_possible_truncation)]
fn ratio(cutoff: f64) -> f32 {
    cutoff as f32
}

fn site(site: &Site<'_>) -> AllocSite {
    AllocSite {
        array_type: site.name.array_kind(),
        class_serial: site.class.get(),
        trace: site.trace.get(),
        live_bytes: at_most_u4(site.live.bytes),
        live_objects: at_most_u4(site.live.objects),
        allocated_bytes: at_most_u4(site.allocated.bytes),
        allocated_objects: at_most_u4(site.allocated.objects),
    }
}

/// 2^32 - 1 if the number does not fit.
fn at_most_u4(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Totals of live objects, and of all ever allocated.
pub fn heap_summary(live: SiteTotals, allocated: SiteTotals) -> HeapSummary {
    HeapSummary {
        live_bytes: at_most_u4(live.bytes),
        live_objects: at_most_u4(live.objects),
        allocated_bytes: allocated.bytes,
        allocated_objects: allocated.objects,
    }
}

/// Samples of running threads by stack. Their traces must come before them in the file.
pub fn cpu_samples(samples: &Costs<'_>) -> Record {
    let rows = samples.rows().iter().map(|ranked| CpuSample {
        samples: at_most_u4(ranked.row.own),
        trace: ranked.row.trace.get(),
    });
    Record::CpuSamples(CpuSamples {
        total: at_most_u4(samples.whole()),
        rows: rows.collect(),
    })
}

/// The profiler's settings: whether objects have their allocation stacks, whether running threads
/// are sampled, and the most frames of a stack; these are written as 65,535 if it is more.
pub fn control_settings(alloc_traces: bool, cpu_sampling: bool, depth_frames: usize) -> Record {
    let flag = |on, flag| if on { flag } else { 0 };
    Record::ControlSettings(ControlSettings {
        flags: flag(alloc_traces, ALLOC_TRACES) | flag(cpu_sampling, CPU_SAMPLING),
        depth_frames: u16::try_from(depth_frames).unwrap_or(u16::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ClassName;
    use tables::{ClassId, TraceId};

    #[test]
    fn what_passes_four_bytes_is_the_most_they_hold() {
        let total = SiteTotals {
            bytes: 1 << 32,
            objects: 1,
        };
        let row = Site {
            class: ClassId::new(7).unwrap(),
            name: ClassName::from_signature(b"[I"),
            trace: TraceId::EMPTY,
            live: total,
            allocated: total,
        };
        let rows = [row];
        let sites = Sites::new(&rows, SiteOrder::LiveBytes, 0.0);
        let mut out = Vec::new();
        crate::record::encode(&alloc_sites(&sites), &mut out).unwrap();
        assert_eq!(out[15..19], [0xFF; 4]);
        assert_eq!(out[23..31], (1u64 << 32).to_be_bytes());
        assert_eq!(out[52..56], [0xFF; 4]);
    }
}
