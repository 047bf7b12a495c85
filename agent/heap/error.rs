//! Why a heap dump was not made: one sentence for the user.

use crate::jvmti::error::JvmtiError;
use std::fmt;
use std::time::Duration;
use writer::WriteError;

/// Why a heap dump was not made. The application is unharmed in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DumpError {
    /// The JVM refused a call that the dump cannot do without.
    Jvm {
        /// What the call was for.
        what: &'static str,
        /// The JVM's answer.
        error: JvmtiError,
    },
    /// The JVM does not offer something that the dump cannot do without.
    Missing(&'static str),
    /// A class of the JDK's that the check of the JVM needs is not loaded, or makes no objects; its descriptor.
    Unmade(&'static str),
    /// The heap has no room for the objects that the agent makes there.
    FullHeap,
    /// The file could not be written.
    Write(WriteError),
    /// The file could not be written by the child, which tells why.
    Child(String),
    /// The heap's copy holds what no sound heap holds; what.
    Damaged(String),
    /// The engine that was asked for cannot serve here; why.
    Engine(String),
    /// There was no forked copy, or it did not live to the end; why. The application was not stopped for another way.
    NoCopy(String),
    /// Only a walk that stops the application could serve, and the user does not want that.
    WouldStop {
        /// Why there can be no forked copy.
        why: String,
        /// How long the application would stand still, if the JVM tells how much heap it uses.
        estimate: Option<Duration>,
    },
    /// No memory for the table of objects, or more objects than it can number.
    TableFull,
    /// The walk took so much memory that the application could come to lack it.
    LittleMemory {
        /// What the machine or the control group had left.
        left_bytes: u64,
    },
    /// HotSpot would take more memory to walk the stacks than the application can do without.
    DeepStacks {
        /// How many frames there are on all stacks.
        frames: usize,
        /// What it would take for them.
        bytes: u64,
        /// What the machine or the control group had left.
        left_bytes: u64,
    },
    /// The JVM told of an object's references in two pieces: the file holds each object once.
    InPieces,
    /// The JVM told of a field or an element that the object's class does not have.
    Layout(&'static str),
    /// A class was unloaded while it was in the dump. Another try may do better.
    ClassGone,
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jvm { what, error } => write!(f, "the JVM refused {what}: {error}"),
            Self::Missing(what) => write!(f, "the JVM does not offer {what}"),
            Self::Unmade(class) => write!(f, "no object of {class} can be created, which the check of the heap layout needs; try again after a collection"),
            Self::FullHeap => f.write_str(
                "the heap is too full for the few objects that the agent makes there if it was not loaded at the start with heap=dump, \
                 or if classes were loaded since that must be linked; try again after a collection",
            ),
            Self::Write(error) => error.fmt(f),
            Self::Child(why) => f.write_str(why),
            Self::Damaged(what) => write!(
                f,
                "the heap seems to be damaged: {what}; no other engine is tried, as it would read the heap inside the application"
            ),
            Self::Engine(why) => write!(
                f,
                "the engine that was asked for cannot serve here: {why}; without engine= and snapshot= the agent takes another"
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
                "the JVM would take some {} MiB of memory to look through the {frames} frames of all stacks, and only {} MiB are \
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

/// For a sentence that ends in "would stop the application".
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

/// Names what a JVM call was for, should it fail.
pub(super) trait For<T> {
    /// The value, or an error that says what the call was for.
    fn when(self, what: &'static str) -> Result<T, DumpError>;
}

impl<T> For<T> for Result<T, JvmtiError> {
    fn when(self, what: &'static str) -> Result<T, DumpError> {
        self.map_err(|error| DumpError::Jvm { what, error })
    }
}
