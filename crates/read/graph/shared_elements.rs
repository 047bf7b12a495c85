//! What several objects share: collections of theirs refer to it, so none of them retains it.

use rustc_hash::FxHashMap;

use crate::elements::{by_name, Elements};
use crate::heap::Heap;
use crate::retained::Retained;
use crate::structure::{Part, Structure};
use crate::tops::Tops;

/// The objects without a dominator to which the structure below `holders` refers: those of the
/// class that has the most bytes, if these are more than `least`.
pub(crate) fn shared(
    heap: &Heap<'_>,
    retained: &Retained,
    structure: &Structure,
    holders: &[u32],
    least: u64,
    tops: &Tops,
) -> Option<Elements> {
    let mut seen = vec![0_u64; heap.objects() as usize / 64 + 1];
    let mut found: FxHashMap<u32, Elements> = FxHashMap::default();
    let below = holders.iter().flat_map(|it| retained.subtree(*it));
    let is_structure = |object: u32| structure.part(heap.class(object)) == Part::Structure;
    let targets = below
        .filter(|it| is_structure(*it))
        .flat_map(|it| heap.targets(it));
    for object in targets.copied() {
        let is_free = tops.is_top(retained, object);
        let (Some(word), true) = (seen.get_mut(object as usize / 64), is_free) else {
            continue;
        };
        let bit = 1 << (object % 64);
        if *word & bit == 0 && !is_structure(object) {
            *word |= bit;
            let class = heap.class(object);
            let all = found.entry(class).or_insert(Elements {
                class,
                objects: 0,
                bytes: 0,
                example: object,
            });
            all.objects += 1;
            all.bytes = all.bytes.saturating_add(retained.bytes(object));
        }
    }
    let all = by_name(heap, retained, found.into_values());
    let largest = all.into_iter().max_by_key(|it| (it.bytes, it.class));
    largest.filter(|it| it.bytes > least)
}
