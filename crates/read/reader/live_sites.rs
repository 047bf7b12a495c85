//! Which sites allocated the objects of a heap, estimated from those that carry their stack.
//!
//! The profiler counts garbage as live until a collection has removed it, and the heap has no
//! garbage. But of the objects in it only those that were sampled carry a stack. Each stands for
//! the objects of its class and size, divided by those of them that carry one. What the profiler
//! counted for a site is an upper bound: objects that are older than the profiler count for no
//! site, as far as it knows.

use std::collections::HashMap;
use std::rc::Rc;

use crate::sites::{Amount, Site, SiteTable};
use crate::stacks::Stacks;

/// Objects with about the same probability of being sampled: a class, and the number of bits of
/// their size.
pub type Stratum = (u64, u32);

/// Objects of one class and size that carry one trace, or no stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Class in Java's form.
    pub class: Rc<str>,
    /// Their stratum.
    pub stratum: Stratum,
    /// Serial of the trace; `None` if it has no frames.
    pub trace: Option<u32>,
    /// The objects and their own bytes.
    pub amount: Amount,
}

impl SiteTable {
    /// The live objects of each site; `None` if no object carries a stack. `recorded` is what the
    /// profiler counted.
    pub fn of_heap(counted: &[Counted], recorded: Option<&Self>) -> Option<Self> {
        let mut strata: HashMap<Stratum, (u64, u64)> = HashMap::new();
        let (mut stackless, mut carried) = (Amount::default(), Amount::default());
        for one in counted {
            let (all, carrying) = strata.entry(one.stratum).or_default();
            *all = all.saturating_add(one.amount.objects);
            if one.trace.is_some() {
                *carrying = carrying.saturating_add(one.amount.objects);
                carried.add(one.amount);
            } else {
                stackless.add(one.amount);
            }
        }
        let mut sites: HashMap<(Rc<str>, u32), [Amount; 2]> = HashMap::new();
        for one in counted {
            let Some(trace) = one.trace else { continue };
            let site = sites.entry((Rc::clone(&one.class), trace)).or_default();
            let [own, estimate] = site;
            own.add(one.amount);
            let part = strata.get(&one.stratum).copied().unwrap_or((1, 1));
            estimate.add(one.amount.times(part));
        }
        let bounds = recorded.map(SiteTable::by_site);
        let rows = sites.into_iter().map(|((class, trace), [own, estimate])| {
            let known = |bounds: &HashMap<(Rc<str>, u32), Amount>| {
                let counted = bounds.get(&(Rc::clone(&class), trace)).copied();
                // Smaller sites are left out of the profiler's table.
                estimate.at_most(counted.unwrap_or(own)).at_least(own)
            };
            let live = bounds.as_ref().map_or(estimate, known);
            Site {
                class: Rc::clone(&class),
                trace,
                live,
                allocated: None,
            }
        });
        let rows: Vec<Site> = rows.collect();
        (!rows.is_empty()).then(|| Self {
            stackless,
            carried,
            ..Self::new(rows, Amount::default(), None)
        })
    }

    /// What the profiler counted, with the live objects of the heap instead of its own, which
    /// include garbage. Sites without a stack keep theirs.
    pub(crate) fn with_live_of(self, heap: &Self, stacks: &Stacks) -> Self {
        let by_site = heap.by_site();
        let mut live = heap.live;
        let mut rows = self.rows;
        for site in &mut rows {
            if stacks.is_empty(site.trace) {
                live.add(site.live);
            } else {
                let known = by_site.get(&(Rc::clone(&site.class), site.trace));
                site.live = known.copied().unwrap_or_default();
            }
        }
        Self {
            carried: heap.carried,
            ..Self::new(rows, live, self.allocated)
        }
    }

    fn by_site(&self) -> HashMap<(Rc<str>, u32), Amount> {
        let mut sites: HashMap<(Rc<str>, u32), Amount> = HashMap::new();
        for site in &self.rows {
            let sum = sites
                .entry((Rc::clone(&site.class), site.trace))
                .or_default();
            sum.add(site.live);
        }
        sites
    }
}

impl Amount {
    /// The smaller of each number.
    fn at_most(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.min(other.bytes),
            objects: self.objects.min(other.objects),
        }
    }

    /// The product with a fraction, rounded.
    fn times(self, (above, below): (u64, u64)) -> Self {
        let below = u128::from(below.max(1));
        let part = |number: u64| {
            let product = u128::from(number) * u128::from(above) + below / 2;
            u64::try_from(product / below).unwrap_or(u64::MAX)
        };
        Self {
            bytes: part(self.bytes),
            objects: part(self.objects),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(class: &str, size: u32, trace: Option<u32>, objects: u64, bytes: u64) -> Counted {
        Counted {
            class: class.into(),
            stratum: (0, size),
            trace,
            amount: Amount { bytes, objects },
        }
    }

    fn rows(table: &SiteTable) -> Vec<(u32, u64, u64)> {
        let row = |site: &Site| (site.trace, site.live.objects, site.live.bytes);
        table.rows.iter().map(row).collect()
    }

    /// 600,000 small arrays, of which 10 carry the stack, and one large one that does.
    fn leak() -> Vec<Counted> {
        vec![
            counted("byte[]", 7, Some(1), 10, 720),
            counted("byte[]", 7, None, 599_990, 43_199_280),
            counted("byte[]", 21, Some(2), 1, 2_000_016),
        ]
    }

    #[test]
    fn a_sampled_object_stands_for_those_of_its_class_and_size() {
        let table = SiteTable::of_heap(&leak(), None).unwrap();
        assert_eq!(rows(&table), [(1, 600_000, 43_200_000), (2, 1, 2_000_016)]);
        assert_eq!(table.carried.objects, 11);
        assert_eq!(table.stackless.objects, 599_990);
    }

    #[test]
    fn the_profilers_count_bounds_the_estimate() {
        let site = |trace, bytes, objects| Site {
            class: "byte[]".into(),
            trace,
            live: Amount { bytes, objects },
            allocated: Some(Amount {
                bytes: 9,
                objects: 9,
            }),
        };
        let recorded = vec![site(1, 7_200, 100), site(2, 1, 1), site(3, 5_000, 5)];
        let recorded = SiteTable::new(recorded, Amount::default(), Some(Amount::default()));
        let table = SiteTable::of_heap(&leak(), Some(&recorded)).unwrap();
        assert_eq!(rows(&table), [(2, 1, 2_000_016), (1, 100, 7_200)]);
    }

    #[test]
    fn without_a_stack_there_are_no_sites() {
        assert_eq!(
            SiteTable::of_heap(&[counted("int[]", 5, None, 3, 72)], None),
            None
        );
    }
}
