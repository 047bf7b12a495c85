//! The reasons why a snapshot gives no dump. The child sends this to the parent.

use std::io;
use tables::ClassId;
use writer::WriteError;

/// The reason why the child cannot write the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Calibration cannot explain the known objects of the heap; the check that failed.
    Unexplained(&'static str),
    /// An object's class is not in the tables, because it was loaded after they were filled.
    /// Another attempt may succeed.
    UnknownClass,
    /// These classes have instances but are not linked, so their fields are unknown. Linking them
    /// helps.
    Unlinked(Vec<ClassId>),
    /// An object's header does not lead to a class.
    NoClass(u64),
    /// An object reaches into a part of the heap that was left out because HotSpot reported it as
    /// unused.
    LeftOut(u64),
    /// An object's class has no mirror.
    NoMirror,
    /// The collector is moving objects.
    Moving,
    /// A reference points outside the heap.
    OutsideOfHeap(u64),
    /// An array's length reaches past the end of the heap.
    TooLong(u64),
    /// The file could not be written.
    Write(WriteError),
    /// Too little memory is left for the application.
    LittleMemory {
        /// Bytes that the machine or the control group had left.
        left_bytes: u64,
    },
    /// The child cannot allocate the memory that it needs itself.
    NoMemory,
    /// The child cannot start a thread; the reason.
    NoThread(String),
    /// The system refused what the child needs; the error.
    Refused(String),
    /// The parent does not answer.
    NoAnswer,
    /// HotSpot's walk ended before it had reached every virtual thread that has frames.
    NoFrames,
    /// The first virtual thread was created after the check for virtual threads. Another attempt
    /// may succeed.
    FirstVirtualThread,
    /// HotSpot waits for a lock held by a thread that does not exist in the child. Another attempt
    /// may succeed.
    Stuck,
    /// HotSpot's data about compiled frames cannot be explained. Another attempt may do without it.
    OopMaps,
    /// A fault in the agent's own code.
    Fault,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}
