//! Contention: how long threads waited to enter monitors.

use std::cmp::Reverse;

use crate::TraceId;

use super::ranking::Ranking;

/// The waits for monitors of one class at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention<'a> {
    /// Where they waited.
    pub trace: TraceId,
    /// The signature of the monitor's class: `Ljava/lang/Object;`.
    pub signature: &'a [u8],
    /// How often a thread had to wait.
    pub count: u64,
    /// The total time that they waited.
    pub nanos: u64,
}

/// Contention ordered by time, down to the first below the cutoff.
pub type Contentions<'a> = Ranking<'a, Contention<'a>>;

impl<'a> Contentions<'a> {
    /// Ranks places by time, then by count. `cutoff` is a ratio; 0 keeps all.
    pub fn new(contentions: &'a [Contention<'a>], cutoff: f64) -> Self {
        let tie = |row: &Contention<'a>| (Reverse(row.count), row.trace, row.signature);
        Ranking::by(contentions, |row| row.nanos, tie, cutoff)
    }

    /// The traces that the rows refer to, in the order of the rows, with repetitions; they must be
    /// written first.
    pub fn traces(&self) -> impl Iterator<Item = TraceId> + '_ {
        self.rows().iter().map(|ranked| ranked.row.trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_comes_first() {
        let row = |trace, count, nanos| Contention {
            trace: TraceId::new(trace).unwrap(),
            signature: b"Ljava/lang/Object;",
            count,
            nanos,
        };
        let rows = [row(2, 1, 10), row(3, 2, 10), row(4, 1, 20), row(5, 1, 0)];
        let ranked = Contentions::new(&rows, 0.0001);
        let order: Vec<u32> = ranked.traces().map(TraceId::get).collect();
        assert_eq!(order, [4, 3, 2]);
        assert_eq!(ranked.whole(), 40);
    }
}
