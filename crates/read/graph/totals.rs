//! Sums over the objects of a class, a package or a loader.

use crate::heap::Heap;
use crate::retained::Retained;

/// Sums over the reachable objects of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Number of objects.
    pub objects: u64,
    /// Sum of their own bytes.
    pub shallow_bytes: u64,
    /// Sum of the retained sizes of those objects that no other object of the group dominates: at
    /// least this much would be freed with the whole group, plus objects that several of its
    /// objects hold together (Eclipse MAT's minimum retained size).
    pub retained_bytes: u64,
}

impl Retained {
    /// The sums of each group. `group` returns the group's number for an object; numbers of
    /// `groups` and above are left out.
    pub fn totals(&self, heap: &Heap<'_>, groups: u32, group: impl Fn(u32) -> u32) -> Vec<Total> {
        let mut totals = vec![Total::default(); groups as usize];
        // Number of objects of each group on the path from the virtual root.
        let mut above = vec![0_u32; groups as usize];
        self.walk_tree(|object, bytes, enters| {
            let place = group(object) as usize;
            let (Some(total), Some(above)) = (totals.get_mut(place), above.get_mut(place)) else {
                return;
            };
            if !enters {
                *above -= 1;
                return;
            }
            total.objects += 1;
            total.shallow_bytes = total
                .shallow_bytes
                .saturating_add(heap.shallow_bytes(object));
            if *above == 0 {
                total.retained_bytes = total.retained_bytes.saturating_add(bytes);
            }
            *above += 1;
        });
        totals
    }
}
