//! Copies a dump with zeros in place of values that nobody else may see. All other bytes stay, and so do lengths and
//! references: every reader reads the copy as it reads the dump.
//!
//! [`redact`] reads the file two to four times: [`survey`] finds what fields there are and which arrays they decide over,
//! [`copy`] writes. A file that is not whole, or that has records of unknown kinds, is refused: what cannot be read may
//! hold anything.
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

/// What was redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// Arrays of primitive types that have zeros.
    pub arrays: u64,
    /// Objects, not counting arrays, with a primitive field that has a zero, and classes with such a static field.
    pub objects: u64,
    /// Texts that have stars.
    pub texts: u64,
    /// Patterns of `keep` and `drop` that fit no field of the dump.
    pub unmatched: Vec<String>,
}

/// Why there is no copy.
#[derive(Debug)]
pub enum RedactError {
    /// The file cannot be read, is no binary HPROF file, or needs too much memory.
    Read(ReadError),
    /// The file is damaged here.
    Damaged(Damage),
    /// The file ends before its heap dump does.
    NotEnded,
    /// The file does not tell which arrays belong to strings.
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
                "it does not tell which arrays belong to strings: it has no field java.lang.String.value; take --redact arrays",
            ),
            Self::Write(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for RedactError {}

/// Copies the file to `out`. On an error, what was written must be thrown away.
pub fn redact(
    open: &mut Open<'_, '_>,
    redaction: &Redaction,
    budget: Budget,
    out: &mut dyn Write,
) -> Result<Redacted, RedactError> {
    let survey = Survey::take(open, redaction, budget)?;
    copy::copy(open, &survey, out)
}

/// The next event of a file that must be whole.
fn next(dump: &mut DumpReader<'_>) -> Result<Option<Event>, RedactError> {
    match dump.next_event()? {
        // Sub-records follow all the same.
        Some(Event::Damage(Damage {
            kind: DamageKind::HeapLengthZero,
            ..
        })) => next(dump),
        Some(Event::Damage(damage)) => Err(RedactError::Damaged(damage)),
        event => Ok(event),
    }
}
