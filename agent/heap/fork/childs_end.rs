//! The reason why there is no dump by a forked copy, in the user's words: the child's finding, or
//! the meaning of its end.

use super::compiled_frames;
use super::message::FromChild;
use super::process::Child;
use crate::heap::error::{Again, DumpError};
use snapshot::Failure;

/// How far a child has come, by its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It does not know the layout of objects.
    Begins,
    /// It knows the layout.
    Calibrated,
    /// It reads compiled frames.
    InFrames,
}

impl Stage {
    /// The stage after this message.
    pub(super) fn after(self, message: &FromChild) -> Self {
        match (self, message) {
            (_, FromChild::ReadsFrames) => Self::InFrames,
            (_, FromChild::Calibrated) | (Self::InFrames, _) => Self::Calibrated,
            _ => self,
        }
    }
}

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
            Failure::Refused(why) => lost(&format!("was refused what it needs: {why}")),
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
/// If it crashed in compiled frames, no later child reads them. If it crashed elsewhere although it
/// knew the layout, the heap is corrupt: HotSpot's own dumper would crash, too, inside the
/// application. If it lacked parts of the heap (`left_out`), it may have crashed because of that.
pub(super) fn silence(child: &mut Child, stage: Stage, left_out: bool) -> DumpError {
    let end = child.reap();
    let calibrated = stage != Stage::Begins;
    if end.lacked_page {
        // Another fork would find no more pages.
        DumpError::Engine(
            "the heap is in huge pages, and none was free for the forked copy".to_owned(),
        )
    } else if end.is_filtered {
        DumpError::Engine(format!("the forked copy {}", end.how))
    } else if end.crashed && stage == Stage::InFrames {
        compiled_frames::give_up(&end.how);
        Again::OopMaps.into()
    } else if end.crashed && (left_out || calibrated) {
        DumpError::Damaged(format!("the child {}", end.how))
    } else if end.crashed {
        DumpError::Engine(format!("the child {}", end.how))
    } else if end.hung && !calibrated {
        Again::Stuck.into()
    } else {
        DumpError::NoCopy(format!("the forked copy {}", end.how))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_in_frames_until_it_says_something_else() {
        let progress = FromChild::Progress {
            bytes: 0,
            objects: 0,
            heap_bytes: 0,
        };
        assert_eq!(Stage::Begins.after(&progress), Stage::Begins);
        let known = Stage::Begins.after(&FromChild::Calibrated);
        let reads = known.after(&FromChild::ReadsFrames);
        assert_eq!((known, reads), (Stage::Calibrated, Stage::InFrames));
        assert_eq!(reads.after(&progress), Stage::Calibrated);
    }
}
