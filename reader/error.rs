//! Why a file cannot be read on.

use std::fmt;
use std::io;

/// What stops the reading of a file, with the offset where it happened.
#[derive(Debug)]
pub enum ReadError {
    /// The operating system, or the decompression, failed.
    Io {
        /// Where the bytes were missing.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file ends inside something.
    Truncated {
        /// The first byte that could not be read whole.
        offset: u64,
    },
    /// A field lies behind the end of its record.
    PastLimit {
        /// Where the field would begin.
        offset: u64,
    },
    /// The first bytes are not those of an HPROF file.
    NotHprof,
    /// The file is a text profile, which [`crate::TextReader`] reads.
    TextProfile,
    /// The tables built from the file would take more memory than its size allows, see [`crate::Budget`].
    TooMuch {
        /// The limit.
        limit_bytes: u64,
    },
    /// The header names a size of identifiers other than 4 and 8.
    IdSize {
        /// The size that the header names.
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
            Self::NotHprof => write!(
                f,
                "not an HPROF file: it does not begin with \"JAVA PROFILE 1.0.x\""
            ),
            Self::TextProfile => write!(
                f,
                "a text profile (format=a): only hprof sites and hprof flame read it"
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
    /// Whether bytes are missing (against an I/O failure): the reader then goes on behind the record, or ends.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::PastLimit { .. })
    }
}
