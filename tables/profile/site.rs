//! Allocation sites: the objects that a stack allocated, their bytes, and how much of that is still
//! alive.

use format::ClassName;

use super::ranking::{Ranked, Ranking};
use crate::{ClassId, TraceId};

/// One class of objects allocated with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site<'a> {
    /// The class's serial number, for the binary record.
    pub class: ClassId,
    /// The class's name.
    pub name: ClassName<'a>,
    /// The stack; [`TraceId::EMPTY`] if it is not known.
    pub trace: TraceId,
    /// The objects that are alive.
    pub live: SiteTotals,
    /// All objects ever allocated, including those alive.
    pub allocated: SiteTotals,
}

/// Bytes and objects together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteTotals {
    /// Bytes, headers and padding included.
    pub bytes: u64,
    /// Objects, arrays included.
    pub objects: u64,
}

impl SiteTotals {
    /// The sum, with each number limited to 2^64 - 1.
    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            objects: self.objects.saturating_add(other.objects),
        }
    }
}

/// The weight by which sites are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteOrder {
    /// By live bytes, the usual order.
    LiveBytes,
    /// By allocated bytes.
    AllocatedBytes,
}

impl SiteOrder {
    fn weight(self, site: &Site<'_>) -> u64 {
        match self {
            Self::LiveBytes => site.live.bytes,
            Self::AllocatedBytes => site.allocated.bytes,
        }
    }
}

/// Sites in order, down to the first below the cutoff, with the totals of all sites.
///
/// Percentages and cutoff refer to the weight of the order. (The old agent always used live bytes,
/// so a list by allocated bytes ended at the first site without live objects.)
#[derive(Clone, Debug)]
pub struct Sites<'a> {
    ranking: Ranking<'a, Site<'a>>,
    /// The order of the ranking.
    pub order: SiteOrder,
    /// The ratio below which the list ends.
    pub cutoff: f64,
    /// The live total of all sites, including those below the cutoff.
    pub live: SiteTotals,
    /// The allocated total of all sites, including those below the cutoff.
    pub allocated: SiteTotals,
}

impl<'a> Sites<'a> {
    /// Ranks sites. `cutoff` is a ratio, 0.01 for one percent; 0 keeps all sites.
    pub fn new(sites: &'a [Site<'a>], order: SiteOrder, cutoff: f64) -> Self {
        let total = |part: fn(&Site<'_>) -> SiteTotals| {
            sites
                .iter()
                .map(part)
                .fold(SiteTotals::default(), SiteTotals::plus)
        };
        Self {
            ranking: Ranking::by(sites, |site| order.weight(site), tie, cutoff),
            order,
            cutoff,
            live: total(|site| site.live),
            allocated: total(|site| site.allocated),
        }
    }

    /// The same list, with totals that include other sites, which have no row in it.
    #[must_use]
    pub fn beside(mut self, others: &[Site<'_>]) -> Self {
        for other in others {
            self.live = self.live.plus(other.live);
            self.allocated = self.allocated.plus(other.allocated);
        }
        self
    }

    /// The sites above the cutoff, the largest first.
    pub fn rows(&self) -> &[Ranked<'a, Site<'a>>] {
        self.ranking.rows()
    }

    /// The traces that the rows refer to, in the order of the rows, with repetitions; they must be
    /// written first.
    pub fn traces(&self) -> impl Iterator<Item = TraceId> + '_ {
        self.rows().iter().map(|ranked| ranked.row.trace)
    }
}

/// The order of sites with equal weight.
fn tie(site: &Site<'_>) -> (TraceId, ClassId) {
    (site.trace, site.class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(class: u32, live: u64, allocated: u64) -> Site<'static> {
        let (class, objects) = (ClassId::new(class).unwrap(), 1);
        let total = |bytes| SiteTotals { bytes, objects };
        Site {
            class,
            name: ClassName::from_signature(b"[B"),
            trace: TraceId::EMPTY,
            live: total(live),
            allocated: total(allocated),
        }
    }

    fn classes(sites: &Sites<'_>) -> Vec<u32> {
        sites
            .rows()
            .iter()
            .map(|site| site.row.class.get())
            .collect()
    }

    #[test]
    fn sites_are_ranked_by_what_is_asked_for() {
        let rows = [site(1, 10, 90), site(2, 30, 30), site(3, 0, 100)];
        let by_live = Sites::new(&rows, SiteOrder::LiveBytes, 0.0001);
        assert_eq!(classes(&by_live), [2, 1]);
        let by_allocated = Sites::new(&rows, SiteOrder::AllocatedBytes, 0.0001);
        assert_eq!(classes(&by_allocated), [3, 1, 2]);
        assert_eq!(by_allocated.traces().count(), 3);
    }

    #[test]
    fn totals_are_of_all_sites() {
        let rows = [site(1, 1, u64::MAX), site(2, 99, 1)];
        let sites = Sites::new(&rows, SiteOrder::LiveBytes, 0.5);
        assert_eq!(classes(&sites), [2]);
        assert_eq!((sites.live.bytes, sites.live.objects), (100, 2));
        assert_eq!(sites.allocated.bytes, u64::MAX);
        let sites = sites.beside(&[site(3, 7, 7)]);
        assert_eq!(classes(&sites), [2]);
        assert_eq!((sites.live.bytes, sites.live.objects), (107, 3));
    }
}
