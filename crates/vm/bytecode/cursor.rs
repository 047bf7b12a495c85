//! Reads big-endian numbers from bytes, sequentially.

use crate::error::ClassError;

/// A position in a byte slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], ClassError> {
        let (chunk, rest) = self.rest.split_first_chunk().ok_or(ClassError::Truncated)?;
        self.rest = rest;
        Ok(*chunk)
    }

    pub(crate) fn u1(&mut self) -> Result<u8, ClassError> {
        self.chunk().map(u8::from_be_bytes)
    }

    pub(crate) fn u2(&mut self) -> Result<u16, ClassError> {
        self.chunk().map(u16::from_be_bytes)
    }

    pub(crate) fn u4(&mut self) -> Result<u32, ClassError> {
        self.chunk().map(u32::from_be_bytes)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], ClassError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(ClassError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The bytes between an earlier copy of this cursor and this one.
    pub(crate) fn since(&self, earlier: &Self) -> &'a [u8] {
        let length = earlier.rest.len().saturating_sub(self.rest.len());
        earlier.rest.get(..length).unwrap_or(&[])
    }

    /// An attribute: its name's index and its body (4.7).
    pub(crate) fn attribute(&mut self) -> Result<(u16, &'a [u8]), ClassError> {
        let name = self.u2()?;
        let length = self.u4()? as usize;
        Ok((name, self.take(length)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_big_endian_and_the_end_is_an_error() {
        let mut cursor = Cursor::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let start = cursor;
        assert_eq!(cursor.u1(), Ok(1));
        assert_eq!(cursor.u2(), Ok(0x0203));
        assert_eq!(cursor.u4(), Ok(0x0405_0607));
        assert_eq!(cursor.take(3), Err(ClassError::Truncated));
        assert_eq!(cursor.since(&start), &[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(cursor.take(2), Ok(&[8, 9][..]));
        assert!(cursor.is_done());
    }
}
