//! The point below a suspect where its memory spreads.

use rustc_hash::FxHashMap;

use crate::heap::Heap;
use crate::retained::{Dominator, Retained};

/// A child that retains less than seven tenths of its parent's bytes is a big drop.
pub(crate) const BIG_DROP: (u64, u64) = (7, 10);

/// Of another class than its parent, it may have a sibling: it is no half of a tree.
const WITH_SIBLING: (u64, u64) = (6, 10);

/// Whether a part is less than this fraction of the whole.
pub(crate) fn is_less(part: u64, fraction: (u64, u64), whole: u64) -> bool {
    u128::from(part) * u128::from(fraction.1) < u128::from(whole) * u128::from(fraction.0)
}

/// Descends to the largest child as long as it retains most of its parent's bytes.
///
/// Each node of a linked list retains nearly all that the one before retains, so a descent along a
/// list ends at an arbitrary node. If the bytes fell much since the first object of the last one's
/// class, these objects are a run, and the point is what holds the run.
pub(crate) fn accumulation_point(heap: &Heap<'_>, retained: &Retained, suspect: u32) -> u32 {
    let mut firsts: FxHashMap<u32, u32> = FxHashMap::default();
    let mut at = suspect;
    loop {
        firsts.entry(heap.class(at)).or_insert(at);
        let Some(child) = retained.largest_dominated(at) else {
            break;
        };
        let drop = match heap.class(child) == heap.class(at) {
            true => BIG_DROP,
            false => WITH_SIBLING,
        };
        if is_less(retained.bytes(child), drop, retained.bytes(at)) {
            break;
        }
        at = child;
    }
    let first = firsts.get(&heap.class(at)).copied().unwrap_or(at);
    if !is_less(retained.bytes(at), BIG_DROP, retained.bytes(first)) {
        return at;
    }
    match retained.dominator(first) {
        Dominator::Object(holder) if first != suspect => holder,
        _ => first,
    }
}
