//! Why a snapshot gave no dump, told by the child to the parent.

use tables::ClassId;
use writer::WriteError;

/// What keeps a child from writing the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// What is known of the heap could not be explained; the check that failed.
    Unexplained(&'static str),
    /// An object's class is not in the catalogue: it was loaded after that. Another try may do better.
    UnknownClass,
    /// There are instances of classes that are not linked: their fields must be asked for first.
    Unlinked(Vec<ClassId>),
    /// An object's header tells of no class.
    NoClass(u64),
    /// An object reaches into a part of the heap that HotSpot called unused, so that it was left out.
    LeftOut(u64),
    /// An object's class has no mirror.
    NoMirror,
    /// The collector is moving objects.
    Moving,
    /// A reference leads out of the heap.
    OutsideOfHeap(u64),
    /// An array is said to end where the heap has ended.
    TooLong(u64),
    /// The file could not be written.
    Write(WriteError),
    /// Too little memory is left for the application.
    LittleMemory {
        /// What the machine or the control group had left.
        left_bytes: u64,
    },
    /// The child has no memory for what it needs itself.
    NoMemory,
    /// The child cannot start a thread; why.
    NoThread(String),
    /// The parent does not answer.
    NoAnswer,
    /// HotSpot's walk has ended without having come to every virtual thread that has frames.
    NoFrames,
    /// The first virtual thread was made after the look whether there are any. Another try may do better.
    FirstVirtualThread,
    /// HotSpot waits for a lock that a thread held which is not there. Another try may do better.
    Stuck,
    /// A fault in the agent's own code.
    Fault,
}
