//! Frames by which native code calls Java (upcallLinker.cpp).

use super::layouts::Upcalls;
use super::memory::{Address, Readable};

impl Upcalls {
    /// The place of the anchor if this is such code.
    pub(super) fn anchor(self, memory: &Readable<'_>, blob: Address) -> Option<u64> {
        let is_upcall = u32::from(memory.read::<u8>(blob.add(self.kind))?) == self.upcall;
        let data: u32 = is_upcall.then(|| memory.read(blob.add(self.data)))??;
        u64::from(data).checked_add(self.anchor)
    }
}
