//! Copies a dump with zeros in place of confidential values. All other bytes stay, and so do
//! lengths and references: every reader reads the copy like the dump. One record is added, which
//! says that values are missing.
//!
//! [`redact`] reads the file two to four times: [`survey`] finds the fields and the arrays about
//! which they decide, [`copy`] writes. A file that is truncated, damaged or has unknown records is
//! refused, because unread parts could contain anything.
#![forbid(unsafe_code)]

mod blanks;
mod copy;
mod plan;
mod survey;

use std::fmt;
use std::io::{self, Read, Write};

use format::redaction::Redaction;
use reader::{Budget, Damage, DamageKind, DumpReader, Event, ReadError};

use survey::Survey;

/// Opens the file's uncompressed bytes anew for each pass.
pub type Open<'o, 'r> = dyn FnMut() -> io::Result<Box<dyn Read + 'r>> + 'o;

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
#[derive(Debug)]
pub enum RedactError {
    /// The file cannot be read, is no binary HPROF file, or needs too much memory.
    Read(ReadError),
    /// The file is damaged here.
    Damaged(Damage),
    /// The file ends before the end of its heap dump.
    NotEnded,
    /// The file does not show which arrays belong to strings.
    NoStrings,
    /// The copy cannot be written.
    Write(io::Error),
}

impl From<ReadError> for RedactError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<io::Error> for RedactError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

impl fmt::Display for RedactError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(out),
            Self::Damaged(damage) => write!(
                out,
                "it is damaged at offset {:#x} ({}), and what cannot be read cannot be redacted; hprof check tells more",
                damage.offset, damage.kind
            ),
            Self::NotEnded => out.write_str("it is not whole: its heap dump has no end"),
            Self::NoStrings => out.write_str(
                "it has no field java.lang.String.value, so the arrays of strings are unknown; use --redact arrays",
            ),
            Self::Write(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for RedactError {}

/// Copies the file to `out`. After an error, the caller must discard the output.
pub fn redact(
    open: &mut Open<'_, '_>,
    redaction: &Redaction,
    budget: Budget,
    out: &mut dyn Write,
) -> Result<Redacted, RedactError> {
    let survey = Survey::take(open, redaction, budget)?;
    copy::copy(open, &survey, out)
}

/// The next event of a file that must be complete.
fn next(dump: &mut DumpReader<'_>) -> Result<Option<Event>, RedactError> {
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
