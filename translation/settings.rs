//! What the user wants in a dump.

/// The user's settings for a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether fields of primitive types have their values; zeros otherwise.
    pub primitive_fields: bool,
    /// Whether arrays of primitive types have their values; zeros otherwise.
    pub primitive_arrays: bool,
    /// Whether frames have line numbers.
    pub line_numbers: bool,
    /// Most frames of a thread's stack; `None` for all.
    pub depth_frames: Option<u32>,
    /// Threads that compress objects, at least 1.
    pub threads: usize,
}
