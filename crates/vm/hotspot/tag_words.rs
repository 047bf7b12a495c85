//! The words before an object's tag in a heap walk's callback, among which HotSpot keeps the
//! object's address.

use jvm::heap::TagCell;

/// Reads those words.
pub trait TagWords {
    /// The object's address in the heap. HotSpot (8 to 26) keeps it two words before the tag,
    /// followed by the size.
    ///
    /// `None` if that size is not the callback's: then none of these words can be trusted. No
    /// specification promises this; only the engines for HotSpot use it.
    fn address(&self, size_bytes: u64) -> Option<u64>;

    /// The word before a referrer's tag: on HotSpot its address. Trust it only if it is a known
    /// address.
    fn referrer_address(&self) -> u64;

    /// The word where `address` finds the address, for callbacks without a size to check it
    /// against.
    fn owner_address(&self) -> u64;
}

impl TagWords for TagCell {
    fn address(&self, size_bytes: u64) -> Option<u64> {
        // SAFETY: the tag lies on the JVM's stack behind at least two words of the same struct
        // (jvmtiTagMap.cpp, CallbackWrapper); on another JVM the words before are other words of
        // its stack, which are readable.
        let (address, size) = unsafe {
            let words = self.raw().cast::<u64>();
            (words.sub(2).read(), words.sub(1).read())
        };
        (size == size_bytes && address != 0 && address % 8 == 0).then_some(address)
    }

    fn referrer_address(&self) -> u64 {
        // SAFETY: two words of the JVM's stack lie before the tag, as `address` explains.
        unsafe { self.raw().cast::<u64>().sub(1).read() }
    }

    fn owner_address(&self) -> u64 {
        // SAFETY: two words of the JVM's stack lie before the tag, as `address` explains.
        unsafe { self.raw().cast::<u64>().sub(2).read() }
    }
}
