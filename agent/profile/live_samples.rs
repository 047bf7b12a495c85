//! Samples whose objects may still live, behind weak handles; a bounded number.
//!
//! When the bound is reached, every second sample is dropped by chance and those left count twice, and so do the ones
//! that come: the sums stay unbiased, and the memory bounded.

use super::live_objects::{Behind, LiveObject};
use tables::Weight;

/// A sampled object.
#[derive(Debug)]
pub(super) struct Sample {
    /// The object.
    pub(super) live: LiveObject,
    /// It stands for 2^`doublings` samples.
    pub(super) doublings: u32,
}

impl Sample {
    /// What it stands for, where a sample was taken every `interval_bytes`.
    pub(super) fn weight(&self, interval_bytes: u32) -> Weight {
        let mut weight = Weight::default();
        let times = f64::from(2_u32.saturating_pow(self.doublings));
        let size_bytes = self.live.size_bytes();
        weight.add(
            Weight::of_sample(size_bytes, u64::from(interval_bytes)),
            times,
        );
        weight
    }
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
pub(super) struct LiveSamples {
    samples: Vec<Sample>,
    most: usize,
    doublings: u32,
    random: u64,
}

impl LiveSamples {
    /// No samples yet, `most` at a time.
    pub(super) fn new(most: usize) -> Self {
        Self {
            samples: Vec::new(),
            most,
            doublings: 0,
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// Whether the next sample is one to keep, and then how often it is doubled.
    pub(super) fn wants(&mut self) -> Option<u32> {
        let doublings = self.doublings;
        (self.most > 0 && self.chance(doublings)).then_some(doublings)
    }

    /// Keeps a sample. `true`: the bound is reached, so the samples should be taken out and [thinned](Self::thin).
    pub(super) fn keep(&mut self, sample: Sample) -> bool {
        self.samples.push(sample);
        self.samples.len() >= self.most
    }

    /// Takes all samples out, to be given back.
    pub(super) fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.samples)
    }

    /// Gives back those samples that are left.
    pub(super) fn give_back(&mut self, mut left: Vec<Sample>) {
        left.append(&mut self.samples);
        self.samples = left;
    }

    /// Drops every second sample by chance if more than half of the bound still live: answers those to keep and those
    /// dropped. If few live, the next samples count single again.
    pub(super) fn thin(&mut self, living: Vec<Sample>) -> (Vec<Sample>, Vec<Sample>) {
        if living.len() <= self.most / 2 {
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
            if self.chance(surplus) {
                sample.doublings = before + surplus;
                kept.push(sample);
            } else {
                dropped.push(sample);
            }
        }
        (kept, dropped)
    }

    /// True with the probability 2^-`halvings`.
    fn chance(&mut self, halvings: u32) -> bool {
        // Marsaglia's xorshift: no need for more, the samples are random themselves.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        halvings == 0 || self.random.leading_zeros() >= halvings
    }
}
