//! Samples of objects that may be alive, held by weak handles; a bounded number.
//!
//! At the bound, samples are dropped at random with probability ½. The others then count twice, and
//! so do new ones: sums stay unbiased, and memory bounded.

use crate::profile::allocations::live_objects::LiveObject;
use hotspot::chance::Chance;
use std::borrow::Borrow;
use tables::Weight;

/// Number of samples at which collected objects are first removed.
const FIRST_PURGE: usize = 4096;

/// A sampled object.
#[derive(Debug)]
pub(crate) struct Sample {
    /// The object.
    pub(crate) live: LiveObject,
    /// It stands for 2^`doublings` samples.
    pub(crate) doublings: u32,
    /// Average bytes between samples when it was chosen.
    pub(crate) interval_bytes: u32,
}

const _: () = assert!(std::mem::size_of::<Sample>() == 24);

impl Sample {
    /// What it stands for.
    pub(crate) fn weight(&self) -> Weight {
        weight(self.live.size_bytes(), self.interval_bytes, self.doublings)
    }
}

/// The weight of a sample of `size_bytes`, chosen every `interval_bytes` on average, that stands
/// for 2^`doublings` samples.
pub(crate) fn weight(size_bytes: u64, interval_bytes: u32, doublings: u32) -> Weight {
    let mut weight = Weight::default();
    weight.add(
        Weight::of_sample(size_bytes, u64::from(interval_bytes)),
        f64::from(2_u32.saturating_pow(doublings)),
    );
    weight
}

impl Borrow<LiveObject> for Sample {
    fn borrow(&self) -> &LiveObject {
        &self.live
    }
}

impl From<Sample> for LiveObject {
    fn from(sample: Sample) -> Self {
        sample.live
    }
}

/// The samples. To read the handles, take all samples out and give them back: new samples need not
/// wait meanwhile.
#[derive(Debug)]
pub(crate) struct LiveSamples {
    samples: Vec<Sample>,
    most: usize,
    /// Number of samples at which collected objects are removed: every collection visits all
    /// handles.
    purge_at: usize,
    /// Number of collections at the last removal.
    collections: u32,
    doublings: u32,
    chance: Chance,
}

impl LiveSamples {
    /// No samples yet, and at most `most` at a time.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            samples: Vec::new(),
            most,
            purge_at: FIRST_PURGE.min(most),
            collections: 0,
            doublings: 0,
            chance: Chance::new(),
        }
    }

    /// Whether to keep the next sample, which already stands for 2^`doublings`; if so, the new
    /// `doublings`.
    pub(crate) fn wants(&mut self, doublings: u32) -> Option<u32> {
        let surplus = self.doublings.saturating_sub(doublings);
        (self.most > 0 && self.chance.of_halvings(surplus)).then_some(doublings + surplus)
    }

    /// Keeps a sample; `collections` is the number of collections so far. Returns `true` if there
    /// are so many samples that they should be taken out and [thinned](Self::thin).
    pub(crate) fn keep(&mut self, sample: Sample, collections: u32) -> bool {
        self.samples.push(sample);
        let count = self.samples.len();
        let is_due =
            count >= self.most || count >= self.purge_at && collections != self.collections;
        if is_due {
            self.collections = collections;
        }
        is_due
    }

    /// Takes all samples out, to be given back.
    pub(crate) fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.samples)
    }

    /// Returns the samples that are left.
    pub(crate) fn give_back(&mut self, mut left: Vec<Sample>) {
        left.append(&mut self.samples);
        self.samples = left;
    }

    /// `living` of `were` samples survived. If the bound was reached and more than half of it is
    /// still alive, drops each with probability ½. Returns the samples to keep and those dropped.
    /// If few survived, new samples count once again.
    pub(crate) fn thin(&mut self, living: Vec<Sample>, were: usize) -> (Vec<Sample>, Vec<Sample>) {
        let next = living.len().saturating_mul(2).max(FIRST_PURGE);
        self.purge_at = next.min(self.most);
        if living.len() <= self.most / 2 || were < self.most {
            if living.len() <= self.most / 8 {
                self.doublings = self.doublings.saturating_sub(1);
            }
            return (living, Vec::new());
        }
        self.doublings += 1;
        let doublings = self.doublings;
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        for mut sample in living {
            // Samples that already count more are already rarer by as much.
            let before = sample.doublings;
            let surplus = doublings.saturating_sub(before);
            if self.chance.of_halvings(surplus) {
                sample.doublings = before + surplus;
                kept.push(sample);
            } else {
                dropped.push(sample);
            }
        }
        (kept, dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm::weak::Weak;
    use tables::{ClassId, SiteIndex, SiteKey, SiteTable, TraceId};

    const MOST: usize = 10_000;

    fn site() -> SiteIndex {
        let class = ClassId::from_index(0).expect("an id");
        let trace = TraceId::EMPTY;
        let site = SiteTable::default().find(SiteKey { class, trace });
        site.expect("room")
    }

    fn sample(doublings: u32) -> Sample {
        Sample {
            live: LiveObject::new(Weak::of_nothing(), site(), 16),
            doublings,
            interval_bytes: 1000,
        }
    }

    fn many(count: usize, doublings: u32) -> Vec<Sample> {
        (0..count).map(|_| sample(doublings)).collect()
    }

    /// Whether `count` of `all` is a half, within six standard errors.
    fn is_half(count: usize, all: usize) -> bool {
        count.abs_diff(all / 2) < 3 * all.isqrt()
    }

    #[test]
    fn collected_objects_are_removed_once_per_collection_and_at_the_bound() {
        let mut samples = LiveSamples::new(MOST);
        let due: Vec<usize> = (1..=MOST + 1)
            .filter(|&count| samples.keep(sample(0), if count < 5000 { 0 } else { 1 }))
            .collect();
        assert_eq!(due, [5000, MOST, MOST + 1]);
        let taken = samples.take();
        assert_eq!(taken.len(), MOST + 1);
        assert!(!samples.keep(sample(0), 1));
        samples.give_back(taken);
        assert_eq!(samples.take().len(), MOST + 2);
    }

    #[test]
    fn what_is_left_decides_when_to_look_again() {
        let mut samples = LiveSamples::new(MOST);
        let (kept, _) = samples.thin(many(4000, 0), 4096);
        samples.give_back(kept);
        let due: Vec<usize> = (4001..=8001)
            .filter(|_| samples.keep(sample(0), 1))
            .collect();
        // Twice as many as survived; then not again before the next collection.
        assert_eq!(due, [8000]);
    }

    #[test]
    fn at_the_bound_half_is_dropped_and_the_rest_counts_twice() {
        let mut samples = LiveSamples::new(MOST);
        let mut living = many(8000, 0);
        living.extend(many(1000, 3));
        let (kept, dropped) = samples.thin(living, MOST);
        assert_eq!(kept.len() + dropped.len(), 9000);
        assert!(is_half(dropped.len(), 8000), "{}", dropped.len());
        assert!(dropped.iter().all(|sample| sample.doublings == 0));
        let of = |doublings| {
            let those = kept.iter().filter(|sample| sample.doublings == doublings);
            those.count()
        };
        // Those that counted eight times are rare enough.
        assert_eq!((of(1), of(3)), (8000 - dropped.len(), 1000));
        let wanted: Vec<_> = (0..10_000).filter_map(|_| samples.wants(0)).collect();
        assert!(is_half(wanted.len(), 10_000), "{}", wanted.len());
        assert!(wanted.iter().all(|&doublings| doublings == 1));
        assert_eq!(samples.wants(2), Some(2));
    }

    #[test]
    fn below_the_bound_and_where_few_live_all_stay() {
        let mut samples = LiveSamples::new(MOST);
        for (living, were) in [(MOST / 2, MOST), (MOST, MOST - 1)] {
            let (kept, dropped) = samples.thin(many(living, 0), were);
            assert_eq!((kept.len(), dropped.len()), (living, 0));
        }
        assert_eq!(samples.wants(0), Some(0));
        let _ = samples.thin(many(MOST, 0), MOST);
        let _ = samples.thin(many(MOST, 0), MOST);
        let least = |samples: &mut LiveSamples| (0..1000).find_map(|_| samples.wants(0));
        assert_eq!(least(&mut samples), Some(2));
        let _ = samples.thin(many(MOST / 8 + 1, 2), MOST);
        assert_eq!(least(&mut samples), Some(2));
        let _ = samples.thin(many(MOST / 8, 2), MOST);
        assert_eq!(least(&mut samples), Some(1));
    }

    #[test]
    fn without_room_nothing_is_wanted() {
        assert_eq!(LiveSamples::new(0).wants(0), None);
    }

    #[test]
    fn a_sample_weighs_what_it_stands_for() {
        let once = sample(0).weight();
        let eightfold = sample(3).weight();
        assert!((eightfold.objects / once.objects - 8.0).abs() < 1e-9);
        assert!((once.bytes / once.objects - 16.0).abs() < 1e-9);
    }
}
