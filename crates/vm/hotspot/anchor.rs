//! Where a thread that runs native code names its last Java frame (javaFrameAnchor.hpp).

use super::vm_structs::Table;

/// The place of an entry frame's link to older Java frames: this many words below its frame pointer
/// (frame_x86.hpp, entry_frame_call_wrapper_offset).
pub(super) const CALL_WRAPPER_WORDS: u64 = 6;

/// Where an anchor is, and what it has where.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnchorLayout {
    pub(super) in_thread: u64,
    pub(super) in_call_wrapper: u64,
    pub(super) stack_pointer: u64,
    pub(super) frame_pointer: u64,
    pub(super) pc: u64,
}

impl AnchorLayout {
    /// `None` if this JVM does not export all of it.
    pub(super) fn find(table: Table) -> Option<Self> {
        Some(Self {
            in_thread: table.offset("JavaThread", "_anchor")?,
            in_call_wrapper: table.offset("JavaCallWrapper", "_anchor")?,
            stack_pointer: table.offset("JavaFrameAnchor", "_last_Java_sp")?,
            frame_pointer: table.offset("JavaFrameAnchor", "_last_Java_fp")?,
            pc: table.offset("JavaFrameAnchor", "_last_Java_pc")?,
        })
    }
}

/// A frame: its stack pointer, and the address at which its code continues. The frame pointer is
/// valid only for an interpreted frame and for the frame by which native code entered Java.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub(super) stack_pointer: u64,
    pub(super) frame_pointer: u64,
    pub(super) pc: u64,
}
