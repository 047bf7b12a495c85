//! Where a thread that runs native code names its last Java frame (javaFrameAnchor.hpp).

/// The place of an entry frame's link to older Java frames: this many words below its frame pointer
/// (frame_x86.hpp, entry_frame_call_wrapper_offset).
pub(super) const CALL_WRAPPER_WORDS: u64 = 6;

/// A frame: its stack pointer, and the address at which its code continues. The frame pointer is
/// valid only for an interpreted frame and for the frame by which native code entered Java.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub(super) stack_pointer: u64,
    pub(super) frame_pointer: u64,
    pub(super) pc: u64,
}
