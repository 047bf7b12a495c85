//! The CPU profiles in a file: CPU samples, and times of methods.

use std::collections::HashMap;
use std::io::Read;

use crate::budget::{bytes_of, Budget};
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::names::Names;
use crate::opened::Opened;
use crate::record::{CpuSamples, Record};
use crate::stacks::{SpelledStacks, StackRecords, Stacks};
use crate::strings::StringTable;
use crate::text::{TextEvent, TextReader};

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
    fn plus(self, more: Self) -> Self {
        let total = self.total.saturating_add(more.total);
        Self::new(self.rows.into_iter().chain(more.rows), total)
    }
}

/// The CPU profiles of a file, binary or text.
#[derive(Debug, Default)]
pub struct CpuProfile {
    /// The stacks to which the rows refer.
    pub stacks: Stacks,
    /// All CPU SAMPLES; `None` if there are none.
    pub samples: Option<CpuTable>,
    /// All CPU TIME sections; `None` if there are none, as in every binary file.
    pub times: Option<CpuTable>,
    /// Number of damaged places; the records there are not counted.
    pub damaged: u64,
}

impl CpuProfile {
    /// Reads a whole file once. Errors: I/O, not an HPROF file, or one beyond the budget.
    pub fn read<'r>(inner: Box<dyn Read + 'r>, budget: Budget) -> Result<Self, ReadError> {
        match Opened::new(inner)? {
            Opened::Binary(dump) => Self::from_dump(&mut dump.with_budget(budget)),
            Opened::Text(text) => Self::from_text(&mut text.with_budget(budget), budget),
        }
    }

    fn from_dump(dump: &mut DumpReader<'_>) -> Result<Self, ReadError> {
        let (mut stacks, mut strings) = (StackRecords::default(), StringTable::default());
        let mut found = Self::default();
        while let Some(event) = dump.next_event()? {
            match event {
                Event::Record(_, mut record) => {
                    stacks.add(&mut record);
                    match record {
                        Record::Utf8(string) => {
                            strings.insert(string);
                        }
                        Record::CpuSamples(samples) => found.add(CpuKind::Samples, table(&samples)),
                        _ => {}
                    }
                }
                Event::Damage(_) => found.damaged += 1,
                _ => {}
            }
            let tables = strings.held_bytes().saturating_add(found.held_bytes());
            dump.budget()
                .allow(tables.saturating_add(stacks.held_bytes()))?;
        }
        let mut names = Names::new(&strings);
        found.stacks = stacks.resolve(&mut names);
        dump.budget().allow(names.bytes())?;
        Ok(found)
    }

    fn from_text(text: &mut TextReader<'_>, budget: Budget) -> Result<Self, ReadError> {
        let mut stacks = SpelledStacks::default();
        let mut found = Self::default();
        while let Some(event) = text.next_event()? {
            match event {
                TextEvent::Trace(serial, frames) => stacks.add(serial, frames),
                TextEvent::Cpu(kind, table) => found.add(kind, table),
                TextEvent::Sites(_) => {}
            }
            budget.allow(stacks.held_bytes().saturating_add(found.held_bytes()))?;
        }
        found.damaged = text.damaged();
        found.stacks = stacks.finish();
        Ok(found)
    }

    fn held_bytes(&self) -> u64 {
        let tables = [&self.samples, &self.times].into_iter().flatten();
        tables
            .map(|table| bytes_of::<CpuRow>(3 * table.rows.len()))
            .sum()
    }

    fn add(&mut self, kind: CpuKind, more: CpuTable) {
        let table = match kind {
            CpuKind::Samples => &mut self.samples,
            CpuKind::Times => &mut self.times,
        };
        *table = Some(match table.take() {
            Some(before) => before.plus(more),
            None => more,
        });
    }
}

fn table(samples: &CpuSamples) -> CpuTable {
    let rows = samples.rows.iter().map(|row| CpuRow {
        trace: row.trace,
        cost: row.samples.into(),
    });
    CpuTable::new(rows, samples.total.into())
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
