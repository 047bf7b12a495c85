//! Samples of objects that may be alive, behind weak handles; a bounded number.
//!
//! At the bound, samples are dropped at random with probability ½. The others then count twice, and so do new ones:
//! sums stay unbiased, and memory bounded.

use crate::chance::Chance;
use crate::profile::allocations::live_objects::{Behind, LiveObject};
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

/// The weight of a sample of `size_bytes`, chosen every `interval_bytes` on average, that stands for 2^`doublings`
/// samples.
pub(crate) fn weight(size_bytes: u64, interval_bytes: u32, doublings: u32) -> Weight {
    let mut weight = Weight::default();
    weight.add(
        Weight::of_sample(size_bytes, u64::from(interval_bytes)),
        f64::from(2_u32.saturating_pow(doublings)),
    );
    weight
}

impl Behind for Sample {
    fn object(&self) -> &LiveObject {
        &self.live
    }

    fn into_object(self) -> LiveObject {
        self.live
    }
}

/// The samples. To read the handles, take all samples out and give them back: new samples need not wait meanwhile.
#[derive(Debug)]
pub(crate) struct LiveSamples {
    samples: Vec<Sample>,
    most: usize,
    /// Number of samples at which collected objects are removed: every collection visits all handles.
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

    /// Whether to keep the next sample, which already stands for 2^`doublings`; if so, the new `doublings`.
    pub(crate) fn wants(&mut self, doublings: u32) -> Option<u32> {
        let surplus = self.doublings.saturating_sub(doublings);
        (self.most > 0 && self.chance.of_halvings(surplus)).then_some(doublings + surplus)
    }

    /// Keeps a sample; `collections` is the number of collections so far. Returns `true` if there are so many samples
    /// that they should be taken out and [thinned](Self::thin).
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

    /// `living` of `were` samples survived. If the bound was reached and more than half of it is still alive, drops
    /// each with probability ½. Returns the samples to keep and those dropped. If few survived, new samples count once
    /// again.
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
