//! Records of profiles: allocation sites, totals of the heap, samples, settings, ends of threads.
//!
//! Source: format text, "The following TAGs are supported". As in [`crate::record`], each `encode`
//! appends one whole record, or nothing if it returns an error. The only error is
//! [`WriteError::TooLarge`]: more rows than a record can count.
//!
//! The format has only four bytes for live totals and for the numbers of a row. A larger number is
//! written as 2^32 - 1, because a profile whose largest row is known to be "at least 4 GiB" is
//! worth more than none. Percentages are computed from the true numbers before.

use format::{record as tag, SORTED_BY_ALLOCATION};
use tables::profile::{Costs, Site, SiteOrder, SiteTotals, Sites};
use tables::ThreadId;

use crate::encoder::{put_u1, put_u2, put_u4, put_u8, record, u4};
use crate::WriteError;

/// The flag of CONTROL SETTINGS for "alloc traces on" (format text).
const ALLOC_TRACES: u32 = 0x1;
/// The flag of CONTROL SETTINGS for "cpu sampling on" (format text).
const CPU_SAMPLING: u32 = 0x2;

/// Allocation sites, complete down to the cutoff.
#[derive(Clone, Copy, Debug)]
pub struct AllocSites<'a> {
    /// The sites, ranked. Their classes and traces must come before them in the file.
    pub sites: &'a Sites<'a>,
}

impl AllocSites<'_> {
    /// Appends the record. The flag for "incremental" is never set.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let sites = self.sites;
        record(out, tag::ALLOC_SITES, |out| {
            put_u2(out, order_flag(sites.order()));
            put_u4(out, ratio(sites.cutoff()).to_bits());
            put_totals(out, sites.live(), sites.allocated());
            put_u4(out, u4("the number of sites", sites.rows().len())?);
            for ranked in sites.rows() {
                put_site(out, ranked.row);
            }
            Ok(())
        })
    }
}

fn order_flag(order: SiteOrder) -> u16 {
    match order {
        SiteOrder::LiveBytes => 0,
        SiteOrder::AllocatedBytes => SORTED_BY_ALLOCATION,
    }
}

/// The format has a float where the options have a double.
#[allow(clippy::cast_possible_truncation)]
fn ratio(cutoff: f64) -> f32 {
    cutoff as f32
}

fn put_totals(out: &mut Vec<u8>, live: SiteTotals, allocated: SiteTotals) {
    put_u4(out, at_most_u4(live.bytes));
    put_u4(out, at_most_u4(live.objects));
    put_u8(out, allocated.bytes);
    put_u8(out, allocated.objects);
}

fn put_site(out: &mut Vec<u8>, site: &Site<'_>) {
    put_u1(out, site.name.array_kind());
    put_u4(out, site.class.get());
    put_u4(out, site.trace.get());
    for total in [site.live, site.allocated] {
        put_u4(out, at_most_u4(total.bytes));
        put_u4(out, at_most_u4(total.objects));
    }
}

/// 2^32 - 1 if the number does not fit.
fn at_most_u4(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Totals of the heap.
///
/// Not for a file with a heap dump: some viewers take these numbers for the dump's own and read
/// them as signed.
#[derive(Clone, Copy, Debug)]
pub struct HeapSummary {
    /// Live objects.
    pub live: SiteTotals,
    /// All objects ever allocated.
    pub allocated: SiteTotals,
}

impl HeapSummary {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::HEAP_SUMMARY, |out| {
            put_totals(out, self.live, self.allocated);
            Ok(())
        })
    }
}

/// Samples of running threads by stack.
#[derive(Clone, Copy, Debug)]
pub struct CpuSamples<'a> {
    /// The samples, ranked. Their traces must come before them in the file.
    pub samples: &'a Costs<'a>,
}

impl CpuSamples<'_> {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::CPU_SAMPLES, |out| {
            put_u4(out, at_most_u4(self.samples.total()));
            put_u4(out, u4("the number of traces", self.samples.rows().len())?);
            for ranked in self.samples.rows() {
                put_u4(out, at_most_u4(ranked.row.own));
                put_u4(out, ranked.row.trace.get());
            }
            Ok(())
        })
    }
}

/// The profiler's settings.
#[derive(Clone, Copy, Debug)]
pub struct ControlSettings {
    /// Whether objects have their allocation stacks.
    pub alloc_traces: bool,
    /// Whether running threads are sampled.
    pub cpu_sampling: bool,
    /// Most frames of a stack; written as 65,535 if it is more.
    pub depth_frames: u32,
}

impl ControlSettings {
    /// Appends the record. Never an error.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let flag = |on, flag| if on { flag } else { 0 };
        let flags = flag(self.alloc_traces, ALLOC_TRACES) | flag(self.cpu_sampling, CPU_SAMPLING);
        record(out, tag::CONTROL_SETTINGS, |out| {
            put_u4(out, flags);
            put_u2(out, u16::try_from(self.depth_frames).unwrap_or(u16::MAX));
            Ok(())
        })
    }
}

/// A thread has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndThread {
    /// The serial number that START THREAD gave it.
    pub thread: ThreadId,
}

impl EndThread {
    /// Appends the record. Never an error.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::END_THREAD, |out| {
            put_u4(out, self.thread.get());
            Ok(())
        })
    }
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
        AllocSites { sites: &sites }.encode(&mut out).unwrap();
        assert_eq!(out[15..19], [0xFF; 4]);
        assert_eq!(out[23..31], (1u64 << 32).to_be_bytes());
        assert_eq!(out[52..56], [0xFF; 4]);
    }
}
