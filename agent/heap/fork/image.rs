//! The image of the heap, which takes the heap's place in the child: of a heap that a fork does not
//! copy, or of one that is better not copied by a fork.

use crate::heap::error::Again;
use snapshot::layout::Colours;
use std::fmt::Debug;
use std::io;
use std::ops::Range;

/// An image of any kind.
pub(in crate::heap) type AnyImage = Box<dyn HeapImage>;

/// Room for an image of the heap, then the image.
pub(in crate::heap) trait HeapImage: Debug {
    /// Copies what was written meanwhile, so that the stop has less to copy, unless it is more than
    /// `most_bytes`. An error if there is no image any more, and the fork can copy the heap.
    fn catch_up(&mut self, _most_bytes: u64) -> Result<(), String> {
        Ok(())
    }

    /// The bytes that are to be copied in the stop, as they were before it.
    fn stop_bytes(&self) -> u64;

    /// Whether a heap that the fork cannot copy either needs another attempt.
    fn is_lost(&self) -> bool {
        false
    }

    /// Whether another attempt only has to copy what is written until then.
    fn outlasts_attempt(&self) -> bool {
        false
    }

    /// Whether the collector is moving objects, so that a stop would be for nothing.
    fn is_moving(&self) -> Result<bool, Again> {
        Ok(false)
    }

    /// The bytes of memory that the fork need not copy.
    fn unforked_bytes(&self) -> u64 {
        0
    }

    /// The bytes of memory of which the stop asks what was written.
    fn scanned_bytes(&self) -> u64 {
        self.unforked_bytes()
    }

    /// Copies the heap, without the parts that are `unused`. Returns the memory that the fork need
    /// not copy. Call it while the application stands still.
    fn copy(&mut self, unused: &[Range<u64>]) -> Result<Vec<Range<u64>>, Again>;

    /// After the fork, in the parent, before the application goes on. An error if the child may not
    /// have the heap as it was.
    fn after_fork(&self) -> Result<(), Again> {
        Ok(())
    }

    /// In the child: puts the image in the place of the heap. `false` if both were compared, and
    /// differ. `live` shows that the child lives.
    fn take_place(&mut self, live: &dyn Fn()) -> io::Result<bool>;

    /// In the child: how the references of the image are coloured, for as long as it lives; `None`
    /// if they are not.
    fn colours(&self) -> Option<&'static Colours> {
        None
    }

    /// How the heap was copied, for the summary line; `None` if there is no other way for it.
    fn summary(&self) -> Option<String> {
        None
    }

    /// Why the fork copied the heap after all; `None` if it did not.
    fn failure(&self) -> Option<&str> {
        None
    }

    /// The addresses between which the image has objects.
    fn range(&self) -> Option<Range<u64>>;
}
