//! Samples whose objects may still live, behind weak handles; a bounded number.
//!
//! When the bound is reached, every second sample is dropped by chance and those left count twice, and so do the ones
//! that come: the sums stay unbiased, and the memory bounded.

use crate::chance::Chance;
use crate::profile::allocations::live_objects::{Behind, LiveObject};
use tables::Weight;

/// Samples that are remembered before it is looked which of them are gone.
const FIRST_PURGE: usize = 4096;

/// A sampled object.
#[derive(Debug)]
pub(crate) struct Sample {
    /// The object.
    pub(crate) live: LiveObject,
    /// It stands for 2^`doublings` samples.
    pub(crate) doublings: u32,
    /// Chosen every so many bytes, on average.
    pub(crate) interval_bytes: u32,
}

const _: () = assert!(std::mem::size_of::<Sample>() == 24);

impl Sample {
    /// What it stands for.
    pub(crate) fn weight(&self) -> Weight {
        weight(self.live.size_bytes(), self.interval_bytes, self.doublings)
    }
}

/// What a sample of so many bytes stands for, chosen every `interval_bytes`, that is doubled so often.
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

/// The samples. Whoever looks behind the handles takes all of them and gives them back: those that come meanwhile need not
/// wait.
#[derive(Debug)]
pub(crate) struct LiveSamples {
    samples: Vec<Sample>,
    most: usize,
    /// How many there may be until those that are gone are looked for: each collection goes over all handles.
    purge_at: usize,
    /// Collections at the last look.
    collections: u32,
    doublings: u32,
    chance: Chance,
}

impl LiveSamples {
    /// No samples yet, `most` at a time.
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

    /// Whether to keep the next sample, which is doubled so often already, and then how often it is doubled.
    pub(crate) fn wants(&mut self, doublings: u32) -> Option<u32> {
        let surplus = self.doublings.saturating_sub(doublings);
        (self.most > 0 && self.chance.of_halvings(surplus)).then_some(doublings + surplus)
    }

    /// Keeps a sample; so many collections have ended by now. `true`: there are many, so they should be taken out, and those
    /// that live [thinned](Self::thin).
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

    /// Gives back those samples that are left.
    pub(crate) fn give_back(&mut self, mut left: Vec<Sample>) {
        left.append(&mut self.samples);
        self.samples = left;
    }

    /// Of so many samples that were there these live. Drops every second one by chance if the bound was reached and more than
    /// half of it still lives: answers those to keep and those dropped. If few live, the next samples count single again.
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
            // Those that count more already are as rare as the others become.
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
