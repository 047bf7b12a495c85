//! Reads this process's memory at addresses that HotSpot provides.

use snapshot::mappings::{Mappings, PAGE_BYTES};
use std::cell::Cell;

/// Bytes of a stack word.
pub(super) const WORD_BYTES: u64 = 8;

/// An address in this process at which HotSpot keeps something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Address(u64);

/// Numbers and addresses: any bytes are a valid value.
pub(super) trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for u16 {}
impl Plain for i16 {}
impl Plain for i32 {}
impl Plain for u32 {}
impl Plain for u64 {}

impl Address {
    /// The address with these bits.
    pub(super) fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits.
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// The address that many bytes higher.
    pub(super) fn add(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// The address that many bytes higher, or lower if negative.
    pub(super) fn offset(self, bytes: i32) -> Self {
        Self(self.0.wrapping_add_signed(i64::from(bytes)))
    }

    /// The address that many bytes lower.
    pub(super) fn before(self, bytes: u64) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }

    /// Reads the value there. Other threads may write it at the same time, as they may while
    /// HotSpot reads it.
    ///
    /// # Safety
    /// The bytes are readable: part of a HotSpot structure that outlives the call, or of the
    /// calling thread's own stack.
    pub(super) unsafe fn read<T: Plain>(self) -> T {
        // SAFETY: the caller's promise; any bytes are a valid `Plain`; volatile, because other
        // threads may write.
        unsafe { (self.0 as *const T).read_volatile() }
    }
}

/// The memory of a forked copy, which has no other thread: it stands still, and its mappings are
/// known, so that any address can be tried.
#[derive(Debug)]
pub struct Readable<'m> {
    mappings: &'m Mappings,
    /// The page of the last address, as far as it is in one mapping.
    last: Cell<(u64, u64)>,
}

impl<'m> Readable<'m> {
    /// The memory with these mappings.
    ///
    /// # Safety
    /// This is a forked copy, these are its mappings, and what is read through this is not Rust's.
    pub unsafe fn new(mappings: &'m Mappings) -> Self {
        Self {
            mappings,
            last: Cell::new((0, 0)),
        }
    }

    /// The value at this address; `None` if it cannot be read.
    pub(super) fn read<T: Plain>(&self, at: Address) -> Option<T> {
        let end = at.0.checked_add(size_of::<T>() as u64)?;
        let (low, high) = self.last.get();
        if at.0 < low || end > high {
            let mapping = self.mappings.readable(at.0)?;
            let page = at.0 & !(PAGE_BYTES - 1);
            let page_end = page.saturating_add(PAGE_BYTES);
            let last = (mapping.start.max(page), mapping.end.min(page_end));
            if end > last.1 && !self.mappings.are_readable(last.1, end - last.1) {
                return None;
            }
            self.last.set(last);
        }
        // SAFETY: it is readable, as was just checked, and the promise to `new`.
        Some(unsafe { (at.0 as *const T).read_unaligned() })
    }

    /// The text at this address: `most` bytes, unless it ends before them. `None` if it cannot be
    /// read.
    pub(super) fn text(&self, at: Address, most: u64) -> Option<Vec<u8>> {
        let bytes = (0..most).map(|number| self.read::<u8>(at.add(number)));
        bytes.take_while(|&byte| byte != Some(0)).collect()
    }
}

/// This process's memory, and tests.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::ops::Range;

    /// The mappings of now.
    pub(crate) fn own_mappings() -> Mappings {
        Mappings::parse(&snapshot::mappings::os_maps().unwrap())
    }

    /// Where this slice is.
    pub(crate) fn part<T>(slice: &[T]) -> Range<u64> {
        let start = slice.as_ptr() as u64;
        start..start + size_of_val(slice) as u64
    }

    /// Mappings with these parts of memory and nothing else.
    pub(crate) fn only(mut parts: Vec<Range<u64>>) -> Mappings {
        parts.sort_by_key(|part| part.start);
        let lines = parts.iter();
        let lines = lines.map(|part| format!("{:x}-{:x} rw-p 0 0 0\n", part.start, part.end));
        Mappings::parse(lines.collect::<String>().as_bytes())
    }

    impl<'m> Readable<'m> {
        /// The memory with these mappings, which nothing changes while a test reads it.
        pub(crate) fn of(mappings: &'m Mappings) -> Self {
            // SAFETY: a test reads only what it has put there.
            unsafe { Self::new(mappings) }
        }
    }

    #[test]
    fn what_lies_at_an_address_is_read() {
        let numbers = [7_u64, 8];
        let address = Address::new(numbers.as_ptr() as u64);
        // SAFETY: both are there.
        unsafe {
            assert_eq!(address.read::<u64>(), 7);
            assert_eq!(address.add(8).read::<u64>(), 8);
        }
    }

    #[test]
    fn any_address_can_be_tried() {
        let numbers = [7_u64, 8];
        let address = Address::new(numbers.as_ptr() as u64);
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        assert_eq!(memory.read::<u64>(address.add(8)), Some(8));
        assert_eq!(memory.read::<u64>(Address::new(8)), None);
        assert_eq!(memory.read::<u32>(Address::new(u64::MAX - 1)), None);
        let text = |at| memory.text(Address::new(at), 4);
        assert_eq!(text(c"ab".as_ptr() as u64), Some(b"ab".to_vec()));
        assert_eq!(text(c"abcdef".as_ptr() as u64), Some(b"abcd".to_vec()));
        assert_eq!((text(8), text(u64::MAX)), (None, None));
    }
}
