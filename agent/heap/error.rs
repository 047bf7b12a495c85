//! Why a heap dump was not made: one sentence for the user.

use format::answer::Refusal;
use hotspot::Uncopied;
use jvm::error::JvmtiError;
use std::path::PathBuf;
use std::time::Duration;
use tables::{ClassId, TableFull};
use thiserror::Error;
use writer::WriteError;

/// Why a heap dump was not made. The application is unharmed in every case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum DumpError {
    /// The JVM refused a call that the dump needs.
    #[error("the JVM refused {what}: {error}")]
    Jvm {
        /// The purpose of the call.
        what: &'static str,
        /// The JVM's answer.
        error: JvmtiError,
    },
    /// The JVM lacks something that the dump needs.
    #[error("the JVM does not offer {0}")]
    Missing(&'static str),
    /// A JDK class that the check of the JVM needs is not loaded, or cannot be instantiated; its
    /// descriptor.
    #[error("no object of {0} can be created, which the check of the heap layout needs; try again after a collection")]
    Unmade(&'static str),
    /// The heap has no room for the agent's own objects.
    #[error(
        "the heap is too full for the few objects that the agent needs: heap=dump at the start of the JVM creates them, \
         but classes loaded since then may need more; try again after a collection"
    )]
    FullHeap,
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The child could not write the file; the reason.
    #[error("{0}")]
    Child(String),
    /// The copied heap is corrupt; the finding. If the child lacked the parts that HotSpot reports
    /// as unused, another attempt with the whole heap may succeed.
    #[error(
        "the heap seems to be damaged: {0}; nothing else is tried, because it would read the heap inside the application"
    )]
    Damaged(String),
    /// Another fork may succeed.
    #[error("the fork came at a bad moment; try again")]
    Again(Again),
    /// The requested engine does not work here, or this heap can never be read from a copy; the
    /// reason, as the end of a sentence.
    #[error(
        "there is no way to dump this heap with these options: {0}; without stop=always the agent forks the heap"
    )]
    Engine(String),
    /// There can be no forked copy, so no graph can be sent; the reason.
    #[error("{0}, and only a forked copy can be sent")]
    NoGraph(String),
    /// There can be no forked copy, so nothing can be left out; the reason.
    #[error(
        "{0}, and only a forked copy is redacted before it is written; dump without redact=, drop=, primfields=n and \
         primarrays=n, and let hprof convert --redact make a copy of the dump"
    )]
    NoRedaction(String),
    /// The fork failed, the child died, or the system did not tell what a fork must know; the
    /// reason, as the start of a sentence. Another dump may succeed. The application was not
    /// stopped for another way.
    #[error(
        "{0}; the application ran on; try again, or add stop=y to have it stopped for as long as HotSpot's own dump takes"
    )]
    NoCopy(String),
    /// Only HotSpot's dumper, which stops the application, would work, and the user does not allow
    /// it.
    #[error(
        "{why}, so a dump would stop the application{}; add stop=y if it may",
        estimate_text(*.estimate)
    )]
    WouldStop {
        /// Why the heap cannot be copied by a fork.
        why: String,
        /// How long the application would pause; `None` if the JVM does not report how much heap it
        /// uses.
        estimate: Option<Duration>,
    },
    /// A fork would stop the application for longer than the user allows.
    #[error(
        "a fork would stop the application for {} ms, by an estimate from the pages of the process, after {} ms for \
         attempts that failed, and maxpause={} allows less; raise it",
        .estimate.as_millis(), .paused.as_millis(), .limit.as_millis()
    )]
    LongFork {
        /// How long it would take.
        estimate: Duration,
        /// How long the attempts before have taken.
        paused: Duration,
        /// The user's limit.
        limit: Duration,
    },
    /// HotSpot's walk over the stacks took so long that no time was left for the fork.
    #[error(
        "the JVM examined the stacks of all threads for {} ms, and maxpause={} leaves too little time for the fork; \
         raise it, try again, or dump while fewer threads run",
        .paused.as_millis(), .limit.as_millis()
    )]
    LongWalk {
        /// How long the application stood still, all attempts together.
        paused: Duration,
        /// The user's limit.
        limit: Duration,
    },
    /// HotSpot's dumper may stop the application for longer than the user allows.
    #[error(
        "HotSpot's own dumper would stop the application{}, and maxpause={} allows less; raise it",
        estimate_text(*.estimate), .limit.as_millis()
    )]
    LongDumper {
        /// How long it may take; `None` if the JVM does not report how much heap it uses.
        estimate: Option<Duration>,
        /// The user's limit.
        limit: Duration,
    },
    /// There is no memory for the table of objects, or there are more objects than it can number.
    #[error("there is no memory for the table of objects; free some, or dump a smaller heap")]
    TableFull(#[from] TableFull),
    /// The dump used so much memory that the application might run short.
    #[error(
        "only {} MiB of memory are left, which the application may need; raise its limit, or dump a smaller heap",
        .left_bytes >> 20
    )]
    LittleMemory {
        /// Bytes that the machine or the control group had left.
        left_bytes: u64,
    },
    /// `hprof leaks` would need more memory than the application can spare.
    #[error(
        "hprof would need about {} MiB of memory for {objects} objects, but only {} MiB are left, which the \
         application may need; raise its limit, or use do=histo",
        .needed_bytes >> 20, .left_bytes >> 20
    )]
    SmallRoom {
        /// Objects that something refers to.
        objects: u64,
        /// Bytes that they would need.
        needed_bytes: u64,
        /// Bytes that the machine or the control group had left.
        left_bytes: u64,
    },
    /// HotSpot would need more memory to walk the stacks than the application can spare.
    #[error(
        "the JVM would need about {} MiB of memory to walk the {frames} frames of all stacks, but only {} MiB are \
         left, which the application may need; raise its limit, or dump while fewer threads run",
        .bytes >> 20, .left_bytes >> 20
    )]
    DeepStacks {
        /// Frames on all stacks together.
        frames: usize,
        /// Bytes that they would need.
        bytes: u64,
        /// Bytes that the machine or the control group had left.
        left_bytes: u64,
    },
    /// HotSpot's own dumper failed; the reason.
    #[error(
        "HotSpot's own dumper, which writes a file of its own beside the dump first, failed: {0}"
    )]
    Dumper(String),
    /// HotSpot's own dump cannot be read; the reason.
    #[error("HotSpot's own dumper wrote a file that cannot be read: {0}; please report it")]
    Unreadable(String),
    /// HotSpot's own dump may not fit the disk.
    #[error(
        "HotSpot's own dumper may need {} MB for {}, and the disk has {} MB left; free some, or choose another folder",
        .needed_bytes / 1_000_000, .path.display(), .free_bytes / 1_000_000
    )]
    SmallDisk {
        /// Where it would be written.
        path: PathBuf,
        /// Bytes of heap in use.
        needed_bytes: u64,
        /// Bytes that the disk has left.
        free_bytes: u64,
    },
    /// The JVM reported a field that the object's class does not have.
    #[error(
        "the JVM reported {0} that is not in its class, so the dump would be wrong; please report it"
    )]
    Layout(&'static str),
}

/// Why another fork may succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// A class was loaded in between, or the first virtual thread was created.
    UnknownClass,
    /// Classes with instances were not linked, and now they are.
    Unlinked(Vec<ClassId>),
    /// A lock of HotSpot was held at the fork.
    Stuck,
    /// The collector was moving objects.
    Moving,
    /// The walk had to wait, for its turn or for a processor, until the fork might have come too
    /// late.
    Waited,
    /// The filter of HotSpot's walk was not found.
    LostFilter,
    /// The oop maps of compiled frames could not be explained.
    OopMaps,
    /// The heap outgrew the room for its image.
    Grown,
    /// The system did not tell where the heap is; the error.
    Unread(String),
}

impl From<Again> for DumpError {
    fn from(why: Again) -> Self {
        match why {
            Again::Unread(error) => {
                Self::NoCopy(format!("it is not known where the heap is: {error}"))
            }
            why => Self::Again(why),
        }
    }
}

impl From<Uncopied> for DumpError {
    fn from(why: Uncopied) -> Self {
        match why {
            Uncopied::Never(why) => Self::Engine(why),
            Uncopied::Unknown(error) => Again::Unread(error).into(),
        }
    }
}

impl DumpError {
    /// The reason for a client that knows another way; `None` if there is none.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::WouldStop { .. } | Self::NoCopy(_) => Some(Refusal::WouldStop),
            Self::NoGraph(_) => Some(Refusal::NotForked),
            _ => None,
        }
    }
}

/// Text for a sentence that ends in "would stop the application".
pub(super) fn estimate_text(estimate: Option<Duration>) -> String {
    estimate.map_or_else(String::new, |estimate| {
        format!(
            " for up to {} s, if all of the heap in use is alive",
            estimate.as_secs().max(1)
        )
    })
}

/// Adds the purpose of a JVM call to its error.
pub(super) trait Context<T> {
    /// The value, or an error that names the purpose of the call.
    fn context(self, what: &'static str) -> Result<T, DumpError>;
}

impl<T> Context<T> for Result<T, JvmtiError> {
    fn context(self, what: &'static str) -> Result<T, DumpError> {
        self.map_err(|error| DumpError::Jvm { what, error })
    }
}
