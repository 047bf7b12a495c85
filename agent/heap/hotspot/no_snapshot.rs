//! Why there is no dump by snapshot, as the application's side sees it.

use super::super::error::DumpError;
use super::process::Child;
use tables::ClassId;
use writer::WriteError;

/// Why there is no dump by snapshot.
#[derive(Debug)]
pub(in super::super) enum NoSnapshot {
    /// Another try may do better: a class was loaded in between, or the first virtual thread made. So many classes were known.
    Again(usize),
    /// Another try may do better: there were instances of classes that were not linked, and now they are.
    Unlinked(Vec<ClassId>),
    /// Another try may do better: a lock of HotSpot's was held at the fork.
    Stuck,
    /// Another try may do better, with the whole heap: this child had it without the parts that HotSpot calls unused, and it
    /// crashed, or met what no sound heap holds.
    LeftOut,
    /// Another try may do better: the collector was moving objects.
    Moving,
    /// This heap can never be read from a copy; a walk may serve. A sentence's end.
    Refused(String),
    /// There was no copy, or it did not live to the end. Another dump may do better; a walk would stop the application for long.
    /// A sentence's beginning.
    Lost(String),
    /// No engine could, or should try.
    Failed(DumpError),
}

impl From<DumpError> for NoSnapshot {
    fn from(error: DumpError) -> Self {
        Self::Failed(error)
    }
}

impl From<WriteError> for NoSnapshot {
    fn from(error: WriteError) -> Self {
        Self::Failed(error.into())
    }
}

/// What a child without a word means.
///
/// One that crashes though it knows the layout has met a damaged heap: JVMTI's walk would meet it inside the application. One that
/// has not all of the heap (`left_out`) may have crashed for that.
pub(super) fn silence(child: &mut Child, calibrated: bool, left_out: bool) -> NoSnapshot {
    let end = child.reap();
    if end.crashed && left_out {
        NoSnapshot::LeftOut
    } else if end.crashed && calibrated {
        NoSnapshot::Failed(DumpError::Damaged(format!("the child {}", end.how)))
    } else if end.crashed {
        NoSnapshot::Refused(format!("the child {}", end.how))
    } else if end.hung && !calibrated {
        NoSnapshot::Stuck
    } else {
        NoSnapshot::Lost(format!("the forked copy {}", end.how))
    }
}
