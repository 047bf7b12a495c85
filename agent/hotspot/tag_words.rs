//! The words before an object's tag in a callback of a heap walk: HotSpot keeps the object's address there.

use crate::jvmti::heap::TagCell;

impl TagCell {
    /// The object's address in the heap: HotSpot (8 to 26) keeps it two words before the tag, behind it the size.
    ///
    /// `None` where the size is not the one that the callback tells: then nothing there is to be believed. Not
    /// promised by any specification; only HotSpot's engines ask.
    pub(crate) fn address(&self, size_bytes: u64) -> Option<u64> {
        // SAFETY: the tag lies on the JVM's stack behind at least two words of the same struct (jvmtiTagMap.cpp,
        // CallbackWrapper); on another JVM the words before are other words of its stack, which are readable.
        let (address, size) = unsafe {
            let words = self.raw().cast::<u64>();
            (words.sub(2).read(), words.sub(1).read())
        };
        (size == size_bytes && address != 0 && address % 8 == 0).then_some(address)
    }

    /// The word before a referrer's tag: on HotSpot its address. To be believed if it is one that is known.
    pub(crate) fn referrer_address(&self) -> u64 {
        // SAFETY: as in `address`.
        unsafe { self.raw().cast::<u64>().sub(1).read() }
    }

    /// The word in which `address` finds the address, where no size is told to check it by.
    pub(crate) fn owner_address(&self) -> u64 {
        // SAFETY: as in `address`.
        unsafe { self.raw().cast::<u64>().sub(2).read() }
    }
}
