//! What surrounds a translation.

use std::io::Read;

/// HotSpot's file, and the process that waits for ours.
pub trait Surroundings {
    /// Reads HotSpot's file from its start.
    fn open(&self) -> Box<dyn Read + '_>;

    /// Reads it from its start for the last time: what was read is needed no more.
    fn open_finally(&self) -> Box<dyn Read + '_> {
        self.open()
    }

    /// The translation makes progress.
    fn show_life(&self) {}

    /// Bytes of memory that are left if these are too few to go on; `None` if there are enough.
    fn too_little_memory(&self) -> Option<u64> {
        None
    }
}
