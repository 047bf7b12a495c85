//! Appends big-endian numbers to bytes. Counts and lengths are patched in afterwards.

use crate::error::Reason;

/// A growing byte buffer.
pub(crate) trait Bytes {
    fn put_u1(&mut self, value: u8);
    fn put_u2(&mut self, value: u16);
    fn put_u4(&mut self, value: u32);
    fn put(&mut self, bytes: &[u8]);
    /// Overwrites the two bytes at this position.
    fn patch_u2(&mut self, at: usize, value: u16);
    /// Puts the number of the bytes that `put` puts as four bytes, and these bytes.
    fn sized<T>(&mut self, put: impl FnOnce(&mut Self) -> Result<T, Reason>) -> Result<T, Reason>;
}

impl Bytes for Vec<u8> {
    fn put_u1(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u2(&mut self, value: u16) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put_u4(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn patch_u2(&mut self, at: usize, value: u16) {
        if let Some(place) = self.get_mut(at..at + 2) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }

    fn sized<T>(&mut self, put: impl FnOnce(&mut Self) -> Result<T, Reason>) -> Result<T, Reason> {
        let at = self.len();
        self.put_u4(0);
        let result = put(self)?;
        let length = self.len().saturating_sub(at + 4);
        let length = u32::try_from(length).map_err(|_| Reason::TooBig)?;
        if let Some(place) = self.get_mut(at..at + 4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
        Ok(result)
    }
}
