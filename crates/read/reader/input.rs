//! Opens a file's contents, and decompresses them if they start with gzip's magic number.

use std::io::{self, Chain, Cursor, ErrorKind, Read};
use std::thread::available_parallelism;

use flate2::read::MultiGzDecoder;

use crate::members::{FoundMembers, MemberReader};
use crate::read_ahead::ReadAhead;

/// First bytes of a gzip member (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// The uncompressed bytes of `raw`: decompressed if it starts like gzip (one or many members),
/// otherwise unchanged.
///
/// Errors: the first bytes cannot be read.
pub fn unpacked<'r>(raw: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    Ok(opened(raw)?.0)
}

/// Like [`unpacked`]; also returns whether the file was compressed.
pub fn opened<'r>(raw: impl Read + 'r) -> io::Result<(Box<dyn Read + 'r>, bool)> {
    let (whole, packed) = known(raw)?;
    Ok(if packed {
        (Box::new(MultiGzDecoder::new(whole)), true)
    } else {
        (Box::new(whole), false)
    })
}

/// Like [`opened`], but decompresses in a separate thread if there is a processor for it.
pub fn opened_ahead(raw: impl Read + Send + 'static) -> io::Result<(Box<dyn Read>, bool)> {
    let (whole, packed) = known(raw)?;
    if !packed || available_parallelism().map_or(1, usize::from) == 1 {
        return opened(whole);
    }
    Ok((
        Box::new(ReadAhead::start(MultiGzDecoder::new(whole))?),
        true,
    ))
}

/// The uncompressed bytes of a gzip file, decompressed as by [`opened_ahead`], and the members
/// found meanwhile. Errors: the system cannot start a thread.
pub fn members_ahead(raw: impl Read + Send + 'static) -> io::Result<(Box<dyn Read>, FoundMembers)> {
    let found = FoundMembers::default();
    let reader = MemberReader::new(raw, found.clone());
    if available_parallelism().map_or(1, usize::from) == 1 {
        return Ok((Box::new(reader), found));
    }
    Ok((Box::new(ReadAhead::start(reader)?), found))
}

/// A file whose first bytes have been read.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// All bytes of `raw`, and whether they are compressed.
fn known<R: Read>(mut raw: R) -> io::Result<(Whole<R>, bool)> {
    let mut magic = Vec::with_capacity(GZIP_MAGIC.len());
    let mut byte = [0];
    while magic.len() < GZIP_MAGIC.len() {
        match raw.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => magic.extend_from_slice(&byte),
            Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    let packed = magic == GZIP_MAGIC;
    Ok((Cursor::new(magic).chain(raw), packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails once with this error; then returns one byte.
    struct Failing(Option<ErrorKind>, bool);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if let Some(kind) = self.0.take() {
                return Err(kind.into());
            }
            if std::mem::replace(&mut self.1, true) {
                return Ok(0);
            }
            buffer[0] = 7;
            Ok(1)
        }
    }

    #[test]
    fn a_disk_that_fails_is_told_of_and_a_signal_is_not() {
        assert!(opened(Failing(Some(ErrorKind::Other), false)).is_err());
        let (mut whole, packed) = opened(Failing(Some(ErrorKind::Interrupted), false)).unwrap();
        let mut bytes = Vec::new();
        whole.read_to_end(&mut bytes).unwrap();
        assert_eq!((bytes, packed), (vec![7], false));
    }

    use flate2::{write::GzEncoder, Compression};
    use std::io::Write;

    #[test]
    fn plain_and_packed_give_the_same() {
        let mut packed = Vec::new();
        for half in [&b"JAVA PRO"[..], b"FILE"] {
            let mut encoder = GzEncoder::new(&mut packed, Compression::fast());
            encoder.write_all(half).unwrap();
            encoder.finish().unwrap();
        }
        for raw in [&b"JAVA PROFILE"[..], &packed] {
            let mut text = String::new();
            unpacked(raw).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "JAVA PROFILE");
        }
    }

    #[test]
    fn short_files_stay_short() {
        for raw in [&b""[..], b"J", b"\x1F"] {
            let mut bytes = Vec::new();
            unpacked(raw).unwrap().read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, raw);
        }
    }
}
