//! Frames by which native code calls Java (upcallLinker.cpp).

use super::memory::{Address, Readable};
use super::vm_structs::Table;

/// Frames by which native code calls Java (`java.lang.foreign`), where the JVM exports them: since
/// JDK 25.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upcalls {
    /// The kind of a blob of code, and that of such a frame.
    kind: u64,
    upcall: u8,
    /// The place of a frame's anchor, in bytes above the stack pointer: a field of the blob, and
    /// what to add.
    data: u64,
    anchor: u64,
}

impl Upcalls {
    /// `None` if this JVM does not export them.
    pub(super) fn find(table: Table) -> Option<Self> {
        Some(Self {
            kind: table.offset("CodeBlob", "_kind")?,
            upcall: u8::try_from(Table::constant("CodeBlobKind::Upcall")?).ok()?,
            data: table.offset("UpcallStub", "_frame_data_offset")?,
            anchor: table.offset("UpcallStub::FrameData", "jfa")?,
        })
    }

    /// The place of the anchor if this is such code.
    pub(super) fn anchor(self, memory: &Readable<'_>, blob: Address) -> Option<u64> {
        let is_upcall = memory.read::<u8>(blob.add(self.kind))? == self.upcall;
        let data: u32 = is_upcall.then(|| memory.read(blob.add(self.data)))??;
        u64::from(data).checked_add(self.anchor)
    }
}
