//! Why a heap dump was not made: one sentence for the user.

use crate::jvmti::error::JvmtiError;
use std::fmt;
use std::time::Duration;
use writer::WriteError;

/// Why a heap dump was not made. The application is unharmed in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DumpError {
    /// The JVM refused a call that the dump needs.
    Jvm {
        /// The purpose of the call.
        what: &'static str,
        /// The JVM's answer.
        error: JvmtiError,
    },
    /// The JVM lacks something that the dump needs.
    Missing(&'static str),
    /// A JDK class that the check of the JVM needs is not loaded, or cannot be instantiated; its
    /// descriptor.
    Unmade(&'static str),
    /// The heap has no room for the agent's own objects.
    FullHeap,
    /// The file could not be written.
    Write(WriteError),
    /// The child could not write the file; the reason.
    Child(String),
    /// The copied heap is corrupt; the finding.
    Damaged(String),
    /// The requested engine does not work here; the reason.
    Engine(String),
    /// The fork failed, or the child died; the reason. The application was not stopped for another
    /// way.
    NoCopy(String),
    /// Only a walk that stops the application would work, and the user does not allow one.
    WouldStop {
        /// Why the heap cannot be copied by a fork.
        why: String,
        /// How long the application would pause; `None` if the JVM does not say how much heap it
        /// uses.
        estimate: Option<Duration>,
    },
    /// There is no memory for the table of objects, or there are more objects than it can number.
    TableFull,
    /// The walk used so much memory that the application might run short.
    LittleMemory {
        /// Bytes that the machine or the control group had left.
        left_bytes: u64,
    },
    /// HotSpot would need more memory to walk the stacks than the application can spare.
    DeepStacks {
        /// Frames on all stacks together.
        frames: usize,
        /// Bytes that they would need.
        bytes: u64,
        /// Bytes that the machine or the control group had left.
        left_bytes: u64,
    },
    /// The JVM reported an object's references in two separate runs, but the file holds each object
    /// once.
    InPieces,
    /// The JVM reported a field or an element that the object's class does not have.
    Layout(&'static str),
    /// A class in the dump was unloaded. Another attempt may succeed.
    ClassGone,
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jvm { what, error } => write!(f, "the JVM refused {what}: {error}"),
            Self::Missing(what) => write!(f, "the JVM does not offer {what}"),
            Self::Unmade(class) => write!(f, "no object of {class} can be created, which the check of the heap layout needs; try again after a collection"),
            Self::FullHeap => f.write_str(
                "the heap is too full for the few objects that the agent needs: heap=dump at the start of the JVM creates them, \
                 but classes loaded since then may need more; try again after a collection",
            ),
            Self::Write(error) => error.fmt(f),
            Self::Child(why) => f.write_str(why),
            Self::Damaged(what) => write!(
                f,
                "the heap seems to be damaged: {what}; no other engine is tried, because it would read the heap inside the application"
            ),
            Self::Engine(why) => write!(
                f,
                "the requested engine does not work here: {why}; without engine= and snapshot= the agent chooses another"
            ),
            Self::NoCopy(why) => write!(
                f,
                "{why}; the application ran on; try again, or add stop=y to have it stopped for as long as a walk over its heap takes"
            ),
            Self::WouldStop { why, estimate } => write!(
                f,
                "{why}, so a dump would stop the application{}; add stop=y if it may",
                estimate_text(*estimate)
            ),
            Self::TableFull => f.write_str(
                "there is no memory for the table of objects; free some, or dump a smaller heap",
            ),
            Self::LittleMemory { left_bytes } => write!(
                f,
                "only {} MiB of memory are left, which the application may need; raise its limit, or dump a smaller heap",
                left_bytes >> 20
            ),
            Self::DeepStacks {
                frames,
                bytes,
                left_bytes,
            } => write!(
                f,
                "the JVM would need about {} MiB of memory to walk the {frames} frames of all stacks, but only {} MiB are \
                 left, which the application may need; raise its limit, or dump while fewer threads run",
                bytes >> 20,
                left_bytes >> 20
            ),
            Self::InPieces => {
                f.write_str("the JVM reported one object twice, which the agent cannot write; please report it")
            }
            Self::Layout(what) => write!(
                f,
                "the JVM reported {what} that is not in its class, so the dump would be wrong; please report it"
            ),
            Self::ClassGone => f.write_str(
                "classes were unloaded again and again while the dump was made; try later",
            ),
        }
    }
}

/// Text for a sentence that ends in "would stop the application".
pub(super) fn estimate_text(estimate: Option<Duration>) -> String {
    estimate.map_or_else(String::new, |estimate| {
        format!(
            " for up to {} s, by an estimate from the heap in use",
            estimate.as_secs().max(1)
        )
    })
}

impl From<WriteError> for DumpError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

impl From<tables::TableFull> for DumpError {
    fn from(_: tables::TableFull) -> Self {
        Self::TableFull
    }
}

/// Adds the purpose of a JVM call to its error.
pub(super) trait For<T> {
    /// The value, or an error that names the purpose of the call.
    fn when(self, what: &'static str) -> Result<T, DumpError>;
}

impl<T> For<T> for Result<T, JvmtiError> {
    fn when(self, what: &'static str) -> Result<T, DumpError> {
        self.map_err(|error| DumpError::Jvm { what, error })
    }
}
