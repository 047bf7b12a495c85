//! The site table: the number and bytes of the objects that each stack allocated, by class.
//!
//! Allocations are sampled, so a row holds estimates. At an interval of `I` bytes, an object of `s`
//! bytes is sampled with the probability `p = 1 - e^(-s/I)`. Each sample then stands for `1/p`
//! objects and `s/p` bytes, so the sums are unbiased for every size.

use crate::{ClassId, TraceId};
use std::collections::HashMap;

/// A number of objects and bytes: estimates, or exact counts if every allocation is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weight {
    /// Objects.
    pub objects: f64,
    /// Bytes in the heap.
    pub bytes: f64,
}

impl Weight {
    /// The weight of a sampled object of `size_bytes`; an interval of 0 samples everything.
    #[allow(clippy::cast_precision_loss)] // a size of 2^53 bytes and more is no object's
    pub fn of_sample(size_bytes: u64, interval_bytes: u64) -> Self {
        let size = size_bytes as f64;
        let chance = if interval_bytes == 0 || size_bytes == 0 {
            1.0
        } else {
            -(-size / interval_bytes as f64).exp_m1()
        };
        Self {
            objects: 1.0 / chance,
            bytes: size / chance,
        }
    }

    /// Adds the other weight `times` times.
    pub fn add(&mut self, other: Self, times: f64) {
        self.objects += other.objects * times;
        self.bytes += other.bytes * times;
    }
}

/// A place that allocates: a class and a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiteKey {
    /// Class of the objects.
    pub class: ClassId,
    /// The stack.
    pub trace: TraceId,
}

/// Number of a site in its table, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteIndex(u32);

impl SiteIndex {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Sites in order of arrival. Not synchronised: a shared table needs a lock.
#[derive(Clone, Debug, Default)]
pub struct SiteTable {
    by_key: HashMap<SiteKey, SiteIndex>,
    rows: Vec<(SiteKey, Weight)>,
}

impl SiteTable {
    /// The number of a site. Adds the site if it is new; `None` if there are 2^32 sites already.
    pub fn find(&mut self, key: SiteKey) -> Option<SiteIndex> {
        let next = SiteIndex(u32::try_from(self.rows.len()).ok()?);
        let index = *self.by_key.entry(key).or_insert(next);
        if index == next {
            self.rows.push((key, Weight::default()));
        }
        Some(index)
    }

    /// Counts allocations at a site.
    pub fn add(&mut self, site: SiteIndex, weight: Weight) {
        if let Some((_, allocated)) = self.rows.get_mut(site.index()) {
            allocated.add(weight, 1.0);
        }
    }

    /// Resets all weights. Every site keeps its index.
    pub fn clear_weights(&mut self) {
        for (_, allocated) in &mut self.rows {
            *allocated = Weight::default();
        }
    }

    /// All sites and their weights, by index.
    pub fn rows(&self) -> &[(SiteKey, Weight)] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(class: u32, trace: u32) -> SiteKey {
        SiteKey {
            class: ClassId::new(class).unwrap(),
            trace: TraceId::new(trace).unwrap(),
        }
    }

    #[test]
    fn a_site_is_a_class_and_a_stack() {
        let mut sites = SiteTable::default();
        let one = Weight {
            objects: 1.0,
            bytes: 16.0,
        };
        let first = sites.find(key(1, 2)).unwrap();
        assert_ne!(sites.find(key(1, 3)).unwrap(), first);
        assert_ne!(sites.find(key(2, 2)).unwrap(), first);
        assert_eq!(sites.find(key(1, 2)).unwrap(), first);
        sites.add(first, one);
        sites.add(first, one);
        let allocated = sites.rows()[first.index()].1;
        assert_eq!((allocated.objects, allocated.bytes), (2.0, 32.0));
    }

    #[test]
    fn everything_counts_once_where_everything_is_seen() {
        let weight = Weight::of_sample(24, 0);
        assert_eq!((weight.objects, weight.bytes), (1.0, 24.0));
    }

    #[test]
    #[allow(clippy::cast_precision_loss)]
    fn the_estimate_is_unbiased_for_every_size() {
        const INTERVAL: u64 = 512 * 1024;
        for size in [16_u64, 1000, 100_000, INTERVAL, 10 * INTERVAL] {
            let chance = 1.0 - (-(size as f64) / INTERVAL as f64).exp();
            let weight = Weight::of_sample(size, INTERVAL);
            assert!((chance * weight.objects - 1.0).abs() < 1e-6);
            assert!((chance * weight.bytes / size as f64 - 1.0).abs() < 1e-6);
        }
    }
}
