//! The interface of a translation to its process.

use std::io::Read;

/// Provides HotSpot's file, and serves the process that waits for ours.
pub trait Surroundings {
    /// Opens HotSpot's file at its start.
    fn open(&self) -> Box<dyn Read + '_>;

    /// Opens it at its start for the last time: bytes that were read are not needed any more.
    fn open_finally(&self) -> Box<dyn Read + '_> {
        self.open()
    }

    /// Called when the translation makes progress.
    fn show_life(&self) {}

    /// The bytes of memory left, if they are too few to continue; otherwise `None`.
    fn too_little_memory(&self) -> Option<u64> {
        None
    }
}
