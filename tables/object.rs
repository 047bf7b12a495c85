//! The object table: the objects that a dump refers to before it writes them, with their addresses.
//!
//! They are the mirrors of classes, loaders, threads and the objects that roots refer to. An
//! object's index is its JVMTI tag.

use std::fmt;

use crate::{DenseId, ObjectId, ObjectIndex};

/// Addresses of objects are multiples of this, whatever the JVM aligns objects to.
const ALIGNMENT_BYTES: u64 = 8;

/// No further object fits: memory is exhausted, or all 2^32 - 1 indexes are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFull;

impl fmt::Display for TableFull {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no memory is left to remember another object of the heap")
    }
}

impl std::error::Error for TableFull {}

/// Objects in order of arrival.
///
/// It belongs to one thread: its methods need `&mut self`, and this exclusive access serves as its
/// lock. On the VM thread at a safepoint, no lock may be taken.
#[derive(Debug, Default)]
pub struct ObjectTable {
    /// `None` for an object whose address is not known yet.
    ids: Vec<Option<ObjectId>>,
}

impl ObjectTable {
    /// Appends an object without an address and returns its index, which is dense from 1. Fails
    /// instead of aborting if there is no memory.
    pub fn push(&mut self) -> Result<ObjectIndex, TableFull> {
        self.push_row(None)
    }

    /// Appends an object at this address. `TableFull` also for an address that is 0 or not aligned
    /// to 8.
    pub fn push_at(&mut self, address: u64) -> Result<ObjectIndex, TableFull> {
        let id = id_of(address).ok_or(TableFull)?;
        self.push_row(Some(id))
    }

    /// Sets an object's address. False if there is no such object, or if the address is 0 or not
    /// aligned to 8.
    pub fn set_address(&mut self, index: ObjectIndex, address: u64) -> bool {
        match (self.ids.get_mut(index.index()), id_of(address)) {
            (Some(id), Some(known)) => {
                *id = Some(known);
                true
            }
            _ => false,
        }
    }

    /// The address of an object; `None` if it is not known, or if the index came from elsewhere.
    pub fn id(&self, index: ObjectIndex) -> Option<ObjectId> {
        self.ids.get(index.index()).copied().flatten()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    fn push_row(&mut self, id: Option<ObjectId>) -> Result<ObjectIndex, TableFull> {
        let index = DenseId::from_index(self.ids.len()).ok_or(TableFull)?;
        self.ids.try_reserve(1).map_err(|_| TableFull)?;
        self.ids.push(id);
        Ok(index)
    }
}

fn id_of(address: u64) -> Option<ObjectId> {
    let is_aligned = address % ALIGNMENT_BYTES == 0;
    is_aligned.then(|| ObjectId::new(address)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(number: u32) -> ObjectIndex {
        ObjectIndex::new(number).unwrap()
    }

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<Option<ObjectId>>(), 8);
    }

    #[test]
    fn the_address_may_come_later() {
        let mut objects = ObjectTable::default();
        assert!(objects.is_empty());
        let first = objects.push().unwrap();
        let second = objects.push_at(0x7F00_0028).unwrap();
        assert_eq!((first, second, objects.len()), (index(1), index(2), 2));
        assert_eq!(objects.id(first), None);
        assert!(objects.set_address(first, 0x7F00_0010));
        assert_eq!(objects.id(first).unwrap().get(), 0x7F00_0010);
        assert_eq!(objects.id(second).unwrap().get(), 0x7F00_0028);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let mut objects = ObjectTable::default();
        let first = objects.push().unwrap();
        for address in [0, 0x7F00_0011] {
            assert!(!objects.set_address(first, address));
            assert_eq!(objects.push_at(address), Err(TableFull));
        }
        assert!(!objects.set_address(index(9), 0x7F00_0010));
        assert_eq!((objects.id(first), objects.id(index(9))), (None, None));
        assert_eq!(objects.len(), 1);
    }
}
