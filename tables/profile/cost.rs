//! Costs of stacks: processor samples, or the times of methods.

use std::cmp::Reverse;
use std::fmt::{self, Formatter};

use format::name::Word;
use format::ClassName;

use super::ranking::Ranking;
use crate::TraceId;

/// A method, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method<'a> {
    /// The class that declares it.
    pub class: ClassName<'a>,
    /// Its name in the JVM's form; an empty one is written as `<Unknown Method>`.
    pub name: &'a [u8],
}

impl fmt::Display for Method<'_> {
    /// Writes `java.lang.String.length`; the only blank possible is that of `<Unknown Method>`.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.name {
            b"" => write!(out, "{}.<Unknown Method>", self.class),
            name => write!(out, "{}.{}", self.class, Word(name)),
        }
    }
}

/// What one stack costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost<'a> {
    /// The stack.
    pub trace: TraceId,
    /// The method on its top; `None` for a stack without frames.
    ///
    /// Parsers of CPU SAMPLES fail on a stack without frames, so none should be sampled.
    pub top: Option<Method<'a>>,
    /// How many samples were taken, or how often the method was called; 0 if it was called earlier
    /// and is still running.
    pub count: u64,
    /// The cost itself: samples again, or nanoseconds in the method without its callees.
    pub own: u64,
}

/// Stacks ordered by cost, down to the first below the cutoff.
pub type Costs<'a> = Ranking<'a, Cost<'a>>;

impl<'a> Costs<'a> {
    /// Ranks stacks by cost, then by count. `cutoff` is a ratio; 0 keeps all that count.
    pub fn new(costs: &'a [Cost<'a>], cutoff: f64) -> Self {
        let tie = |cost: &Cost<'a>| (Reverse(cost.count), cost.trace);
        let counted = costs.iter().filter(|cost| cost.count > 0 || cost.own > 0);
        Ranking::by(counted, |cost| cost.own, tie, cutoff)
    }

    /// The traces that the rows refer to, in the order of the rows; they must be written first.
    pub fn traces(&self) -> impl Iterator<Item = TraceId> + '_ {
        self.rows().iter().map(|ranked| ranked.row.trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(trace: u32, count: u64, own: u64) -> Cost<'static> {
        Cost {
            trace: TraceId::new(trace).unwrap(),
            top: None,
            count,
            own,
        }
    }

    fn traces(costs: &[Cost<'_>], cutoff: f64) -> Vec<u32> {
        Costs::new(costs, cutoff)
            .traces()
            .map(TraceId::get)
            .collect()
    }

    #[test]
    fn stacks_are_ranked_by_cost_then_count() {
        let costs = [cost(2, 1, 5), cost(3, 9, 1), cost(4, 7, 5), cost(5, 7, 5)];
        assert_eq!(traces(&costs, 0.0), [4, 5, 2, 3]);
        assert_eq!(traces(&costs, 0.1), [4, 5, 2]);
        assert_eq!(Costs::new(&costs, 0.1).whole(), 16);
    }

    #[test]
    fn what_cost_nothing_is_left_out() {
        assert_eq!(traces(&[cost(2, 0, 0), cost(3, 4, 0)], 0.0), [3]);
        // A method that was called before this report and is still running.
        assert_eq!(traces(&[cost(2, 0, 9), cost(3, 4, 1)], 0.6), [2]);
        assert!(traces(&[cost(2, 0, 0)], 0.0001).is_empty());
        assert!(traces(&[], 0.0).is_empty());
    }
}
