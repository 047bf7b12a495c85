//! The records outside the heap: names, classes, stacks and allocation sites.

use std::collections::HashMap;

use format::ClassName;

use crate::budget::{Budget, ENTRY_BYTES};
use crate::classes::ClassTable;
use crate::error::ReadError;
use crate::names::Names;
use crate::sites::{SiteRecords, SiteTable};
use crate::stacks::{StackRecords, Stacks};
use crate::strings::StringTable;
use format::record::Record;

/// The records of a file outside its heap dump, as tables.
#[derive(Debug, Default)]
pub struct Directory {
    /// All strings by id.
    pub strings: StringTable,
    /// The classes from LOAD CLASS; the caller adds their CLASS DUMPs.
    pub classes: ClassTable,
    /// The names of threads from START THREAD: string ids by the thread object's id.
    pub thread_names: HashMap<u64, u64>,
    pub(crate) stacks: StackRecords,
    pub(crate) sites: SiteRecords,
}

impl Directory {
    /// Adds the next record.
    pub fn add(&mut self, mut record: Record) {
        self.stacks.add(&mut record);
        match record {
            Record::Utf8(string) => {
                self.strings.insert(string);
            }
            Record::LoadClass(load) => {
                self.classes.add_load(&load);
            }
            Record::StartThread(thread) => {
                self.thread_names.insert(thread.object, thread.name);
            }
            Record::AllocSites(sites) => self.sites.add(&sites),
            _ => {}
        }
    }

    /// Checks the memory used by the tables. Errors: [`ReadError::TooMuch`].
    pub fn allow(&self, budget: Budget) -> Result<(), ReadError> {
        budget.allow(self.held_bytes())
    }

    pub(crate) fn held_bytes(&self) -> u64 {
        let threads = (self.thread_names.len() as u64).saturating_mul(ENTRY_BYTES);
        let held = [
            self.strings.held_bytes(),
            self.classes.held_bytes(),
            self.stacks.held_bytes(),
            self.sites.held_bytes(),
        ];
        held.into_iter().fold(threads, u64::saturating_add)
    }

    /// The name of the class with this serial; `None` if the file does not contain it.
    pub fn class_name(&self, serial: u32) -> Option<ClassName<'_>> {
        self.strings.class_name(self.stacks.class_name_id(serial)?)
    }

    /// The stacks of all traces, with names.
    pub fn stacks(&self) -> Stacks {
        self.stacks.resolve(&mut Names::new(&self.strings))
    }

    /// The profiler's sites; `None` if the file has none.
    pub fn sites(&self) -> Option<SiteTable> {
        let mut names = Names::new(&self.strings);
        self.sites.finish(&self.stacks, &mut names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::record::{AllocSite, AllocSites, LoadClass, Utf8};

    fn string(id: u64, text: &[u8]) -> Record {
        Record::Utf8(Utf8 {
            id,
            text: text.to_vec(),
            text_bytes: text.len() as u64,
        })
    }

    fn sites() -> Record {
        Record::AllocSites(AllocSites {
            flags: 0,
            cutoff: 0.0,
            live_bytes: 24,
            live_objects: 1,
            allocated_bytes: 48,
            allocated_objects: 2,
            sites: vec![AllocSite {
                array_type: 0,
                class_serial: 3,
                trace: 7,
                live_bytes: 24,
                live_objects: 1,
                allocated_bytes: 48,
                allocated_objects: 2,
            }],
        })
    }

    #[test]
    fn sites_have_the_names_of_their_classes() {
        let mut directory = Directory::default();
        assert!(directory.sites().is_none() && directory.classes.is_empty());
        directory.add(string(1, b"app/Main"));
        directory.add(Record::LoadClass(LoadClass {
            serial: 3,
            class: 0x10,
            trace: 1,
            name: 1,
        }));
        directory.add(sites());
        assert!(!directory.classes.is_empty());
        let table = directory.sites().expect("sites");
        let [site] = table.rows.as_slice() else {
            panic!("{table:?}");
        };
        assert_eq!((&*site.class, site.trace), ("app.Main", 7));
    }

    #[test]
    fn texts_count_as_memory() {
        let mut directory = Directory::default();
        directory.add(string(1, &[b'x'; 5000]));
        assert!(directory.allow(Budget::new(5000)).is_err());
        assert!(directory.allow(Budget::new(5000 + ENTRY_BYTES)).is_ok());
        // A second string with the same id takes no more memory.
        directory.add(string(1, &[b'x'; 5000]));
        assert!(directory.allow(Budget::new(10_000 + ENTRY_BYTES)).is_ok());
    }
}
