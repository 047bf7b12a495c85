//! Raw memory of a process that stands still: the forked copy of a JVM.

use crate::jvmti::os_maps::OsMapping;
use std::ops::Range;

/// Leave to read addresses that the Rust compiler knows nothing of.
///
/// There is one in a forked child, where every other thread of the JVM is gone: what it reads can change no more,
/// and an address that is not mapped ends the child with a code of its own, not the application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory(());

impl Memory {
    /// Gives the leave.
    ///
    /// # Safety
    /// The process is a forked copy that may end at any read, and no thread of it writes to what is read (HotSpot, while
    /// it goes on, writes to mark words alone); or, in tests, every address that is read belongs to a live buffer.
    pub(super) unsafe fn new() -> Self {
        Self(())
    }

    /// The byte at this address.
    #[inline]
    pub(super) fn u8(self, address: u64) -> u8 {
        // SAFETY: `new` demands a process in which any address may be tried.
        unsafe { (address as *const u8).read() }
    }

    /// Two bytes in the host's order, aligned or not.
    #[inline]
    pub(super) fn u16(self, address: u64) -> u16 {
        // SAFETY: as in `u8`.
        unsafe { (address as *const u16).read_unaligned() }
    }

    /// Four bytes in the host's order, aligned or not.
    #[inline]
    pub(super) fn u32(self, address: u64) -> u32 {
        // SAFETY: as in `u8`.
        unsafe { (address as *const u32).read_unaligned() }
    }

    /// Eight bytes in the host's order, aligned or not.
    #[inline]
    pub(super) fn u64(self, address: u64) -> u64 {
        // SAFETY: as in `u8`.
        unsafe { (address as *const u64).read_unaligned() }
    }

    /// `len` bytes from this address on.
    #[inline]
    pub(super) fn bytes<'m>(self, address: u64, len: usize) -> &'m [u8] {
        // SAFETY: as in `u8`; nobody writes to them, so the slice is frozen as long as the process lives.
        unsafe { std::slice::from_raw_parts(address as *const u8, len) }
    }

    /// Asks the processor to have this address at hand soon; any number is fine.
    #[inline]
    pub(super) fn prefetch(self, address: u64) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch never faults.
        unsafe {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = address;
    }
}

/// One line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    range: Range<u64>,
    is_readable: bool,
    is_private: bool,
    /// Memory that can be written and belongs to no file.
    is_anonymous: bool,
}

/// What is mapped where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mappings {
    // In the order of addresses, as the kernel lists them.
    mappings: Vec<Mapping>,
}

impl Mappings {
    /// Reads the text of `/proc/self/maps`; lines that it does not understand are left out.
    pub(super) fn parse(text: &[u8]) -> Self {
        let mapping = |told: OsMapping<'_>| Mapping {
            is_readable: told.is_readable(),
            is_private: told.is_private(),
            is_anonymous: told.is_anonymous(),
            range: told.range,
        };
        Self {
            mappings: OsMapping::all(text).map(mapping).collect(),
        }
    }

    fn at(&self, address: u64) -> Option<&Mapping> {
        let behind = self
            .mappings
            .partition_point(|mapping| mapping.range.end <= address);
        self.mappings
            .get(behind)
            .filter(|mapping| mapping.range.contains(&address))
    }

    /// What lies around an address without a gap, mapped for reading or only reserved: for an object, the heap.
    ///
    /// Neighbours that touch the heap are in it; `None` if nothing is mapped there.
    pub(super) fn around(&self, address: u64) -> Option<Range<u64>> {
        let at = self
            .mappings
            .partition_point(|mapping| mapping.range.end <= address);
        let own = self.at(address)?.range.clone();
        let (before, behind) = self.mappings.split_at_checked(at)?;
        let start = before.iter().rev().fold(own.start, |start, mapping| {
            if mapping.range.end == start {
                mapping.range.start
            } else {
                start
            }
        });
        let end = behind.iter().fold(own.end, |end, mapping| {
            if mapping.range.start == end {
                mapping.range.end
            } else {
                end
            }
        });
        Some(start..end)
    }

    /// Whether a word can be read there.
    pub(super) fn is_readable(&self, address: u64) -> bool {
        self.at(address).is_some_and(|mapping| mapping.is_readable)
    }

    /// Whether all of these bytes can be read.
    pub(super) fn are_readable(&self, start: u64, bytes: u64) -> bool {
        let Some(end) = start.checked_add(bytes) else {
            return false;
        };
        let mut from = start;
        while from < end {
            match self.at(from) {
                Some(mapping) if mapping.is_readable => from = mapping.range.end,
                _ => return false,
            }
        }
        true
    }

    /// The parts of a range that are this process's own memory, no file's.
    pub(super) fn anonymous<'m>(
        &'m self,
        within: &'m Range<u64>,
    ) -> impl Iterator<Item = Range<u64>> + 'm {
        let own = self.mappings.iter().filter(|mapping| mapping.is_anonymous);
        own.map(|mapping| &mapping.range)
            .map(|range| range.start.max(within.start)..range.end.min(within.end))
            .filter(|range| range.start < range.end)
    }

    /// Whether a fork gets its own copy of what is there: the Java heap of every collector but ZGC.
    pub(super) fn is_private(&self, address: u64) -> bool {
        self.at(address)
            .is_some_and(|mapping| mapping.is_private && mapping.is_readable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_found_by_address() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 00000000 00:00 0 \nnonsense\n\
             2000-3000 r--p 00000000 08:01 7    /lib/x\n\
             5000-6000 rw-s 00000000 00:01 1    /memfd:java_heap (deleted)\n",
        );
        assert!(mappings.is_private(0x1FFF));
        assert!(mappings.is_private(0x2000));
        assert!(mappings.is_readable(0x2000));
        assert!(!mappings.is_private(0x5000));
        assert!(!mappings.is_readable(0x4000) && !mappings.is_readable(0xFFF));
        assert!(!mappings.is_readable(0x6000));
    }

    #[test]
    fn memory_of_no_file_is_listed() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 00000000 00:00 0 \n\
             2000-3000 r--p 00000000 00:00 0\n\
             3000-4000 rw-p 00000000 08:01 7    /lib/x\n\
             4000-6000 rw-p 00000000 00:00 0    [anon: Java heap]\n",
        );
        let listed: Vec<_> = mappings.anonymous(&(0x1800..0x5000)).collect();
        assert_eq!(listed, [0x1800..0x2000, 0x4000..0x5000]);
    }

    #[test]
    fn what_can_be_read_has_no_gap() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 0 0 0\n2000-3000 r--p 0 0 0\n3000-4000 ---p 0 0 0\n5000-6000 rw-p 0 0 0\n",
        );
        assert!(mappings.are_readable(0x1FFC, 8) && mappings.are_readable(0x2FF8, 8));
        assert!(!mappings.are_readable(0x2FFC, 8) && !mappings.are_readable(0x4FFC, 8));
        assert!(!mappings.are_readable(0x2000, 0x3800));
        assert!(!mappings.are_readable(0x4000, 4) && !mappings.are_readable(u64::MAX, 8));
    }

    #[test]
    fn neighbours_belong_together() {
        let mappings = Mappings::parse(
            b"1000-2000 rw-p 0 0 0\n3000-4000 rw-p 0 0 0\n4000-6000 ---p 0 0 0\n6000-7000 rw-p 0 0 0\n8000-9000 r--p 0 0 0\n",
        );
        assert_eq!(mappings.around(0x4800), Some(0x3000..0x7000));
        assert_eq!(mappings.around(0x1000), Some(0x1000..0x2000));
        assert_eq!(mappings.around(0x2000), None);
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let words = [0x8877_6655_4433_2211_u64, 7];
        // SAFETY: only `words` is read.
        let memory = unsafe { Memory::new() };
        let start = words.as_ptr() as u64;
        assert_eq!(memory.u8(start + 1), 0x22);
        assert_eq!(memory.u16(start + 1), 0x3322);
        assert_eq!(memory.u32(start + 2), 0x6655_4433);
        assert_eq!(memory.u64(start + 8), 7);
        assert_eq!(memory.bytes(start, 2), [0x11, 0x22]);
    }
}
