//! Why a text is missing or incomplete.

use std::fmt;
use std::io;

use reader::ReadError;

/// The reason why the text is missing or incomplete.
#[derive(Debug)]
pub enum TextError {
    /// The file cannot be read, is not an HPROF file, or needs too much memory.
    Read(ReadError),
    /// The text cannot be written.
    Write(io::Error),
}

impl From<ReadError> for TextError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<io::Error> for TextError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(out),
            Self::Write(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for TextError {}
