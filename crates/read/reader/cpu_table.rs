//! Stacks with what each has cost.

use std::collections::HashMap;

/// The meaning of the cost in a [`CpuRow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuKind {
    /// Samples of running threads.
    Samples,
    /// Milliseconds in the top method itself.
    Times,
}

/// One stack and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuRow {
    /// Serial of the trace, see [`crate::Stacks::frames`].
    pub trace: u32,
    /// Samples or milliseconds, see [`CpuKind`].
    pub cost: u64,
}

/// Stacks and their costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTable {
    /// The stacks, most expensive first, each once.
    pub rows: Vec<CpuRow>,
    /// The total cost; more than the sum of the rows if the writer omitted small ones.
    pub total: u64,
}

impl CpuTable {
    /// A table with these rows, and the larger of their sum and the writer's total.
    pub(crate) fn new(rows: impl IntoIterator<Item = CpuRow>, total: u64) -> Self {
        let mut costs: HashMap<u32, u64> = HashMap::new();
        for row in rows {
            let cost = costs.entry(row.trace).or_default();
            *cost = cost.saturating_add(row.cost);
        }
        let rows = costs
            .into_iter()
            .map(|(trace, cost)| CpuRow { trace, cost });
        let mut rows: Vec<CpuRow> = rows.collect();
        rows.sort_unstable_by(|a, b| b.cost.cmp(&a.cost).then(a.trace.cmp(&b.trace)));
        let sum = rows
            .iter()
            .fold(0_u64, |sum, row| sum.saturating_add(row.cost));
        Self {
            rows,
            total: total.max(sum),
        }
    }

    /// The sum of both tables: each report counts from the one before it.
    pub(crate) fn plus(self, more: Self) -> Self {
        let total = self.total.saturating_add(more.total);
        Self::new(self.rows.into_iter().chain(more.rows), total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_add_up() {
        let row = |trace, cost| CpuRow { trace, cost };
        let first = CpuTable::new([row(7, 2), row(8, 3)], 10);
        let second = CpuTable::new([row(7, 4)], 4);
        let both = first.plus(second);
        assert_eq!(both.rows, [row(7, 6), row(8, 3)]);
        assert_eq!(both.total, 14);
    }

    #[test]
    fn a_total_that_is_too_small_is_not_believed() {
        let table = CpuTable::new(
            [CpuRow {
                trace: 7,
                cost: u64::MAX,
            }],
            3,
        );
        assert_eq!(table.total, u64::MAX);
    }
}
