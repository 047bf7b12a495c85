//! The errors that stop the reading of a file.

use std::io;

/// An error that stops the reading of a file, with its offset.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system, or the decompression, failed.
    #[error("cannot read at offset {offset:#x}: {source}")]
    Io {
        /// Offset of the missing bytes.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The file ends too early.
    #[error("the file ends at offset {offset:#x}, inside a record")]
    Truncated {
        /// Offset of the first incomplete item.
        offset: u64,
    },
    /// A field extends past the end of its record.
    #[error("the record ends before the field at offset {offset:#x}")]
    PastLimit {
        /// Offset at which the field would start.
        offset: u64,
    },
    /// A sub-record has a type that no basic type is. [`crate::DumpReader`] reports it as damage.
    #[error("no basic type has the number {code}")]
    UnknownType {
        /// The type's number.
        code: u8,
    },
    /// The first bytes are not those of an HPROF file.
    #[error("not an HPROF file: it does not begin with \"JAVA PROFILE 1.0.x\"")]
    NotHprof,
    /// The file is a text profile, which [`crate::TextReader`] reads.
    #[error("a text profile (format=a): only hprof sites and hprof convert read it")]
    TextProfile,
    /// The tables built from the file would take more memory than its size allows, see
    /// [`crate::Budget`].
    #[error(
        "its names, stacks and ids would take more than {} MiB of memory, far more than in a \
         dump of its size that a JVM wrote",
        limit_bytes >> 20
    )]
    TooMuch {
        /// The limit.
        limit_bytes: u64,
    },
    /// The header has an identifier size other than 4 and 8.
    #[error("the header gives identifiers {id_bytes} bytes; only 4 and 8 are possible")]
    IdSize {
        /// The size in the header.
        id_bytes: u32,
    },
}

impl ReadError {
    /// Whether bytes are missing, as opposed to an I/O failure: the reader then continues after the
    /// record, or ends.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Self::Truncated { .. } | Self::PastLimit { .. })
    }
}
