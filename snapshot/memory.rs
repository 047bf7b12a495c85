//! Raw memory of a process that stands still: the forked copy of a JVM.

/// Leave to read addresses that the Rust compiler knows nothing of.
///
/// There is one in a forked child, where every other thread of the JVM is gone: what it reads can change no more,
/// and an address that is not mapped ends the child with a code of its own, not the application.
#[derive(Clone, Copy, Debug)]
pub struct Memory(());

impl Memory {
    /// Gives the leave.
    ///
    /// # Safety
    /// The process is a forked copy that may end at any read, and no thread of it writes to what is read (HotSpot, while
    /// it goes on, writes to mark words alone); or, in tests, every address that is read belongs to a live buffer.
    pub unsafe fn new() -> Self {
        Self(())
    }

    /// The byte at this address.
    #[inline]
    pub fn u8(self, address: u64) -> u8 {
        // SAFETY: `new` demands a process in which any address may be tried.
        unsafe { (address as *const u8).read() }
    }

    /// Two bytes in the host's order, aligned or not.
    #[inline]
    pub fn u16(self, address: u64) -> u16 {
        // SAFETY: as in `u8`.
        unsafe { (address as *const u16).read_unaligned() }
    }

    /// Four bytes in the host's order, aligned or not.
    #[inline]
    pub fn u32(self, address: u64) -> u32 {
        // SAFETY: as in `u8`.
        unsafe { (address as *const u32).read_unaligned() }
    }

    /// Eight bytes in the host's order, aligned or not.
    #[inline]
    pub fn u64(self, address: u64) -> u64 {
        // SAFETY: as in `u8`.
        unsafe { (address as *const u64).read_unaligned() }
    }

    /// `len` bytes from this address on.
    #[inline]
    pub fn bytes<'m>(self, address: u64, len: usize) -> &'m [u8] {
        // SAFETY: as in `u8`; nobody writes to them, so the slice is frozen as long as the process lives.
        unsafe { std::slice::from_raw_parts(address as *const u8, len) }
    }

    /// Asks the processor to have this address at hand soon; any number is fine.
    #[inline]
    pub fn prefetch(self, address: u64) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
