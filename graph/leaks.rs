//! Leak suspects: single objects that retain much, and classes whose objects do so together.
//!
//! The rules are those of Eclipse MAT's leak suspects. An object without a dominator is a suspect
//! if it retains more than a certain share of the heap; so is a class if its objects without a
//! dominator do so together. From a suspect, we descend the dominator tree as long as a single
//! child retains nearly everything. The object whose bytes spread over several children is the
//! *accumulation point*.

use foldhash::HashMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::class_facts::References;
use crate::error::GraphError;
use crate::heap::Heap;
use crate::paths::{Path, Search, PATH_STEPS};
use crate::retained::Retained;
use crate::shared_paths::SharedPaths;

/// The share of the heap from which an object or a class is a suspect.
pub const THRESHOLD_PERCENT: u64 = 10;

/// A child that retains less than seven tenths of its parent's bytes is a big drop.
const BIG_DROP: (u64, u64) = (7, 10);

/// A path is common to a class's objects if more than eight tenths of them use it.
const COMMON: (u64, u64) = (8, 10);

/// Most levels of the dominator tree between a suspect and its accumulation point.
const DEPTH_MAX: u32 = 1000;

/// Most objects of a class whose paths are compared.
const PATHS_MAX: usize = 10_000;

/// Most classes listed for the objects that a suspect holds.
const GROUPS_MAX: usize = 10;

/// The suspect: an object or a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// One object.
    Object(u32),
    /// The objects of a class that have no dominator.
    Class {
        /// The class.
        class: u32,
        /// Number of objects.
        objects: u64,
    },
}

/// Objects of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The class.
    pub class: u32,
    /// Number of objects.
    pub objects: u64,
    /// Sum of their own bytes.
    pub bytes: u64,
}

/// One suspect.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// The suspect.
    pub who: Who,
    /// Bytes retained.
    pub bytes: u64,
    /// The object from which the bytes spread; for a class, the last object that the paths to most
    /// of its objects share, or `None` if they share none.
    pub accumulation: Option<u32>,
    /// Bytes retained by the accumulation point, or 0.
    pub accumulated_bytes: u64,
    /// The shortest path from a root to the accumulation point, or to the suspect.
    pub path: Option<Path>,
    /// The objects that it holds, by class, most bytes first; at most ten classes.
    pub holds: Vec<Group>,
    /// Allocation traces of the objects that it holds, as far as known: class, trace and number of
    /// objects, most bytes first.
    pub traces: Vec<(u32, u32, u64)>,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Leaks {
    /// Bytes of all reachable objects.
    pub total_bytes: u64,
    /// The suspects, most bytes first; none if nothing stands out.
    pub suspects: Vec<Suspect>,
}

impl Leaks {
    /// Finds suspects with more than `percent` percent of the heap. Errors: the file cannot be
    /// read.
    pub fn find(heap: &Heap<'_>, retained: &Retained, percent: u64) -> Result<Self, GraphError> {
        let total_bytes = retained.total_bytes();
        let least = total_bytes / 100 * percent.min(100);
        let top = retained.top();
        let many = top.partition_point(|object| retained.bytes(*object) > least);
        let (large, rest) = top.split_at(many);
        let mut suspects = Vec::new();
        for object in large {
            let point = accumulation_point(retained, *object);
            suspects.push(
                Suspect {
                    who: Who::Object(*object),
                    bytes: retained.bytes(*object),
                    accumulation: Some(point),
                    accumulated_bytes: retained.bytes(point),
                    path: None,
                    holds: Vec::new(),
                    traces: Vec::new(),
                }
                .with_contents(heap, retained.subtree(point)),
            );
        }
        for (class, objects) in by_class(heap, rest) {
            let bytes = sum(retained, &objects);
            if bytes > least {
                suspects.push(class_suspect(heap, retained, class, &objects));
            }
        }
        suspects.sort_by_key(|suspect| std::cmp::Reverse(suspect.bytes));
        let mut leaks = Self {
            total_bytes,
            suspects,
        };
        leaks.add_paths(heap)?;
        Ok(leaks)
    }

    fn add_paths(&mut self, heap: &Heap<'_>) -> Result<(), GraphError> {
        let end = |suspect: &Suspect| match (suspect.accumulation, &suspect.who) {
            (Some(object), _) => Some(object),
            (None, Who::Object(object)) => Some(*object),
            (None, Who::Class { .. }) => None,
        };
        let ends: Vec<u32> = self.suspects.iter().filter_map(end).collect();
        let mut paths = heap.paths(&ends, PATH_STEPS)?.into_iter();
        for suspect in self
            .suspects
            .iter_mut()
            .filter(|suspect| end(suspect).is_some())
        {
            suspect.path = paths.next().flatten();
        }
        Ok(())
    }
}

impl Suspect {
    /// Counts the objects that the suspect holds.
    fn with_contents(mut self, heap: &Heap<'_>, held: impl Iterator<Item = u32>) -> Self {
        let mut groups: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        let mut traces: HashMap<(u32, u32), (u64, u64)> = HashMap::default();
        for object in held {
            let class = heap.class(object);
            let bytes = heap.shallow_bytes(object);
            let add = |count: &mut (u64, u64)| *count = (count.0 + 1, count.1 + bytes);
            add(groups.entry(class).or_default());
            if let Some(trace) = heap.allocation_trace(object) {
                add(traces.entry((class, trace)).or_default());
            }
        }
        let group = |(class, (objects, bytes))| Group {
            class,
            objects,
            bytes,
        };
        self.holds = groups.into_iter().map(group).collect();
        self.holds
            .sort_by_key(|group| (std::cmp::Reverse(group.bytes), group.class));
        self.holds.truncate(GROUPS_MAX);
        let mut sites: Vec<_> = traces.into_iter().collect();
        sites.sort_by_key(|(site, (_, bytes))| (std::cmp::Reverse(*bytes), *site));
        let site = |((class, trace), (objects, _))| (class, trace, objects);
        self.traces = sites.into_iter().map(site).collect();
        self
    }
}

/// Descends to the largest child as long as it retains most of its parent's bytes.
fn accumulation_point(retained: &Retained, object: u32) -> u32 {
    let mut at = object;
    for _ in 0..DEPTH_MAX {
        let Some(child) = retained.largest_dominated(at) else {
            break;
        };
        let (child_bytes, bytes) = (retained.bytes(child), retained.bytes(at));
        if is_less(child_bytes, BIG_DROP, bytes) {
            break;
        }
        at = child;
    }
    at
}

/// Whether a part is less than this fraction of the whole.
fn is_less(part: u64, fraction: (u64, u64), whole: u64) -> bool {
    u128::from(part) * u128::from(fraction.1) < u128::from(whole) * u128::from(fraction.0)
}

fn sum(retained: &Retained, objects: &[u32]) -> u64 {
    let bytes = objects.iter().map(|object| retained.bytes(*object));
    bytes.fold(0, u64::saturating_add)
}

fn by_class(heap: &Heap<'_>, objects: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut classes: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for object in objects {
        classes
            .entry(heap.class(*object))
            .or_default()
            .push(*object);
    }
    let mut all: Vec<_> = classes.into_iter().collect();
    all.sort_unstable_by_key(|(class, _)| *class);
    all
}

fn class_suspect(heap: &Heap<'_>, retained: &Retained, class: u32, objects: &[u32]) -> Suspect {
    let accumulation = common_object(heap, retained, objects);
    let held = objects.iter().flat_map(|object| retained.subtree(*object));
    Suspect {
        who: Who::Class {
            class,
            objects: objects.len() as u64,
        },
        bytes: sum(retained, objects),
        accumulation,
        accumulated_bytes: accumulation.map_or(0, |object| retained.bytes(object)),
        path: None,
        holds: Vec::new(),
        traces: Vec::new(),
    }
    .with_contents(heap, held)
}

/// The last object that the shortest paths to most of these objects share.
fn common_object(heap: &Heap<'_>, retained: &Retained, objects: &[u32]) -> Option<u32> {
    let every = objects.len().div_ceil(PATHS_MAX).max(1);
    let some: Vec<u32> = objects.iter().copied().step_by(every).collect();
    let search = Search::until(heap, &some, References::Strong);
    let ends = some.iter().map(|object| (*object, retained.bytes(*object)));
    let paths = SharedPaths::new(&search, ends);
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
