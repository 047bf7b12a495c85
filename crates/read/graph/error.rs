//! The errors of reading a dump as a graph.

use std::io;

use reader::ReadError;

/// The reason why a dump cannot be read as a graph.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[source] ReadError),
    /// The dump has 2^32 objects or more.
    #[error("the dump has more than 4,294,967,293 objects; this version cannot number them")]
    TooManyObjects,
    /// A graph stream of another version than this library reads.
    #[error("the agent speaks another version than this command; use the library libhprof_rs.so that came with the command")]
    OtherStream,
    /// The file has no heap dump: it is a profile, or contains only stacks.
    #[error("the file has no heap dump")]
    NoHeap,
}

/// Passes of a graph read a file in no order that a user could follow: they name no offsets.
impl From<ReadError> for GraphError {
    fn from(fault: ReadError) -> Self {
        match fault {
            ReadError::Io { source, .. } => source.into(),
            other => Self::Read(other),
        }
    }
}

impl From<io::Error> for GraphError {
    fn from(source: io::Error) -> Self {
        Self::Read(ReadError::Io { offset: 0, source })
    }
}
