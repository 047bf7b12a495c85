//! Sums over the objects of a class, a package or a loader.

use crate::heap::Heap;
use crate::retained::Retained;

/// What the reachable objects of one group have together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// How many objects.
    pub objects: u64,
    /// Sum of their own bytes.
    pub shallow_bytes: u64,
    /// Sum of what those of them retain that no other object of the group dominates. It is what at least would go with
    /// the whole group; objects that several of its objects hold together come on top (Eclipse MAT's minimum retained
    /// size).
    pub retained_bytes: u64,
}

impl Retained {
    /// The sums of each group, by the number that `group` gives to an object; numbers from `groups` on are left out.
    pub fn totals(&self, heap: &Heap<'_>, groups: u32, group: impl Fn(u32) -> u32) -> Vec<Total> {
        let mut totals = vec![Total::default(); groups as usize];
        // How many objects of each group are on the way from the root of all.
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
