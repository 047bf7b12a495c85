//! Why there is no dump by snapshot, from the child's failure to the application's side.

use super::process::Child;
use crate::heap::error::DumpError;
use snapshot::Failure;
use tables::ClassId;
use writer::WriteError;

/// Why there is no dump by snapshot: what the child says, or what its end means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::heap) enum NoSnapshot {
    /// Another try may do better: a class was loaded in between, or the first virtual thread made.
    UnknownClass,
    /// Another try may do better: there were instances of classes that were not linked, and now they are.
    Unlinked(Vec<ClassId>),
    /// Another try may do better: a lock of HotSpot's was held at the fork.
    Stuck,
    /// Another try may do better: the collector was moving objects.
    Moving,
    /// The heap holds what no sound heap holds; what. If the child had it without the parts that HotSpot calls unused, another try
    /// with all of it may do better.
    Damaged(String),
    /// This heap can never be read from a copy; a walk may serve. A sentence's end.
    Refused(String),
    /// There was no copy, or it did not live to the end. Another dump may do better; a walk would stop the application for long.
    /// A sentence's beginning.
    Lost(String),
    /// No engine could, or should try.
    Failed(DumpError),
}

impl From<Failure> for NoSnapshot {
    fn from(failure: Failure) -> Self {
        let lost = |why: &str| Self::Lost(format!("the forked copy {why}"));
        match failure {
            Failure::Unexplained(check) => {
                Self::Refused(format!("its check of this JVM failed: {check}"))
            }
            Failure::UnknownClass | Failure::FirstVirtualThread => Self::UnknownClass,
            Failure::Stuck => Self::Stuck,
            Failure::Unlinked(classes) => Self::Unlinked(classes),
            Failure::NoClass(object) => {
                Self::Damaged(format!("the object at {object:#x} tells of no class"))
            }
            Failure::LeftOut(object) => Self::Damaged(format!(
                "the object at {object:#x} reaches into unused memory"
            )),
            Failure::NoMirror => Self::Refused("an object's class was never loaded".to_owned()),
            Failure::Moving => Self::Moving,
            Failure::OutsideOfHeap(address) => Self::Damaged(format!(
                "a reference leads out of the heap, to {address:#x}"
            )),
            Failure::TooLong(array) => {
                Self::Damaged(format!("the array at {array:#x} is longer than the heap"))
            }
            Failure::Write(error) => Self::Failed(DumpError::Child(error.to_string())),
            Failure::LittleMemory { left_bytes } => {
                Self::Failed(DumpError::LittleMemory { left_bytes })
            }
            Failure::NoThread(why) => lost(&format!("could not start a thread: {why}")),
            Failure::NoMemory => lost("had no memory for its marks"),
            Failure::NoFrames => {
                Self::Refused("the frames of a virtual thread were not told".to_owned())
            }
            Failure::Fault => lost("failed with an internal error; please report it"),
            Failure::NoAnswer => lost("got no answer from the application's process"),
        }
    }
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
    if end.crashed && (left_out || calibrated) {
        NoSnapshot::Damaged(format!("the child {}", end.how))
    } else if end.crashed {
        NoSnapshot::Refused(format!("the child {}", end.how))
    } else if end.hung && !calibrated {
        NoSnapshot::Stuck
    } else {
        NoSnapshot::Lost(format!("the forked copy {}", end.how))
    }
}
