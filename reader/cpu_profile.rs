//! The CPU profiles in a file: CPU samples, and times of methods.

use std::io::Read;

use crate::budget::{bytes_of, Budget};
use crate::cpu_table::{CpuKind, CpuRow, CpuTable};
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::names::Names;
use crate::opened::Opened;
use crate::record::{CpuSamples, Record};
use crate::stacks::{SpelledStacks, StackRecords, Stacks};
use crate::strings::StringTable;
use crate::text::{TextEvent, TextReader};

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
