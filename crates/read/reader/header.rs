//! The header of a file: version, size of identifiers, time.

use format::codec::{FieldCodec, U1, U4, U8};

use crate::error::ReadError;
use crate::source::Source;

/// Longest version text that is read; known ones have 18 bytes.
const VERSION_BYTES_MAX: usize = 32;

/// The start of a text profile; a digit and a comma follow.
const TEXT_MAGIC: &[u8] = b"JAVA PROFILE 1.0.";

/// Bytes by which text and binary differ: `JAVA PROFILE 1.0.1`, and the one after it.
pub(crate) const KIND_BYTES: usize = TEXT_MAGIC.len() + 2;

/// Whether the start of a file is that of a text profile, which the JDK's agent wrote with
/// `format=a`.
pub(crate) fn is_text(start: &[u8]) -> bool {
    start.starts_with(TEXT_MAGIC) && start.get(KIND_BYTES - 1) == Some(&b',')
}

/// Version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// `JAVA PROFILE 1.0.1`: the heap is one HEAP DUMP record.
    V1_0_1,
    /// `JAVA PROFILE 1.0.2`: the heap may be split in HEAP DUMP SEGMENT records.
    #[default]
    V1_0_2,
    /// `JAVA PROFILE 1.0.3`: Android, with sub-records of its own.
    V1_0_3,
}

impl Version {
    /// The version number as in the file, for example `1.0.2`.
    pub fn number(self) -> &'static str {
        match self {
            Self::V1_0_1 => "1.0.1",
            Self::V1_0_2 => "1.0.2",
            Self::V1_0_3 => "1.0.3",
        }
    }

    fn from_text(text: &[u8]) -> Option<Self> {
        match text {
            _ if text == format::HEADER_1_0_1 => Some(Self::V1_0_1),
            _ if text == format::HEADER_1_0_2 => Some(Self::V1_0_2),
            _ if text == format::HEADER_1_0_3 => Some(Self::V1_0_3),
            _ => None,
        }
    }
}

/// The file header (format text: "The binary output begins with the information").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the format.
    pub version: Version,
    /// Bytes of one identifier, 4 or 8.
    pub id_bytes: u32,
    /// Milliseconds since 1970-01-01 UTC; 0 if the writer left it out.
    pub time_millis: u64,
}

impl Header {
    /// Reads the header and sets the source's identifier size.
    ///
    /// Errors: [`ReadError::NotHprof`], [`ReadError::IdSize`], a file that ends too early, I/O.
    pub fn read(from: &mut Source<'_>) -> Result<Self, ReadError> {
        let version = read_version(from)?;
        let id_bytes = U4::read(from)?;
        if id_bytes != 4 && id_bytes != 8 {
            return Err(ReadError::IdSize { id_bytes });
        }
        from.set_id_bytes(id_bytes);
        let time_millis = U8::read(from)?;
        Ok(Self {
            version,
            id_bytes,
            time_millis,
        })
    }
}

fn read_version(from: &mut Source<'_>) -> Result<Version, ReadError> {
    let mut text = Vec::with_capacity(VERSION_BYTES_MAX);
    while text.len() < VERSION_BYTES_MAX {
        match U1::read(from) {
            Ok(0) => break,
            Ok(byte) => text.push(byte),
            Err(fault) if fault.is_shortage() => return Err(ReadError::NotHprof),
            Err(fault) => return Err(fault),
        }
    }
    if is_text(&text) {
        return Err(ReadError::TextProfile);
    }
    Version::from_text(&text).ok_or(ReadError::NotHprof)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Header, ReadError> {
        Header::read(&mut Source::new(Box::new(bytes)))
    }

    #[test]
    fn the_three_versions_are_known() {
        for (text, version) in [
            ("JAVA PROFILE 1.0.1", Version::V1_0_1),
            ("JAVA PROFILE 1.0.2", Version::V1_0_2),
            ("JAVA PROFILE 1.0.3", Version::V1_0_3),
        ] {
            let mut bytes = text.as_bytes().to_vec();
            bytes.extend([0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9]);
            let header = read(&bytes).unwrap();
            assert_eq!(
                (header.version, header.id_bytes, header.time_millis),
                (version, 4, 9)
            );
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert!(matches!(read(b""), Err(ReadError::NotHprof)));
        assert!(matches!(read(&[b'J'; 100]), Err(ReadError::NotHprof)));
        assert!(matches!(
            read(b"JAVA PROFILE 1.0.1, created Sat Nov 21 20:49:18 2026\n"),
            Err(ReadError::TextProfile)
        ));
        let odd = b"JAVA PROFILE 1.0.2\0\0\0\0\x05\0\0\0\0\0\0\0\0";
        assert!(matches!(read(odd), Err(ReadError::IdSize { id_bytes: 5 })));
        assert!(matches!(
            read(b"JAVA PROFILE 1.0.2\0\0\0"),
            Err(ReadError::Truncated { .. })
        ));
    }
}
