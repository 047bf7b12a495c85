//! The errors of the translation of HotSpot's dump.

use reader::ReadError;
use std::fmt;
use tables::TableFull;
use writer::WriteError;

/// The reason why HotSpot's dump could not be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranslateError {
    /// Our file could not be written.
    Write(WriteError),
    /// HotSpot's file cannot be read, for this reason.
    Unreadable(String),
    /// There is no memory for the rows of threads.
    TableFull,
    /// Too little memory is left for the application.
    LittleMemory {
        /// Bytes that are left.
        left_bytes: u64,
    },
}

impl TranslateError {
    /// The error for an unreadable file, with this reason.
    pub(crate) fn unreadable(finding: &str) -> Self {
        Self::Unreadable(finding.to_owned())
    }
}

impl fmt::Display for TranslateError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(error) => error.fmt(out),
            Self::Unreadable(finding) => out.write_str(finding),
            Self::TableFull => TableFull.fmt(out),
            Self::LittleMemory { left_bytes } => write!(out, "{left_bytes} bytes"),
        }
    }
}

impl std::error::Error for TranslateError {}

impl From<WriteError> for TranslateError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

impl From<ReadError> for TranslateError {
    fn from(error: ReadError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl From<TableFull> for TranslateError {
    fn from(_: TableFull) -> Self {
        Self::TableFull
    }
}
