//! Why there is no dump by a forked copy: the child's finding, or the meaning of its end, as the user is told.

use super::process::Child;
use crate::heap::error::{Again, DumpError};
use snapshot::Failure;

impl From<Failure> for DumpError {
    fn from(failure: Failure) -> Self {
        let lost = |why: &str| Self::NoCopy(format!("the forked copy {why}"));
        match failure {
            Failure::Unexplained(check) => {
                Self::Engine(format!("its check of this JVM failed: {check}"))
            }
            Failure::UnknownClass | Failure::FirstVirtualThread => Again::UnknownClass.into(),
            Failure::Stuck => Again::Stuck.into(),
            Failure::Unlinked(classes) => Again::Unlinked(classes).into(),
            Failure::NoClass(object) => {
                Self::Damaged(format!("the object at {object:#x} has no valid class"))
            }
            Failure::LeftOut(object) => Self::Damaged(format!(
                "the object at {object:#x} reaches into unused memory"
            )),
            Failure::NoMirror => Self::Engine("an object's class was never loaded".to_owned()),
            Failure::Moving => Again::Moving.into(),
            Failure::OopMaps => Again::OopMaps.into(),
            Failure::OutsideOfHeap(address) => Self::Damaged(format!(
                "a reference points outside the heap, to {address:#x}"
            )),
            Failure::TooLong(array) => {
                Self::Damaged(format!("the array at {array:#x} is longer than the heap"))
            }
            Failure::Write(error) => Self::Child(error.to_string()),
            Failure::LittleMemory { left_bytes } => Self::LittleMemory { left_bytes },
            Failure::NoThread(why) => lost(&format!("could not start a thread: {why}")),
            Failure::NoMemory => lost("had no memory for its marks"),
            Failure::NoFrames => {
                Self::Engine("the frames of a virtual thread were not reported".to_owned())
            }
            Failure::Fault => lost("failed with an internal error; please report it"),
            Failure::NoAnswer => lost("got no answer from the application's process"),
        }
    }
}

/// The meaning of a child that ended without a message.
///
/// If it crashed although it knew the layout, the heap is corrupt: HotSpot's own dumper would crash, too,
/// inside the application. If it lacked parts of the heap (`left_out`), it may have crashed because of that.
pub(super) fn silence(child: &mut Child, calibrated: bool, left_out: bool) -> DumpError {
    let end = child.reap();
    if end.crashed && (left_out || calibrated) {
        DumpError::Damaged(format!("the child {}", end.how))
    } else if end.crashed {
        DumpError::Engine(format!("the child {}", end.how))
    } else if end.hung && !calibrated {
        Again::Stuck.into()
    } else {
        DumpError::NoCopy(format!("the forked copy {}", end.how))
    }
}
