//! Why there is no dump by snapshot, as the parent sees it.

use super::process::Child;
use crate::heap::error::DumpError;
use snapshot::Failure;
use tables::ClassId;
use writer::WriteError;

/// Why there is no dump by snapshot: the child's message, or the meaning of its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::heap) enum NoSnapshot {
    /// Another attempt may succeed: a class was loaded in between, or the first virtual thread was created.
    UnknownClass,
    /// Another attempt may succeed: classes with instances were not linked, and now they are.
    Unlinked(Vec<ClassId>),
    /// Another attempt may succeed: a lock of HotSpot was held at the fork.
    Stuck,
    /// Another attempt may succeed: the collector was moving objects.
    Moving,
    /// The heap is corrupt; the finding. If the child lacked the parts that HotSpot reports as unused, another attempt
    /// with the whole heap may succeed.
    Damaged(String),
    /// This heap can never be read from a copy, but HotSpot's own dumper may work. The end of a sentence.
    Refused(String),
    /// The fork failed, or the child died. Another dump may succeed; HotSpot's own dumper would stop the application for
    /// long. The start of a sentence.
    Lost(String),
    /// No engine can succeed, or should try.
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
                Self::Damaged(format!("the object at {object:#x} has no valid class"))
            }
            Failure::LeftOut(object) => Self::Damaged(format!(
                "the object at {object:#x} reaches into unused memory"
            )),
            Failure::NoMirror => Self::Refused("an object's class was never loaded".to_owned()),
            Failure::Moving => Self::Moving,
            Failure::OutsideOfHeap(address) => Self::Damaged(format!(
                "a reference points outside the heap, to {address:#x}"
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
                Self::Refused("the frames of a virtual thread were not reported".to_owned())
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

/// The meaning of a child that ended without a message.
///
/// If it crashed although it knew the layout, the heap is corrupt: JVMTI's walk would crash, too, inside the
/// application. If it lacked parts of the heap (`left_out`), it may have crashed because of that.
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
