//! The free space that a dump leaves on its disk.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use crate::WriteError;

/// Returns the free bytes on a file's disk; `None` if the system does not report them.
pub type FreeBytes = fn(BorrowedFd<'_>) -> Option<u64>;

/// The free space that a dump must leave.
#[derive(Clone, Copy, Debug)]
pub struct Floor {
    /// Bytes that stay free.
    pub bytes: u64,
    /// Finds the free bytes.
    pub free: FreeBytes,
}

impl PartialEq for Floor {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Floor {}

impl Floor {
    /// An error if `more` bytes would leave too little free space. For any thread and process.
    pub fn check(&self, file: &File, path: &Path, more: usize) -> Result<(), WriteError> {
        let least = self.bytes.saturating_add(more as u64);
        match (self.free)(file.as_fd()) {
            Some(free_bytes) if free_bytes < least => Err(WriteError::LittleRoom {
                path: path.to_owned(),
                free_bytes,
                floor_bytes: self.bytes,
            }),
            _ => Ok(()),
        }
    }
}
