//! What became of a copy, or why there is none.

use crate::{Damage, DamageKind, DumpReader, Event, ReadError};
use std::io;

/// The number of redacted items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// Primitive arrays filled with zeros.
    pub arrays: u64,
    /// Objects other than arrays with a primitive field set to zero, and classes with such a static
    /// field.
    pub objects: u64,
    /// Texts replaced by stars.
    pub texts: u64,
    /// Patterns of `keep` and `drop` that match no field of the dump.
    pub unmatched: Vec<String>,
}

/// The reason why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// The file cannot be read, is no binary HPROF file, or needs too much memory.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file is damaged here.
    #[error("it is damaged at offset {:#x} ({}), and what cannot be read cannot be redacted; hprof check tells more", .0.offset, .0.kind)]
    Damaged(Damage),
    /// The file ends before the end of its heap dump.
    #[error("it is not whole: its heap dump has no end")]
    NotEnded,
    /// The file does not show which arrays belong to strings.
    #[error("it has no field java.lang.String.value, so the arrays of strings are unknown; use --redact arrays")]
    NoStrings,
    /// The copy cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// The next event of a file that must be complete.
pub(super) fn next(dump: &mut DumpReader<'_>) -> Result<Option<Event>, RedactError> {
    match dump.next_event()? {
        // The sub-records are there nevertheless.
        Some(Event::Damage(Damage {
            kind: DamageKind::HeapLengthZero | DamageKind::HeapLengthShort,
            ..
        })) => next(dump),
        Some(Event::Damage(damage)) => Err(RedactError::Damaged(damage)),
        event => Ok(event),
    }
}
