//! Encodes big-endian numbers, ids, and lengths that are measured.

use format::codec::Output;
use format::sub_record::{head_bytes, Instance};
use format::{ID_SIZE_BYTES, RECORD_HEADER_BYTES};

use crate::WriteError;

pub(crate) fn put_u4(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Most bytes before an object's data: tag, two ids, two numbers.
const HEAD_BYTES: usize = head_bytes::<Instance>(ID_SIZE_BYTES) as usize;

/// The bytes before an object's data. They are assembled first and appended in one step, because
/// there are millions of them.
pub(crate) struct Head {
    bytes: [u8; HEAD_BYTES],
    filled: usize,
}

impl Head {
    /// Nothing filled.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            bytes: [0; HEAD_BYTES],
            filled: 0,
        }
    }

    /// Appends the filled bytes.
    #[inline]
    pub(crate) fn append(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.bytes.get(..self.filled).unwrap_or(&self.bytes));
    }
}

impl Output for Head {
    /// Fills the next bytes. Ignores bytes that do not fit.
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let end = self.filled + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.filled..end) {
            place.copy_from_slice(bytes);
        }
        self.filled = end;
    }
}

/// Narrows a count to u4. The error names what was too large.
pub(crate) fn u4(what: &'static str, value: usize) -> Result<u32, WriteError> {
    u32::try_from(value).map_err(|_| WriteError::TooLarge {
        what,
        value: value as u64,
    })
}

/// A record's header. The time is always 0, because readers misinterpret times that go backwards.
pub(crate) fn put_record_header(out: &mut Vec<u8>, tag: u8, body_bytes: u32) {
    out.push(tag);
    put_u4(out, 0);
    put_u4(out, body_bytes);
}

/// One top-level record: the header, then the bytes that `body` appends, then the measured length
/// in the header.
///
/// On an error nothing is appended.
pub(crate) fn record(
    out: &mut Vec<u8>,
    tag: u8,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let start = out.len();
    put_record_header(out, tag, 0);
    let patched = body(out).and_then(|()| patch_length(out, start));
    if patched.is_err() {
        out.truncate(start);
    }
    patched
}

/// Stores into the record header at `start` the number of bytes that follow it.
pub(crate) fn patch_length(out: &mut [u8], start: usize) -> Result<(), WriteError> {
    let body_start = start + RECORD_HEADER_BYTES;
    let length = u4(
        "the length of a record",
        out.len().saturating_sub(body_start),
    )?;
    if let Some(field) = out.get_mut(body_start - 4..body_start) {
        field.copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_as_long_as_it_says() {
        let mut out = vec![9];
        let mut head = Head::new();
        head.put(&[1]);
        head.put(&[2, 3]);
        head.append(&mut out);
        assert_eq!(out, [9, 1, 2, 3]);
        let mut head = Head::new();
        head.put(&[4; HEAD_BYTES]);
        head.put(&[5]);
        head.append(&mut out);
        assert_eq!(out[4..], [4; HEAD_BYTES]);
    }

    #[test]
    fn the_length_is_what_follows_the_header() {
        let mut out = vec![0xAA];
        record(&mut out, 0x1C, |out| {
            out.extend([1, 2]);
            Ok(())
        })
        .unwrap();
        assert_eq!(out, [0xAA, 0x1C, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2]);
    }

    #[test]
    fn a_failed_record_leaves_nothing() {
        let mut out = vec![0xAA];
        let error = record(&mut out, 1, |out| {
            put_u4(out, 7);
            Err(WriteError::WriterGone)
        });
        assert_eq!(error, Err(WriteError::WriterGone));
        assert_eq!(out, [0xAA]);
    }

    #[test]
    fn narrowing_is_checked() {
        assert_eq!(u4("it", 65_535), Ok(65_535));
        assert_eq!(
            u4("it", 1 << 32),
            Err(WriteError::TooLarge {
                what: "it",
                value: 1 << 32
            })
        );
    }
}
