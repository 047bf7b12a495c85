//! Why a text is missing or incomplete.

use std::io;

use reader::ReadError;

/// The reason why the text is missing or incomplete.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The file cannot be read, is not an HPROF file, or needs too much memory.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The text cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
}
