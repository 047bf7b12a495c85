//! The memory from which a snapshot is read.
#![allow(unsafe_code)]

use crate::layout::Colours;
use std::fmt::Debug;

/// Bytes that can be read at the JVM's addresses, and that do not change.
///
/// Reading never fails. Addresses are checked beforehand. A wrong one ends only the forked child
/// ([`ProcessMemory`]), or reads as zeros ([`BufferMemory`]).
pub trait Memory: Copy + Send + Sync + Debug {
    /// The byte at this address.
    fn u8(self, address: u64) -> u8;

    /// Two bytes in the host's order, aligned or not.
    fn u16(self, address: u64) -> u16;

    /// Four bytes in the host's order, aligned or not.
    fn u32(self, address: u64) -> u32;

    /// Eight bytes in the host's order, aligned or not.
    fn u64(self, address: u64) -> u64;

    /// `len` bytes from this address on; empty unless all of them can be read.
    fn bytes(&self, address: u64, len: usize) -> &[u8];

    /// How references are coloured; `None` if a wide one is an address.
    #[inline(always)]
    fn colours(&self) -> Option<&Colours> {
        None
    }

    /// The address to which a wide reference leads; 0 is null. An address stays as it is.
    #[inline(always)]
    fn decoded(self, reference: u64) -> u64 {
        match self.colours() {
            None => reference,
            Some(colours) => colours.address(|place| self.u64(place), reference),
        }
    }

    /// The address in the wide reference at this address; 0 is null.
    #[inline(always)]
    fn reference(self, address: u64) -> u64 {
        self.decoded(self.u64(address))
    }
}

/// This process's own memory, at addresses that the Rust compiler knows nothing about.
///
/// Used in a forked child, where no other thread of the JVM exists, so that memory no longer
/// changes. Reading an unmapped address ends the child with its own exit code, not the application.
#[derive(Clone, Copy, Debug)]
pub struct ProcessMemory(Option<&'static Colours>);

impl ProcessMemory {
    /// Permits reading any address of this process, from any thread, as long as the process lives.
    ///
    /// # Safety
    /// Nothing may write to what is read, with one exception: HotSpot, when it goes on in the
    /// forked copy, writes mark words, and a reader sees the old or the new one. Each address that
    /// is read must be mapped, or the attempt may end the process. No memory that Rust allocated
    /// may be read through it while a mutable reference to it exists.
    pub unsafe fn new() -> Self {
        Self(None)
    }

    /// The same memory, with references of these colours.
    #[must_use]
    pub fn coloured(self, colours: Option<&'static Colours>) -> Self {
        Self(colours)
    }
}

impl Memory for ProcessMemory {
    #[inline(always)]
    fn u8(self, address: u64) -> u8 {
        // SAFETY: the caller of `new` vouches for every address, and accepts what happens if
        // nothing is mapped there.
        unsafe { (address as *const u8).read() }
    }

    #[inline(always)]
    fn u16(self, address: u64) -> u16 {
        // SAFETY: the caller of `new` vouches for every address.
        unsafe { (address as *const u16).read_unaligned() }
    }

    #[inline(always)]
    fn u32(self, address: u64) -> u32 {
        // SAFETY: the caller of `new` vouches for every address.
        unsafe { (address as *const u32).read_unaligned() }
    }

    #[inline(always)]
    fn u64(self, address: u64) -> u64 {
        // SAFETY: the caller of `new` vouches for every address.
        unsafe { (address as *const u64).read_unaligned() }
    }

    #[inline(always)]
    fn bytes(&self, address: u64, len: usize) -> &[u8] {
        // SAFETY: the caller of `new` vouches for every address; nothing writes to these bytes, so
        // the slice stays unchanged as long as the process lives.
        unsafe { std::slice::from_raw_parts(address as *const u8, len) }
    }

    #[inline(always)]
    fn colours(&self) -> Option<&Colours> {
        self.0
    }
}

/// A buffer, read at its own addresses or at those that it had in another process. All other
/// addresses read as zeros.
#[derive(Clone, Copy, Debug)]
pub struct BufferMemory<'b> {
    start: u64,
    bytes: &'b [u8],
}

impl<'b> BufferMemory<'b> {
    /// A buffer whose first byte has the address `start`.
    pub fn new(start: u64, bytes: &'b [u8]) -> Self {
        Self { start, bytes }
    }

    /// Words at their own addresses.
    pub fn of_words(words: &'b [u64]) -> Self {
        // SAFETY: the same memory for the same time, and any eight bytes of a word are bytes.
        let bytes =
            unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) };
        Self::new(words.as_ptr() as u64, bytes)
    }

    fn array<const N: usize>(self, address: u64) -> [u8; N] {
        let read = self.from(address).first_chunk();
        read.copied().unwrap_or([0; N])
    }

    fn from(&self, address: u64) -> &'b [u8] {
        let place = address.checked_sub(self.start);
        let place = place.and_then(|place| usize::try_from(place).ok());
        let rest = place.and_then(|place| self.bytes.get(place..));
        rest.unwrap_or_default()
    }
}

impl Memory for BufferMemory<'_> {
    fn u8(self, address: u64) -> u8 {
        u8::from_ne_bytes(self.array(address))
    }

    fn u16(self, address: u64) -> u16 {
        u16::from_ne_bytes(self.array(address))
    }

    fn u32(self, address: u64) -> u32 {
        u32::from_ne_bytes(self.array(address))
    }

    fn u64(self, address: u64) -> u64 {
        u64::from_ne_bytes(self.array(address))
    }

    fn bytes(&self, address: u64, len: usize) -> &[u8] {
        self.from(address).get(..len).unwrap_or_default()
    }
}

/// Prefetches this address into the cache. Any number is safe.
#[inline(always)]
pub fn prefetch(address: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(memory: impl Memory, start: u64) {
        assert_eq!(memory.u8(start + 1), 0x22);
        assert_eq!(memory.u16(start + 1), 0x3322);
        assert_eq!(memory.u32(start + 2), 0x6655_4433);
        assert_eq!(memory.u64(start + 8), 7);
        assert_eq!(memory.bytes(start, 2), [0x11, 0x22]);
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let words = [0x8877_6655_4433_2211_u64, 7];
        // SAFETY: only `words` is read, and nothing writes to it.
        reads(unsafe { ProcessMemory::new() }, words.as_ptr() as u64);
        reads(BufferMemory::of_words(&words), words.as_ptr() as u64);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        reads(BufferMemory::new(0x1000, &bytes), 0x1000);
    }

    #[test]
    fn outside_of_a_buffer_there_are_zeros() {
        let memory = BufferMemory::new(0x1000, &[0xFF; 10]);
        assert_eq!((memory.u8(0xFFF), memory.u8(0x100A)), (0, 0));
        assert_eq!((memory.u64(0x1003), memory.u32(0x1006)), (0, u32::MAX));
        assert_eq!((memory.u16(u64::MAX), memory.u64(0)), (0, 0));
        assert_eq!(memory.bytes(0x1000, 10).len(), 10);
        assert_eq!(memory.bytes(0x1001, 10), []);
    }
}
