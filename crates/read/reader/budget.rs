//! A limit on the memory for a file's contents.

use std::mem::size_of;

use crate::error::ReadError;

/// Bytes allowed for any file: the names and stacks of a large application need a tenth of it.
const BASE_BYTES: u64 = 256 << 20;

/// Additional bytes for each byte on disk. A JVM's dump needs less than one, a compressed dump two
/// or three.
const BYTES_PER_BYTE: u64 = 8;

/// Bytes of an entry in a hash map with small keys and values, including its share of free space.
pub(crate) const ENTRY_BYTES: u64 = 64;

/// A limit for the tables that a command builds from a file: names, classes, stacks, sites, ids.
///
/// A compressed file of a megabyte can claim a gigabyte of names. Reading it then fails with
/// [`ReadError::TooMuch`] instead of taking the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    limit_bytes: u64,
}

impl Budget {
    /// The limit for a file of this size on disk, compressed or not.
    pub fn for_file(disk_bytes: u64) -> Self {
        Self::new(BASE_BYTES.saturating_add(disk_bytes.saturating_mul(BYTES_PER_BYTE)))
    }

    /// This limit.
    pub const fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes }
    }

    /// Checks the current size of the tables. Errors: [`ReadError::TooMuch`].
    pub fn allow(self, held_bytes: u64) -> Result<(), ReadError> {
        if held_bytes > self.limit_bytes {
            return Err(ReadError::TooMuch {
                limit_bytes: self.limit_bytes,
            });
        }
        Ok(())
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(BASE_BYTES)
    }
}

/// Bytes of a vector's or a map's entries of this type.
pub(crate) fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

/// Bytes of a hash map's entries.
pub(crate) fn entries(count: usize) -> u64 {
    (count as u64).saturating_mul(ENTRY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_of_a_map_counts() {
        assert_eq!(entries(3), 3 * ENTRY_BYTES);
        assert_eq!(bytes_of::<u64>(3), 24);
        assert_eq!(entries(usize::MAX), u64::MAX);
    }

    #[test]
    fn the_limit_grows_with_the_file() {
        let small = Budget::for_file(0);
        assert!(small.allow(BASE_BYTES).is_ok());
        assert!(matches!(
            small.allow(BASE_BYTES + 1),
            Err(ReadError::TooMuch { .. })
        ));
        assert!(Budget::for_file(1).allow(BASE_BYTES + 1).is_ok());
        assert!(Budget::for_file(u64::MAX).allow(u64::MAX).is_ok());
    }
}
