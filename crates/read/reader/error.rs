//! The errors that stop the reading of a file.

use std::fmt;
use std::io;

/// An error that stops the reading of a file, with its offset.
#[derive(Debug)]
pub enum ReadError {
    /// The operating system, or the decompression, failed.
    Io {
        /// Offset of the missing bytes.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The file ends too early.
    Truncated {
        /// Offset of the first incomplete item.
        offset: u64,
    },
    /// A field extends past the end of its record.
    PastLimit {
        /// Offset at which the field would start.
        offset: u64,
    },
    /// A sub-record has a type that no basic type is. [`crate::DumpReader`] reports it as damage.
    UnknownType {
        /// The type's number.
        code: u8,
    },
    /// The first bytes are not those of an HPROF file.
    NotHprof,
    /// The file is a text profile, which [`crate::TextReader`] reads.
    TextProfile,
    /// The tables built from the file would take more memory than its size allows, see
    /// [`crate::Budget`].
    TooMuch {
        /// The limit.
        limit_bytes: u64,
    },
    /// The header has an identifier size other than 4 and 8.
    IdSize {
        /// The size in the header.
        id_bytes: u32,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { offset, source } => write!(f, "cannot read at offset {offset:#x}: {source}"),
            Self::Truncated { offset } => {
                write!(f, "the file ends at offset {offset:#x}, inside a record")
            }
            Self::PastLimit { offset } => {
                write!(f, "the record ends before the field at offset {offset:#x}")
            }
            Self::UnknownType { code } => write!(f, "no basic type has the number {code}"),
            Self::NotHprof => write!(
                f,
                "not an HPROF file: it does not begin with \"JAVA PROFILE 1.0.x\""
            ),
            Self::TextProfile => write!(
                f,
                "a text profile (format=a): only hprof sites and hprof convert read it"
            ),
            Self::TooMuch { limit_bytes } => write!(
                f,
                "its names, stacks and ids would take more than {} MiB of memory, far more than in a dump of its size \
                 that a JVM wrote",
                limit_bytes >> 20
            ),
            Self::IdSize { id_bytes } => {
                write!(
                    f,
                    "the header gives identifiers {id_bytes} bytes; only 4 and 8 are possible"
                )
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl ReadError {
    /// Whether bytes are missing, as opposed to an I/O failure: the reader then continues after the
    /// record, or ends.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::PastLimit { .. })
    }
}
