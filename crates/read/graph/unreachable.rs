//! What no root leads to: garbage that was not collected yet, or that a dump's roots miss.

use crate::heap::Heap;
use crate::retained::Retained;

/// Objects that no root leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreachable {
    /// Number of objects.
    pub objects: u64,
    /// Sum of their own bytes.
    pub bytes: u64,
}

impl Retained {
    /// The objects of this heap that no root leads to.
    pub fn unreachable(&self, heap: &Heap<'_>) -> Unreachable {
        let mut sum = Unreachable::default();
        for object in self.unreachable_objects(heap) {
            sum.objects += 1;
            sum.bytes = sum.bytes.saturating_add(heap.shallow_bytes(object));
        }
        sum
    }

    /// Their numbers, ascending.
    pub fn unreachable_objects<'a>(&'a self, heap: &Heap<'_>) -> impl Iterator<Item = u32> + 'a {
        let all = self.reachable() == heap.objects();
        let objects = if all { 0 } else { heap.objects() };
        (0..objects).filter(|object| !self.is_reachable(*object))
    }
}
