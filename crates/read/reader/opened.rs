//! Distinguishes a text profile from a binary file by the first bytes.

use std::io::{self, Cursor, ErrorKind, Read};

use crate::dump::DumpReader;
use crate::error::ReadError;
use crate::header::{is_text, KIND_BYTES};
use crate::text::TextReader;

/// A file of either kind, ready to be read.
#[derive(Debug)]
pub enum Opened<'r> {
    /// HPROF binary.
    Binary(DumpReader<'r>),
    /// HPROF text, which the JDK's agent wrote with `format=a`.
    Text(TextReader<'r>),
}

impl<'r> Opened<'r> {
    /// Reads the first bytes of uncompressed data. Errors: I/O, or not an HPROF file of either
    /// kind.
    pub fn new(mut inner: Box<dyn Read + 'r>) -> Result<Self, ReadError> {
        let start =
            first_bytes(&mut inner).map_err(|source| ReadError::Io { offset: 0, source })?;
        let is_text = is_text(&start);
        let whole = Box::new(Cursor::new(start).chain(inner));
        if is_text {
            return Ok(Self::Text(TextReader::new(whole)));
        }
        DumpReader::new(whole).map(Self::Binary)
    }
}

fn first_bytes(inner: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(KIND_BYTES);
    let mut limited = inner.take(KIND_BYTES as u64);
    match limited.read_to_end(&mut start) {
        // A truncated gzip stream; treated like a file that ends here.
        Err(fault) if fault.kind() == ErrorKind::UnexpectedEof => Ok(start),
        other => other.map(|_| start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_disk_that_fails_is_no_short_file() {
        let failing = |kind| Opened::new(Box::new(Failing(kind)));
        let other = failing(ErrorKind::Other);
        assert!(matches!(other, Err(ReadError::Io { offset: 0, .. })));
        let cut = failing(ErrorKind::UnexpectedEof);
        assert!(matches!(cut, Err(ReadError::NotHprof)));
    }
}
