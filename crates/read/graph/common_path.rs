//! What the paths to the objects of a class have in common.

// The file determines the names, so their hash function is seeded.
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::accumulation::{is_less, BIG_DROP};
use crate::heap::Heap;
use crate::retained::Retained;
use crate::search::Search;
use crate::shared_paths::SharedPaths;
use crate::suspect::{Alike, STEPS_MAX};

/// Most steps of a path whose root is counted.
const ROOT_STEPS_MAX: usize = 100;

/// A path is common to a class's objects if more than eight tenths of them use it.
const COMMON: (u64, u64) = (8, 10);

/// What the paths to the objects of a class have in common.
pub(crate) struct Common {
    /// The last object on the paths to most of them.
    pub(crate) object: Option<u32>,
    /// One of them, whose path is the most frequent by the classes on it.
    pub(crate) example: Option<u32>,
    /// How many of the paths are like its path.
    pub(crate) alike: Alike,
}

impl Common {
    pub(crate) fn of(
        heap: &Heap<'_>,
        retained: &Retained,
        search: &Search<'_, '_>,
        some: &[u32],
    ) -> Self {
        let mut names = Names::default();
        let mut ways: FxHashMap<Vec<(bool, u32)>, Way> = FxHashMap::default();
        for object in some {
            let path = || search.climb(*object);
            // Class objects differ by what they are, as their static fields do.
            let step = |step: u32| match is_holder(heap, step, *object) {
                true => (true, step),
                false => (false, names.of(heap, heap.class(step))),
            };
            let classes = path().take(STEPS_MAX).map(step);
            let alike = ways.entry(classes.collect()).or_insert_with(|| Way {
                first: *object,
                objects: 0,
                roots: FxHashSet::default(),
            });
            alike.objects += 1;
            alike.roots.extend(root(search, *object));
        }
        let most = ways.values();
        let most = most.max_by_key(|alike| (alike.objects, std::cmp::Reverse(alike.first)));
        Self {
            object: common_object(retained, search, some),
            example: most.map(|alike| alike.first),
            alike: Alike {
                percent: most.map_or(0, |way| like(heap, search, (way.first, some), &mut names)),
                roots: most.map_or(0, |way| way.roots.len() as u64),
            },
        }
    }
}

/// The root from which a path leads; `None` for a long path, as there may be thousands.
fn root(search: &Search<'_, '_>, object: u32) -> Option<u32> {
    let mut path = search.climb(object);
    let last = path.by_ref().take(ROOT_STEPS_MAX).last();
    last.filter(|_| path.next().is_none())
}

/// The share of objects in percent that have the holder of this one, of those with short paths.
fn like(
    heap: &Heap<'_>,
    search: &Search<'_, '_>,
    (one, all): (u32, &[u32]),
    names: &mut Names,
) -> u64 {
    let mut holder = |object: u32| match holder(heap, search, object)? {
        (false, class) => Some((false, names.of(heap, class))),
        holder => Some(holder),
    };
    let wanted = holder(one);
    let known = all.iter().filter_map(|it| holder(*it));
    let (same, all) = known.fold((0, 0), |(same, all), it| {
        (same + u64::from(Some(it) == wanted), all + 1)
    });
    (same * 100_u64).checked_div(all).unwrap_or(100)
}

/// One class of each name: several loaders may define it.
#[derive(Default)]
struct Names {
    classes: FxHashMap<u32, u32>,
    names: HashMap<String, u32>,
}

impl Names {
    fn of(&mut self, heap: &Heap<'_>, class: u32) -> u32 {
        let names = &mut self.names;
        let known = self.classes.entry(class);
        *known.or_insert_with(|| *names.entry(heap.class_name(class)).or_insert(class))
    }
}

/// The class object nearest to an object on its path, else the class of the root; `None` if the
/// path is long. A class does not hold its loader by a static field.
fn holder(heap: &Heap<'_>, search: &Search<'_, '_>, object: u32) -> Option<(bool, u32)> {
    let mut path = search.climb(object);
    let mut last = None;
    for step in path.by_ref().take(ROOT_STEPS_MAX) {
        if is_holder(heap, step, object) {
            return Some((true, step));
        }
        last = Some((false, heap.class(step)));
    }
    last.filter(|_| path.next().is_none())
}

/// Whether a step to an object is a class object, but none that the object defines as a loader:
/// each loader has its own.
fn is_holder(heap: &Heap<'_>, step: u32, object: u32) -> bool {
    let class = heap.class_of_object(step);
    class.is_some_and(|class| heap.loader(class) != Some(heap.id(object)))
}

/// Objects whose paths lead over the same classes.
struct Way {
    first: u32,
    objects: u64,
    roots: FxHashSet<u32>,
}

/// The last object that the paths to most of these objects share.
fn common_object(retained: &Retained, search: &Search<'_, '_>, some: &[u32]) -> Option<u32> {
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
