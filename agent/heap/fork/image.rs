//! The image of the heap, which takes the heap's place in the child: of a heap that a fork does not
//! copy, or of one that is better not copied by a fork.

use super::rounds_image::RoundsImage;
use super::shared_image::SharedImage;
use crate::heap::error::Again;
use snapshot::layout::Colours;
use std::io;
use std::ops::Range;

/// Room for an image of the heap, then the image.
#[derive(Debug)]
pub(super) enum HeapImage {
    /// All is copied in the stop.
    Shared(SharedImage),
    /// All is copied before; in the stop, what was written since.
    Rounds(RoundsImage),
}

impl HeapImage {
    /// Copies what was written meanwhile, so that the stop has less to copy, unless it is more than
    /// `most_bytes`. An error if there is no image any more.
    pub(super) fn catch_up(&mut self, most_bytes: u64) -> Result<(), String> {
        match self {
            Self::Shared(_) => Ok(()),
            Self::Rounds(image) => image.catch_up(most_bytes),
        }
    }

    /// The bytes that are to be copied in the stop, as they were before it.
    pub(super) fn stop_bytes(&self) -> u64 {
        match self {
            Self::Shared(image) => image.used_bytes(),
            Self::Rounds(image) => image.stop_bytes(),
        }
    }

    /// The bytes of memory that the fork need not copy.
    pub(super) fn unforked_bytes(&self) -> u64 {
        match self {
            Self::Shared(_) => 0,
            Self::Rounds(image) => image.unforked_bytes(),
        }
    }

    /// Copies the heap, without the parts that are `unused`. Returns the memory that the fork need
    /// not copy. Call it while the application stands still.
    pub(super) fn copy(&mut self, unused: &[Range<u64>]) -> Result<Vec<Range<u64>>, Again> {
        match self {
            Self::Shared(image) => image.copy().map(|()| unused.to_vec()),
            Self::Rounds(image) => image.finish(unused),
        }
    }

    /// After the fork, in the parent, before the application goes on. An error if the child may not
    /// have the heap as it was.
    pub(super) fn after_fork(&self) -> Result<(), Again> {
        match self {
            Self::Shared(_) => Ok(()),
            Self::Rounds(image) => image.after_fork(),
        }
    }

    /// In the child: puts the image in the place of the heap. `false` if both were compared, and
    /// differ. `live` shows that the child lives.
    pub(super) fn take_place(&mut self, live: &dyn Fn()) -> io::Result<bool> {
        match self {
            Self::Shared(image) => image.take_place().map(|()| true),
            Self::Rounds(image) => image.take_place(live),
        }
    }

    /// In the child: how the references of the image are coloured, for as long as it lives; `None`
    /// if they are not.
    pub(super) fn colours(&self) -> Option<&'static Colours> {
        match self {
            Self::Shared(image) => image.colours(),
            Self::Rounds(_) => None,
        }
    }

    /// How the heap was copied, for the summary line; `None` if there is no other way for it.
    pub(super) fn summary(&self) -> Option<String> {
        match self {
            Self::Shared(_) => None,
            Self::Rounds(image) => image.summary(),
        }
    }

    /// Why the fork copied the heap after all; `None` if it did not.
    pub(super) fn failure(&self) -> Option<&str> {
        match self {
            Self::Shared(_) => None,
            Self::Rounds(image) => image.failure(),
        }
    }

    /// The addresses between which the image has objects.
    pub(super) fn range(&self) -> Option<Range<u64>> {
        match self {
            Self::Shared(image) => image.range(),
            Self::Rounds(image) => Some(image.range()),
        }
    }
}
