//! The allocation sites in a file.

use std::io::Read;

use crate::budget::Budget;
use crate::classes::ClassTable;
use crate::dump::{DumpReader, Event};
use crate::dumped_sites::DumpedSites;
use crate::error::ReadError;
use crate::heap_record::HeapRecord;
use crate::names::Names;
use crate::opened::Opened;
use crate::record::Record;
use crate::sites::{SiteRecords, SiteTable};
use crate::stacks::{SpelledStacks, StackRecords, Stacks};
use crate::strings::StringTable;
use crate::text::{TextEvent, TextReader};

/// The allocation sites of a file, binary or text.
#[derive(Debug, Default)]
pub struct Allocations {
    /// The stacks to which the sites refer.
    pub stacks: Stacks,
    /// The profiler's counts: ALLOC SITES records, or the SITES section of a text profile. The last
    /// report if there are several; `None` if there is none. If objects of a heap dump have stacks,
    /// the live objects are those of the dump.
    pub recorded: Option<SiteTable>,
    /// Estimates of the heap dump's objects, see [`SiteTable::of_heap`] and [`crate::Sizes`];
    /// `None` if none of them has a stack.
    pub dumped: Option<SiteTable>,
    /// Whether there is a heap dump, with or without stacks.
    pub has_heap: bool,
    /// Number of damaged places; the records there are not counted.
    pub damaged: u64,
}

impl Allocations {
    /// Reads a whole file once. Errors: I/O, not an HPROF file, or one beyond the budget.
    pub fn read<'r>(inner: Box<dyn Read + 'r>, budget: Budget) -> Result<Self, ReadError> {
        match Opened::new(inner)? {
            Opened::Binary(dump) => Self::from_dump(&mut dump.with_budget(budget)),
            Opened::Text(text) => Self::from_text(&mut text.with_budget(budget), budget),
        }
    }

    fn from_dump(dump: &mut DumpReader<'_>) -> Result<Self, ReadError> {
        let id_bytes = dump.header().id_bytes;
        let mut gathered = Gathered::new(id_bytes);
        while let Some(event) = dump.next_event()? {
            gathered.event(event);
            dump.budget().allow(gathered.held_bytes())?;
        }
        gathered.classes.resolve_within(id_bytes, dump.budget())?;
        gathered.finish(dump.budget())
    }

    fn from_text(text: &mut TextReader<'_>, budget: Budget) -> Result<Self, ReadError> {
        let mut stacks = SpelledStacks::default();
        let mut found = Self::default();
        while let Some(event) = text.next_event()? {
            match event {
                TextEvent::Trace(serial, frames) => stacks.add(serial, frames),
                TextEvent::Sites(table) => found.recorded = Some(table),
                TextEvent::Cpu(..) => {}
            }
            budget.allow(stacks.held_bytes())?;
        }
        found.damaged = text.damaged();
        found.stacks = stacks.finish();
        Ok(found)
    }
}

#[derive(Debug)]
struct Gathered {
    strings: StringTable,
    classes: ClassTable,
    stacks: StackRecords,
    recorded: SiteRecords,
    dumped: DumpedSites,
    has_heap: bool,
    damaged: u64,
}

impl Gathered {
    fn new(id_bytes: u32) -> Self {
        Self {
            strings: StringTable::default(),
            classes: ClassTable::default(),
            stacks: StackRecords::default(),
            recorded: SiteRecords::default(),
            dumped: DumpedSites::new(id_bytes),
            has_heap: false,
            damaged: 0,
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Record(_, record) => self.record(record),
            Event::HeapStart(_) => {
                self.has_heap = true;
                self.dumped.begin_heap(self.strings.facts());
            }
            Event::Heap(offset, record) => {
                self.dumped.add(&record);
                if let HeapRecord::Class(dump) = &record {
                    self.classes.add_dump(offset, dump);
                }
            }
            Event::HeapEnd => {}
            Event::Damage(_) => self.damaged += 1,
        }
    }

    fn record(&mut self, mut record: Record) {
        self.stacks.add(&mut record);
        match record {
            Record::Utf8(string) => {
                self.strings.insert(string);
            }
            Record::LoadClass(load) => {
                self.classes.add_load(&load);
            }
            Record::AllocSites(sites) => self.recorded.add(&sites),
            _ => {}
        }
    }

    fn held_bytes(&self) -> u64 {
        let tables = self.strings.held_bytes() + self.classes.held_bytes();
        tables
            .saturating_add(self.stacks.held_bytes())
            .saturating_add(self.recorded.held_bytes())
            .saturating_add(self.dumped.held_bytes())
    }

    fn finish(self, budget: Budget) -> Result<Allocations, ReadError> {
        let mut names = Names::new(&self.strings);
        let stacks = self.stacks.resolve(&mut names);
        let recorded = self.recorded.finish(&self.stacks, &mut names);
        let about = (&self.classes, self.strings.facts());
        let dumped = self
            .dumped
            .finish(&stacks, about, &mut names, recorded.as_ref());
        let found = Allocations {
            recorded: match (&dumped, recorded) {
                (Some(heap), Some(recorded)) => Some(recorded.with_live_of(heap, &stacks)),
                (_, recorded) => recorded,
            },
            dumped,
            stacks,
            has_heap: self.has_heap,
            damaged: self.damaged,
        };
        budget.allow(names.bytes())?;
        Ok(found)
    }
}
