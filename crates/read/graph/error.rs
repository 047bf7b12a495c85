//! The errors of reading a dump as a graph.

use std::fmt;
use std::io;

use reader::ReadError;

/// The reason why a dump cannot be read as a graph.
#[derive(Debug)]
pub enum GraphError {
    /// The file cannot be read.
    Read(ReadError),
    /// The dump has 2^32 objects or more.
    TooManyObjects,
    /// A graph stream of another version than this library reads.
    OtherStream,
    /// The file has no heap dump: it is a profile, or contains only stacks.
    NoHeap,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(fault) => fault.fmt(f),
            Self::TooManyObjects => write!(
                f,
                "the dump has more than 4,294,967,293 objects; this version cannot number them"
            ),
            Self::OtherStream => write!(
                f,
                "the agent speaks another version than this command; use the library libhprof_rs.so that came with the command"
            ),
            Self::NoHeap => write!(f, "the file has no heap dump"),
        }
    }
}

impl std::error::Error for GraphError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(fault) => Some(fault),
            _ => None,
        }
    }
}

impl From<ReadError> for GraphError {
    fn from(fault: ReadError) -> Self {
        Self::Read(fault)
    }
}

impl From<io::Error> for GraphError {
    fn from(source: io::Error) -> Self {
        Self::Read(ReadError::Io { offset: 0, source })
    }
}
