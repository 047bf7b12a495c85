//! A ranking: rows sorted by weight, each with its share of the total, cut where the shares get
//! small.

use std::cmp::Reverse;
use std::fmt::{self, Formatter};

/// A part of a whole, exactly. Displayed in percent like C's `%5.2f%%`: ` 3.14%`, `100.00%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    part: u128,
    whole: u128,
}

impl Share {
    /// The share `part` of `whole`.
    pub fn new(part: u64, whole: u64) -> Self {
        Self {
            part: part.into(),
            whole: whole.into(),
        }
    }

    /// The share as a ratio from 0 to 1; 0 if the whole is nothing.
    pub fn ratio(&self) -> f64 {
        if self.whole == 0 {
            return 0.0;
        }
        self.part as f64 / self.whole as f64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{:5.2}%", self.ratio() * 100.0)
    }
}

/// A row, and how it ranks.
#[derive(Clone, Copy, Debug)]
pub struct Ranked<'a, R> {
    /// This row's share of all rows, including those below the cutoff.
    pub own: Share,
    /// The sum of the shares of this row and all before it; 100
    ///
    /// in the last row if nothing is cut off.
    pub accumulated: Share,
    /// The row.
    pub row: &'a R,
}

/// Rows by falling weight, down to the first whose share is below the cutoff.
#[derive(Clone, Debug)]
pub struct Ranking<'a, R> {
    rows: Vec<Ranked<'a, R>>,
    whole: u128,
}

impl<'a, R> Ranking<'a, R> {
    /// Ranks by weight, then by rising `tie`. `cutoff` is a ratio; 0 keeps all rows.
    pub(crate) fn by<T: Ord>(
        rows: impl IntoIterator<Item = &'a R>,
        weight: impl Fn(&R) -> u64,
        tie: impl Fn(&R) -> T,
        cutoff: f64,
    ) -> Self {
        let mut sorted: Vec<&R> = rows.into_iter().collect();
        let whole = sorted.iter().map(|row| u128::from(weight(row))).sum();
        sorted.sort_by_cached_key(|row| (Reverse(weight(row)), tie(row)));
        let share = |part| Share { part, whole };
        let mut accumulated = 0;
        let ranked = sorted.into_iter().map(|row| {
            let part = u128::from(weight(row));
            accumulated += part;
            Ranked {
                own: share(part),
                accumulated: share(accumulated),
                row,
            }
        });
        let rows = ranked
            .take_while(|ranked| ranked.own.ratio() >= cutoff)
            .collect();
        Self { rows, whole }
    }

    /// The rows above the cutoff, in their order.
    pub fn rows(&self) -> &[Ranked<'a, R>] {
        &self.rows
    }

    /// The weight of all rows, including those below the cutoff, in their unit; at most 2^64 - 1.
    pub fn whole(&self) -> u64 {
        u64::try_from(self.whole).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(part: u128, whole: u128) -> String {
        Share { part, whole }.to_string()
    }

    #[test]
    fn a_share_looks_as_in_c() {
        assert_eq!(shown(1, 3), "33.33%");
        assert_eq!(shown(2, 3), "66.67%");
        assert_eq!(shown(1, 1000), " 0.10%");
        assert_eq!(shown(1, 800), " 0.12%");
        assert_eq!(shown(3, 800), " 0.38%");
        assert_eq!(shown(7, 7), "100.00%");
        assert_eq!(shown(0, 5), " 0.00%");
        assert_eq!(shown(u128::from(u64::MAX), u128::from(u64::MAX)), "100.00%");
    }

    #[test]
    fn a_share_of_nothing_is_nothing() {
        assert_eq!(shown(0, 0), " 0.00%");
        assert!(Share { part: 0, whole: 0 }.ratio() == 0.0);
    }

    #[test]
    fn equal_weights_keep_a_fixed_order() {
        let rows = [(5, 'b'), (9, 'c'), (5, 'a')];
        let ranking = Ranking::by(&rows, |row| row.0, |row| row.1, 0.0);
        let order: String = ranking.rows().iter().map(|ranked| ranked.row.1).collect();
        assert_eq!(order, "cab");
    }

    #[test]
    fn the_list_ends_below_the_cutoff() {
        let rows = [1, 50, 49];
        let shares = |cutoff| {
            let ranking = Ranking::by(&rows, |&row| row, |_| (), cutoff);
            ranking.rows().len()
        };
        assert_eq!((shares(0.0), shares(0.01), shares(0.011)), (3, 3, 2));
        assert_eq!((shares(0.5), shares(0.51)), (1, 0));
    }

    /// A share as it is shown.
    fn percent(share: Share) -> f64 {
        share.to_string().trim_matches([' ', '%']).parse().unwrap()
    }

    proptest! {
        #[test]
        fn shares_add_up(rows in proptest::collection::vec(0..u64::MAX, 1..60)) {
            let ranking = Ranking::by(&rows, |&row| row, |_| (), 0.0);
            prop_assert_eq!(ranking.rows().len(), rows.len());
            let last = ranking.rows().last().unwrap();
            let own: f64 = ranking.rows().iter().map(|ranked| percent(ranked.own)).sum();
            if rows.iter().any(|&row| row > 0) {
                prop_assert_eq!(last.accumulated.to_string(), "100.00%");
                // Each row is rounded by half a hundredth at most.
                prop_assert!((own - 100.0).abs() <= 0.005 * rows.len() as f64 + 1e-6);
            }
        }

        #[test]
        fn accumulated_shares_rise_and_shares_fall(rows: Vec<u32>) {
            let ranking = Ranking::by(&rows, |&row| u64::from(row), |_| (), 0.0);
            for pair in ranking.rows().windows(2) {
                prop_assert!(pair[0].own.ratio() >= pair[1].own.ratio());
                prop_assert!(percent(pair[0].accumulated) <= percent(pair[1].accumulated));
            }
        }
    }
}
