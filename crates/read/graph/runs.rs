//! Runs of objects of one class, each of which is held by the one before: the nodes of a queue.

use crate::accumulation::is_less;
use crate::heap::Heap;
use crate::retained::{Dominator, Retained};

/// An object that retains less than three quarters of what the one before does begins a new thing.
const HARDLY_LESS: (u64, u64) = (3, 4);

impl Retained {
    /// Whether an object goes on a run: the object that immediately dominates it has its class and
    /// retains hardly more.
    pub fn goes_on(&self, heap: &Heap<'_>, object: u32) -> bool {
        let Dominator::Object(before) = self.dominator(object) else {
            return false;
        };
        heap.class(before) == heap.class(object)
            && heap.class_of_object(object).is_none()
            && !is_less(self.bytes(object), HARDLY_LESS, self.bytes(before))
    }
}
