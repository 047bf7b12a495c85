//! The free space that a dump leaves on its disk.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use crate::WriteError;

/// The bytes that a dump leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor(pub u64);

impl Floor {
    /// An error if `more` bytes would leave too little free space. For any thread and process.
    pub fn check(&self, file: &File, path: &Path, more: usize) -> Result<(), WriteError> {
        let least = self.0.saturating_add(more as u64);
        match free_bytes(file) {
            Some(free_bytes) if free_bytes < least => Err(WriteError::LittleRoom {
                path: path.to_owned(),
                free_bytes,
                floor_bytes: self.0,
            }),
            _ => Ok(()),
        }
    }
}

/// Bytes that this user can still write where this file or folder is; `None` if the system does not
/// report them.
pub(crate) fn free_bytes(place: &File) -> Option<u64> {
    let found = rustix::fs::fstatvfs(place.as_fd()).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_leave_too_little_is_refused() {
        let file = tempfile::tempfile().unwrap();
        let check = |floor| Floor(floor).check(&file, Path::new("a"), 1);
        assert_eq!(check(1), Ok(()));
        let error = check(u64::MAX).unwrap_err();
        assert!(
            matches!(error, WriteError::LittleRoom { free_bytes, floor_bytes: u64::MAX, .. } if free_bytes > 0)
        );
    }
}
