//! Large arrays of numbers, in pages of 2 MB if the system supports them.
//!
//! Searches access random places in arrays far larger than the reach of the processor's TLB. Huge
//! pages make these accesses cheaper, and also the first touch of the memory.

use std::io;
use std::marker::PhantomData;

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};

/// An array of numbers, initially 0. Untouched parts use no memory.
#[derive(Debug)]
pub(crate) struct Numbers<T> {
    memory: MmapMut,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Pod> Numbers<T> {
    /// An array of this length. Errors: the system refuses the memory.
    pub(crate) fn zeroed(len: usize) -> io::Result<Self> {
        let bytes = len.saturating_mul(size_of::<T>()).max(1);
        let memory = MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?;
        // A system without huge pages returns an error; the array works nevertheless.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Self {
            memory,
            len,
            kind: PhantomData,
        })
    }

    /// An empty array with this capacity. Errors: as [`Numbers::zeroed`].
    pub(crate) fn with_room(most: usize) -> io::Result<Self> {
        let mut numbers = Self::zeroed(most)?;
        numbers.len = 0;
        Ok(numbers)
    }

    /// Appends numbers; those beyond the capacity are dropped.
    pub(crate) fn extend(&mut self, more: &[T]) {
        let from = self.len;
        let to = from
            .saturating_add(more.len())
            .min(self.memory.len() / size_of::<T>());
        self.len = to;
        let free = self.all_mut().get_mut(from..to).unwrap_or_default();
        for (slot, number) in free.iter_mut().zip(more) {
            *slot = *number;
        }
    }

    /// Appends a number. Returns false if it exceeds the capacity.
    #[inline]
    pub(crate) fn push(&mut self, number: T) -> bool {
        let has_room = self.len < self.memory.len() / size_of::<T>();
        if has_room {
            self.len += 1;
            if let Some(slot) = self.all_mut().last_mut() {
                *slot = number;
            }
        }
        has_room
    }

    /// The numbers.
    #[inline]
    pub(crate) fn all(&self) -> &[T] {
        let bytes = self.memory.get(..self.len * size_of::<T>());
        bytemuck::cast_slice(bytes.unwrap_or_default())
    }

    /// The numbers, mutable.
    #[inline]
    pub(crate) fn all_mut(&mut self) -> &mut [T] {
        let bytes = self.memory.get_mut(..self.len * size_of::<T>());
        bytemuck::cast_slice_mut(bytes.unwrap_or_default())
    }

    /// The number at this index, if there is one.
    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<T> {
        self.all().get(place as usize).copied()
    }

    /// Drops all but the first `len` numbers.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept() {
        let mut numbers: Numbers<u32> = Numbers::zeroed(3_000_000).unwrap();
        for (number, slot) in (7..).zip(numbers.all_mut()) {
            *slot = number;
        }
        assert_eq!(numbers.get(2_999_999), Some(3_000_006));
        assert_eq!(numbers.get(3_000_000), None);
        numbers.truncate(2);
        assert_eq!(numbers.all(), [7, 8]);
        assert!(Numbers::<u64>::zeroed(0).unwrap().all().is_empty());
    }

    #[test]
    fn what_has_no_room_is_dropped() {
        let mut numbers: Numbers<u64> = Numbers::with_room(3).unwrap();
        numbers.extend(&[1, 2]);
        numbers.extend(&[3, 4]);
        assert_eq!(numbers.all(), [1, 2, 3]);
        numbers.truncate(2);
        assert!(numbers.push(5) && !numbers.push(6));
        assert_eq!(numbers.all(), [1, 2, 5]);
    }
}
