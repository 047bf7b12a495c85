//! Why there is no dump by snapshot, as the application's side sees it.

use super::super::error::DumpError;
use super::process::Child;
use std::io;
use std::time::Duration;
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
    /// This engine cannot serve here; another may. A sentence's end.
    Refused(String),
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
pub(super) fn silence(
    error: &io::Error,
    child: &mut Child,
    limit: Duration,
    calibrated: bool,
    left_out: bool,
) -> NoSnapshot {
    let is_late = matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    );
    if is_late {
        child.kill();
    }
    let end = child.reap();
    if is_late {
        NoSnapshot::Refused(format!("the child was silent for {} s", limit.as_secs()))
    } else if end.crashed && left_out {
        NoSnapshot::LeftOut
    } else if end.crashed && calibrated {
        NoSnapshot::Failed(DumpError::Damaged(format!("the child {}", end.how)))
    } else {
        NoSnapshot::Refused(format!("the child {}", end.how))
    }
}
