//! The object table: every object of one dump, with its address in the file.
//!
//! JVMTI does not report addresses, but readers compute sizes from them: they derive the alignment
//! from the gaps, and guess the width of references from arrays. So each object gets a
//! pseudo-address, the sum of the sizes before it, which is aligned to 8 and leaves only the small
//! gaps of a real heap.

use std::fmt;

use crate::{DenseId, ObjectId, ObjectIndex};

/// The first object's address: not 0 (null), and beyond the first page.
const BASE_ADDRESS: u64 = 0x1_0000;
/// The default alignment of objects on every JVM.
const ALIGNMENT_BYTES: u64 = 8;
/// Rows of one allocation: 1 MiB at 16 bytes a row.
const CHUNK_ROWS: usize = 1 << 16;
/// A flag in the low bits of the address, which are free because of alignment.
const IS_ARRAY: u64 = 1;
const MARKS: u64 = ALIGNMENT_BYTES - 1;

/// No further object fits: memory is exhausted, or all 2^32 - 1 indexes are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFull;

impl fmt::Display for TableFull {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no memory is left to remember another object of the heap")
    }
}

impl std::error::Error for TableFull {}

/// The facts about one object. 16 bytes, because there may be a thousand million of them.
#[derive(Clone, Copy, Debug)]
pub struct ObjectRow {
    address_and_marks: u64,
    class: Option<ObjectIndex>,
    length: u32,
}

impl ObjectRow {
    /// The object's address in the file. Always present, because addresses start above 0.
    pub fn id(&self) -> Option<ObjectId> {
        ObjectId::new(self.address_and_marks & !MARKS)
    }

    /// The mirror of the object's class; `None` while it is unknown.
    pub fn class(&self) -> Option<ObjectIndex> {
        self.class
    }

    /// An array's length in elements; `None` if the object is no array.
    pub fn length(&self) -> Option<u32> {
        (self.address_and_marks & IS_ARRAY != 0).then_some(self.length)
    }
}

/// The objects of one dump. An object's index is its JVMTI tag.
///
/// The walk owns it: its methods need `&mut self`, and this exclusive access serves as its lock. The
/// callbacks that fill it run on the VM thread at a safepoint, where no lock may be taken.
#[derive(Debug)]
pub struct ObjectTable {
    // Fixed chunks: growth copies no rows, so the pause has no hiccups and memory does not peak at
    // twice the size.
    chunks: Vec<Vec<ObjectRow>>,
    next_address: u64,
}

impl Default for ObjectTable {
    fn default() -> Self {
        Self::new()
    }
}

impl ObjectTable {
    /// A table without objects; allocates nothing.
    pub fn new() -> Self {
        Self {
            chunks: Vec::new(),
            next_address: BASE_ADDRESS,
        }
    }

    /// Appends an object and returns its index, which is dense from 1.
    ///
    /// `size_bytes` is the size in the JVM's heap, `class` the index of its class's mirror if that is
    /// known already, `length` the number of elements if it is an array. Safe on the VM thread: takes
    /// no lock, and fails instead of aborting if there is no memory.
    pub fn push(
        &mut self,
        size_bytes: u64,
        class: Option<ObjectIndex>,
        length: Option<u32>,
    ) -> Result<ObjectIndex, TableFull> {
        let index = self.next_index().ok_or(TableFull)?;
        let address = self.next_address;
        // An object of size 0 would share its address with the next one.
        let next_address = size_bytes
            .max(1)
            .checked_next_multiple_of(ALIGNMENT_BYTES)
            .and_then(|size| address.checked_add(size))
            .ok_or(TableFull)?;
        let mark = if length.is_some() { IS_ARRAY } else { 0 };
        let row = ObjectRow {
            address_and_marks: address | mark,
            class,
            length: length.unwrap_or(0),
        };
        self.chunk_with_room()?.push(row);
        self.next_address = next_address;
        Ok(index)
    }

    /// Appends an object at this address. Nothing else about it is known.
    ///
    /// `TableFull` also for an address that is 0 or not aligned to 8.
    pub fn push_at(&mut self, address: u64) -> Result<ObjectIndex, TableFull> {
        if address == 0 || address & MARKS != 0 {
            return Err(TableFull);
        }
        let index = self.push(ALIGNMENT_BYTES, None, None)?;
        self.set_address(index, address);
        Ok(index)
    }

    /// Sets an object's address in the JVM's heap, if that is known. False if there is no such
    /// object, or if the address is 0 or not aligned to 8.
    pub fn set_address(&mut self, index: ObjectIndex, address: u64) -> bool {
        if address == 0 || address & MARKS != 0 {
            return false;
        }
        match self.row_mut(index) {
            Some(row) => {
                row.address_and_marks = address | (row.address_and_marks & MARKS);
                true
            }
            None => false,
        }
    }

    /// The row of an object; `None` if the index came from elsewhere.
    pub fn get(&self, index: ObjectIndex) -> Option<&ObjectRow> {
        let (chunk, row) = place(index);
        self.chunks.get(chunk)?.get(row)
    }

    /// The address of an object in the file; `None` if the index came from elsewhere.
    pub fn id(&self, index: ObjectIndex) -> Option<ObjectId> {
        self.get(index)?.id()
    }

    /// Notes the mirror of an object's class; false if there is no such object.
    pub fn set_class(&mut self, index: ObjectIndex, class: ObjectIndex) -> bool {
        match self.row_mut(index) {
            Some(row) => {
                row.class = Some(class);
                true
            }
            None => false,
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> u64 {
        // All chunks except the last are full.
        let before = self.chunks.len().saturating_sub(1) * CHUNK_ROWS;
        (before + self.chunks.last().map_or(0, Vec::len)) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The total size of all objects, each rounded up to 8.
    pub fn bytes(&self) -> u64 {
        self.next_address - BASE_ADDRESS
    }

    fn next_index(&self) -> Option<ObjectIndex> {
        DenseId::from_index(usize::try_from(self.len()).ok()?)
    }

    fn row_mut(&mut self, index: ObjectIndex) -> Option<&mut ObjectRow> {
        let (chunk, row) = place(index);
        self.chunks.get_mut(chunk)?.get_mut(row)
    }

    fn chunk_with_room(&mut self) -> Result<&mut Vec<ObjectRow>, TableFull> {
        if self
            .chunks
            .last()
            .is_none_or(|chunk| chunk.len() == CHUNK_ROWS)
        {
            let mut chunk = Vec::new();
            chunk.try_reserve_exact(CHUNK_ROWS).map_err(|_| TableFull)?;
            self.chunks.try_reserve(1).map_err(|_| TableFull)?;
            self.chunks.push(chunk);
        }
        self.chunks.last_mut().ok_or(TableFull)
    }
}

/// Chunk and row of an index.
fn place(index: ObjectIndex) -> (usize, usize) {
    (index.index() / CHUNK_ROWS, index.index() % CHUNK_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(number: u32) -> ObjectIndex {
        ObjectIndex::new(number).unwrap()
    }

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<ObjectRow>(), 16);
    }

    #[test]
    fn addresses_are_the_sizes_before() {
        let mut objects = ObjectTable::new();
        let sizes = [16, 17, 0, 24];
        let ids: Vec<u64> = sizes
            .iter()
            .map(|&size| {
                let index = objects.push(size, None, None).unwrap();
                objects.id(index).unwrap().get()
            })
            .collect();
        assert_eq!(ids, [0x1_0000, 0x1_0010, 0x1_0028, 0x1_0030]);
        assert_eq!(objects.bytes(), 16 + 24 + 8 + 24);
        assert_eq!(objects.len(), 4);
    }

    #[test]
    fn an_address_can_be_the_real_one() {
        let mut objects = ObjectTable::new();
        let array = objects.push(24, None, Some(3)).unwrap();
        assert!(objects.set_address(array, 0x7F00_0010));
        assert_eq!(objects.id(array).unwrap().get(), 0x7F00_0010);
        assert_eq!(objects.get(array).unwrap().length(), Some(3));
        let other = objects.push_at(0x7F00_0028).unwrap();
        assert_eq!(objects.id(other).unwrap().get(), 0x7F00_0028);
        assert!(!objects.set_address(array, 0x7F00_0011));
        assert!(!objects.set_address(index(9), 0x7F00_0010));
        assert_eq!(objects.push_at(0), Err(TableFull));
    }

    #[test]
    fn an_empty_array_is_an_array() {
        let mut objects = ObjectTable::new();
        let array = objects.push(16, None, Some(0)).unwrap();
        let plain = objects.push(16, None, None).unwrap();
        assert_eq!(objects.get(array).unwrap().length(), Some(0));
        assert_eq!(objects.get(plain).unwrap().length(), None);
    }

    #[test]
    fn the_class_may_come_later() {
        let mut objects = ObjectTable::new();
        let object = objects.push(16, None, None).unwrap();
        let mirror = objects.push(96, None, None).unwrap();
        assert_eq!(objects.get(object).unwrap().class(), None);
        assert!(objects.set_class(object, mirror));
        assert_eq!(objects.get(object).unwrap().class(), Some(mirror));
        assert!(!objects.set_class(index(99), mirror));
    }

    #[test]
    fn indexes_run_on_over_chunks() {
        let mut objects = ObjectTable::new();
        let count = u32::try_from(CHUNK_ROWS).unwrap() * 2 + 1;
        for number in 1..=count {
            assert_eq!(objects.push(16, None, None), Ok(index(number)));
        }
        assert_eq!(objects.len(), u64::from(count));
        let last = objects.get(index(count)).unwrap().id().unwrap().get();
        assert_eq!(last, BASE_ADDRESS + 16 * u64::from(count - 1));
        assert!(objects.get(index(count + 1)).is_none());
    }

    #[test]
    fn an_impossible_size_is_refused() {
        let mut objects = ObjectTable::new();
        assert_eq!(objects.push(u64::MAX, None, None), Err(TableFull));
        assert_eq!(objects.len(), 0);
    }
}
