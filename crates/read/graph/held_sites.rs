//! Where the objects below a suspect were allocated, by estimated bytes.
//!
//! A sampled dump has a stack for one large object of its class and for a few of thousands of small
//! ones. Each object with a stack represents those of its class and size among the objects below
//! the suspect, as in [`crate::site_totals`].

use reader::Stratum;
use rustc_hash::FxHashMap;

use crate::heap::Heap;
use crate::site_totals::{number, stratum};

/// Objects below a suspect that one stack allocated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldSite {
    /// Their class.
    pub class: u32,
    /// Serial number of the trace.
    pub trace: u32,
    /// Number of objects that have this stack.
    pub sampled: u64,
    /// Bytes of the objects that they represent.
    pub bytes: f64,
}

/// The allocation stacks below a suspect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldSites {
    /// By class and stack, most estimated bytes first.
    pub sites: Vec<HeldSite>,
    /// Bytes of the objects of which a part has stacks.
    pub known_bytes: f64,
    /// Bytes of all objects.
    pub all_bytes: u64,
    /// Whether only some of the objects of these classes and sizes have a stack.
    pub is_sampled: bool,
}

impl HeldSites {
    /// Those of these objects.
    pub(crate) fn of(heap: &Heap<'_>, held: impl Iterator<Item = u32>) -> Self {
        let mut strata: FxHashMap<Stratum, (u64, u64)> = FxHashMap::default();
        let mut stacks: FxHashMap<(Stratum, u32, u32), (u64, u64)> = FxHashMap::default();
        let mut all_bytes = 0_u64;
        for object in held {
            let (bytes, stratum) = (heap.shallow_bytes(object), stratum(heap, object));
            all_bytes = all_bytes.saturating_add(bytes);
            strata.entry(stratum).or_default().0 += bytes;
            if let Some(trace) = heap.allocation_trace(object) {
                strata.entry(stratum).or_default().1 += bytes;
                let stack = stacks
                    .entry((stratum, heap.class(object), trace))
                    .or_default();
                *stack = (stack.0 + 1, stack.1 + bytes);
            }
        }
        let mut sites: FxHashMap<(u32, u32), HeldSite> = FxHashMap::default();
        for ((stratum, class, trace), (sampled, bytes)) in stacks {
            let (all, carried) = strata.get(&stratum).copied().unwrap_or((1, 1));
            let site = sites.entry((class, trace)).or_insert(HeldSite {
                class,
                trace,
                sampled: 0,
                bytes: 0.0,
            });
            site.sampled += sampled;
            site.bytes += number(bytes) * number(all) / number(carried.max(1));
        }
        let known = strata.values().filter(|(_, carried)| *carried > 0);
        let is_sampled = known.clone().any(|(all, carried)| carried < all);
        let known_bytes = known.map(|(all, _)| number(*all)).sum();
        let mut sites: Vec<HeldSite> = sites.into_values().collect();
        sites.sort_by(|a, b| {
            let by_bytes = b.bytes.total_cmp(&a.bytes);
            by_bytes.then((a.class, a.trace).cmp(&(b.class, b.trace)))
        });
        Self {
            sites,
            known_bytes,
            all_bytes,
            is_sampled,
        }
    }
}
