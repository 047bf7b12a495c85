//! Which pages of a process are in memory (`/proc/PID/pagemap`, proc_pid_pagemap(5)).

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes of an entry, which belongs to a page.
const ENTRY_BYTES: u64 = 8;
/// The flag of a page that is in memory.
const PRESENT: u64 = 1 << 63;
/// Entries that are read at once.
const AT_ONCE: u64 = 8192;

/// The pages of a process.
#[derive(Debug)]
pub(crate) struct Pagemap {
    file: File,
    pub(crate) page_bytes: u64,
}

impl Pagemap {
    /// The pages that this file lists.
    pub(crate) fn new(file: File) -> Self {
        Self {
            file,
            page_bytes: rustix::param::page_size() as u64,
        }
    }

    /// How many bytes of a range are in memory; `None` if that cannot be read.
    pub(crate) fn resident_bytes(&self, range: &Range<u64>) -> Option<u64> {
        let mut bytes = 0;
        self.each(range, |page| {
            let end = page.saturating_add(self.page_bytes).min(range.end);
            bytes += end.saturating_sub(page.max(range.start));
        })?;
        Some(bytes)
    }

    /// Whether the page at this address is in memory.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.resident_bytes(&(address..address.saturating_add(1))) == Some(1)
    }

    /// Calls `seen` with the addresses of the pages of a range that are in memory; `None` if that
    /// cannot be read.
    pub(crate) fn each(&self, range: &Range<u64>, mut seen: impl FnMut(u64)) -> Option<()> {
        let page = self.page_bytes;
        let (mut at, end) = (range.start / page, range.end.div_ceil(page));
        let room = end.saturating_sub(at).min(AT_ONCE) * ENTRY_BYTES;
        let mut room = vec![0; usize::try_from(room).ok()?];
        while at < end {
            let count = (end - at).min(AT_ONCE);
            let bytes = room.get_mut(..usize::try_from(count * ENTRY_BYTES).ok()?)?;
            let from = at.checked_mul(ENTRY_BYTES)?;
            self.file.read_exact_at(bytes, from).ok()?;
            let entries = bytes.chunks_exact(8).filter_map(<[u8]>::first_chunk);
            for (number, entry) in (at..).zip(entries) {
                if u64::from_ne_bytes(*entry) & PRESENT != 0 {
                    seen(number * page);
                }
            }
            at += count;
        }
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_in_memory() {
        let pagemap = Pagemap::new(File::open("/proc/self/pagemap").unwrap());
        let written = vec![7_u8; 10_000];
        let start = written.as_ptr() as u64;
        let inside = start + 1..start + 9_999;
        assert_eq!(pagemap.resident_bytes(&inside), Some(9_998));
        // Nothing is at the lowest addresses.
        assert_eq!(pagemap.resident_bytes(&(0..8192)), Some(0));
        assert_eq!(std::hint::black_box(written).len(), 10_000);
    }
}
