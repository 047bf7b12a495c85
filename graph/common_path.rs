//! What the paths to the objects of a class have in common.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::accumulation::{is_less, BIG_DROP};
use crate::heap::Heap;
use crate::retained::Retained;
use crate::search::Search;
use crate::shared_paths::SharedPaths;
use crate::suspect_paths::STEPS_MAX;

/// A path is common to a class's objects if more than eight tenths of them use it.
const COMMON: (u64, u64) = (8, 10);

/// What the paths to the objects of a class have in common.
pub(crate) struct Common {
    /// The last object on the paths to most of them.
    pub(crate) object: Option<u32>,
    /// One of them, whose path is the most frequent by the classes on it.
    pub(crate) example: Option<u32>,
    /// Number of roots from which paths over these classes lead.
    pub(crate) alike_roots: u64,
}

impl Common {
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained, search: &Search, some: &[u32]) -> Self {
        let mut ways: FxHashMap<Vec<u32>, Alike> = FxHashMap::default();
        for object in some {
            let path = || search.climb(*object);
            let classes = path().take(STEPS_MAX).map(|object| heap.class(object));
            let alike = ways.entry(classes.collect()).or_insert_with(|| Alike {
                first: *object,
                objects: 0,
                roots: FxHashSet::default(),
            });
            alike.objects += 1;
            alike.roots.extend(path().last());
        }
        let most = ways.values();
        let most = most.max_by_key(|alike| (alike.objects, std::cmp::Reverse(alike.first)));
        Self {
            object: common_object(retained, search, some),
            example: most.map(|alike| alike.first),
            alike_roots: most.map_or(0, |alike| alike.roots.len() as u64),
        }
    }
}

/// Objects whose paths lead over the same classes.
struct Alike {
    first: u32,
    objects: u64,
    roots: FxHashSet<u32>,
}

/// The last object that the paths to most of these objects share.
fn common_object(retained: &Retained, search: &Search, some: &[u32]) -> Option<u32> {
    let ends = some.iter().map(|object| (*object, retained.bytes(*object)));
    let paths = SharedPaths::new(search, ends);
    let themselves: FxHashSet<u32> = some.iter().copied().collect();
    let (mut at, mut bytes) = (None, u64::MAX);
    for passed in paths.main() {
        let is_common = !is_less(passed.paths, COMMON, some.len() as u64);
        let drops = bytes < u64::MAX && is_less(passed.ends, BIG_DROP, bytes);
        // The objects themselves cannot be the accumulation point.
        if !is_common || drops || themselves.contains(&passed.object) {
            break;
        }
        (at, bytes) = (Some(passed.object), passed.ends);
    }
    at
}
