//! What profilers counted in a file: allocation sites and CPU time.

use std::io::Read;

use crate::budget::{bytes_of, Budget};
use crate::cpu_table::{CpuKind, CpuRow, CpuTable};
use crate::directory::Directory;
use crate::dump::{DumpReader, Event};
use crate::dumped_sites::DumpedSites;
use crate::error::ReadError;
use crate::names::Names;
use crate::opened::Opened;
use crate::sites::SiteTable;
use crate::stacks::{SpelledStacks, Stacks};
use crate::text::{TextEvent, TextReader};
use format::record::{CpuSamples, Record};
use format::sub_record::HeapRecord;

/// The profiles of a file, binary or text.
#[derive(Debug, Default)]
pub struct Profiles {
    /// The stacks to which the rows refer.
    pub stacks: Stacks,
    /// The profiler's counts of allocations: ALLOC SITES records, or the SITES section of a text
    /// profile. The last report if there are several; `None` if there is none. If objects of a heap
    /// dump have stacks, the live objects are those of the dump.
    pub recorded: Option<SiteTable>,
    /// Estimates of the heap dump's objects, see [`SiteTable::of_heap`] and [`crate::Sizes`];
    /// `None` if none of them has a stack.
    pub dumped: Option<SiteTable>,
    /// CPU SAMPLES, summed over all reports; `None` if there are none.
    pub samples: Option<CpuTable>,
    /// CPU TIME, only in text profiles; `None` if there is none.
    pub times: Option<CpuTable>,
    /// Whether there is a heap dump, with or without stacks.
    pub has_heap: bool,
    /// Number of damaged places; the records there are not counted.
    pub damaged: u64,
}

impl Profiles {
    /// Reads a whole file once. Errors: I/O, not an HPROF file, or one beyond the budget.
    pub fn read<'r>(inner: Box<dyn Read + 'r>, budget: Budget) -> Result<Self, ReadError> {
        let mut found = Self::default();
        match Opened::new(inner)? {
            Opened::Binary(dump) => found.add_dump(dump.with_budget(budget))?,
            Opened::Text(text) => found.add_text(text.with_budget(budget), budget)?,
        }
        Ok(found)
    }

    fn add_dump(&mut self, mut dump: DumpReader<'_>) -> Result<(), ReadError> {
        let (id_bytes, budget) = (dump.header().id_bytes, dump.budget());
        let (mut directory, mut dumped) = (Directory::default(), DumpedSites::new(id_bytes));
        while let Some(event) = dump.next_event()? {
            match event {
                Event::Record(_, Record::CpuSamples(samples)) => {
                    self.add_cpu(CpuKind::Samples, table(&samples));
                }
                Event::Record(_, record) => directory.add(record),
                Event::HeapStart(_) => {
                    self.has_heap = true;
                    dumped.begin_heap(directory.strings.facts());
                }
                Event::Heap(offset, record) => {
                    dumped.add(&record);
                    if let HeapRecord::Class(dump) = &record {
                        directory.classes.add_dump(offset, dump);
                    }
                }
                Event::HeapEnd => {}
                Event::Damage(_) => self.damaged += 1,
            }
            let tables = self.held_bytes().saturating_add(dumped.held_bytes());
            budget.allow(tables.saturating_add(directory.held_bytes()))?;
        }
        directory.classes.resolve_within(id_bytes, budget)?;
        self.finish(&directory, dumped, budget)
    }

    fn finish(
        &mut self,
        directory: &Directory,
        dumped: DumpedSites,
        budget: Budget,
    ) -> Result<(), ReadError> {
        let mut names = Names::new(&directory.strings);
        self.stacks = directory.stacks.resolve(&mut names);
        let recorded = directory.sites.finish(&directory.stacks, &mut names);
        self.dumped = dumped.finish(&self.stacks, directory, &mut names, recorded.as_ref());
        self.recorded = match (&self.dumped, recorded) {
            (Some(heap), Some(recorded)) => Some(recorded.with_live_of(heap, &self.stacks)),
            (_, recorded) => recorded,
        };
        budget.allow(names.bytes())
    }

    fn add_text(&mut self, mut text: TextReader<'_>, budget: Budget) -> Result<(), ReadError> {
        let mut stacks = SpelledStacks::default();
        while let Some(event) = text.next_event()? {
            match event {
                TextEvent::Trace(serial, frames) => stacks.add(serial, frames),
                TextEvent::Sites(table) => self.recorded = Some(table),
                TextEvent::Cpu(kind, table) => self.add_cpu(kind, table),
            }
            budget.allow(stacks.held_bytes().saturating_add(self.held_bytes()))?;
        }
        (self.damaged, self.stacks) = (text.damaged(), stacks.finish());
        Ok(())
    }

    /// Bytes of memory that the rows of CPU time take, with the room in which they are sorted.
    fn held_bytes(&self) -> u64 {
        let tables = [&self.samples, &self.times].into_iter().flatten();
        let bytes = tables.map(|table| bytes_of::<CpuRow>(3 * table.rows.len()));
        bytes.sum()
    }

    fn add_cpu(&mut self, kind: CpuKind, more: CpuTable) {
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
