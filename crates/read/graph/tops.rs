//! The objects among which suspects are: those without a dominator, and what class objects and a
//! living loader hold.
//!
//! A loader lists its classes, so it dominates what their static fields hold, and so does whoever
//! holds the loader. That is no fact about any of them: each static field stands for itself. But a
//! class whose fields share what would be a suspect, as two ends of one chain, is one holder.

use rustc_hash::FxHashSet;

use crate::accumulation::{is_less, BIG_DROP};
use crate::heap::Heap;
use crate::loader_copies::LoaderCopies;
use crate::retained::{Dominator, Retained};
use crate::structure::{Part, Structure};

/// Most objects between one that has nearly all of a loader's bytes and the loader.
const LEVELS_MAX: usize = 32;

/// A loader that retains less than a tenth of what another one does is no other one of its kind.
const SMALL: (u64, u64) = (1, 10);

/// The objects, and those that were passed.
#[derive(Debug)]
pub(crate) struct Tops {
    /// Those that retain more than a suspect, largest first.
    pub(crate) large: Vec<u32>,
    /// The others, in no order.
    pub(crate) small: Vec<u32>,
    /// The class objects, loaders and lists of classes in whose place stands what they dominate.
    pub(crate) passed: FxHashSet<u32>,
}

/// What decides whether an object is passed.
struct Passing<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    structure: &'a Structure,
    /// Loaders that are not passed: others of their class retain as much.
    kept: FxHashSet<u32>,
    least: u64,
}

impl Tops {
    /// Those of a heap, without what these loaders keep; a suspect retains more than `least`.
    pub(crate) fn of(
        heap: &Heap<'_>,
        retained: &Retained,
        structure: &Structure,
        copies: &[LoaderCopies],
        least: u64,
    ) -> Self {
        let is_copied = |object: u32| copies.iter().any(|copies| copies.keep(object));
        let mut top = retained.top();
        top.retain(|object| !is_copied(*object));
        let many = top.partition_point(|object| retained.bytes(*object) > least);
        let small = top.split_off(many);
        let kept = several(heap, retained, structure, &top);
        let passing = Passing {
            heap,
            retained,
            structure,
            kept,
            least,
        };
        let mut tops = Self {
            large: Vec::new(),
            small,
            passed: FxHashSet::default(),
        };
        let mut open = top;
        while let Some(object) = open.pop() {
            let Some(passed) = passing.passed(object, &tops.passed) else {
                tops.large.push(object);
                continue;
            };
            tops.passed.extend(&passed);
            for object in passed {
                let below = retained.each_dominated(object);
                for child in below.filter(|it| !is_copied(*it) && !tops.passed.contains(it)) {
                    match retained.bytes(child) > least {
                        true => open.push(child),
                        false => tops.small.push(child),
                    }
                }
            }
        }
        tops.large
            .sort_by_key(|object| (std::cmp::Reverse(retained.bytes(*object)), *object));
        tops
    }

    /// Whether no object but those passed dominates this one.
    pub(crate) fn is_top(&self, retained: &Retained, object: u32) -> bool {
        match retained.dominator(object) {
            Dominator::Roots => true,
            Dominator::Object(above) => self.passed.contains(&above),
            Dominator::Unreachable => false,
        }
    }
}

/// The loaders among these that are not alone: another of their class retains about as much.
fn several(
    heap: &Heap<'_>,
    retained: &Retained,
    structure: &Structure,
    large: &[u32],
) -> FxHashSet<u32> {
    let loaders: Vec<u32> = large
        .iter()
        .copied()
        .filter(|it| structure.is_loader(heap.class(*it)))
        .collect();
    let has_other = |it: &u32| {
        loaders.iter().any(|other| {
            other != it
                && heap.class(*other) == heap.class(*it)
                && !is_less(retained.bytes(*other), SMALL, retained.bytes(*it))
        })
    };
    loaders.iter().copied().filter(has_other).collect()
}

impl Passing<'_, '_> {
    /// This object if what it dominates stands in its place, with the objects from it to a loader
    /// if that has nearly all of its bytes; `passed` are those before.
    fn passed(&self, object: u32, passed: &FxHashSet<u32>) -> Option<Vec<u32>> {
        let (heap, retained) = (self.heap, self.retained);
        if heap.class_of_object(object).is_some() {
            let direct: FxHashSet<u32> = heap.targets(object).iter().copied().collect();
            let (mut has_large, mut shared_bytes) = (false, 0_u64);
            for child in retained.each_dominated(object) {
                let bytes = retained.bytes(child);
                has_large |= bytes > self.least;
                if !direct.contains(&child) {
                    shared_bytes = shared_bytes.saturating_add(bytes);
                }
            }
            return (has_large && shared_bytes <= self.least).then(|| vec![object]);
        }
        let is_below = match retained.dominator(object) {
            Dominator::Object(above) => passed.contains(&above),
            Dominator::Roots | Dominator::Unreachable => false,
        };
        if self.is_loader(object) || (is_below && self.lists_classes(object)) {
            return Some(vec![object]);
        }
        let largest = |at: &u32| {
            let child = retained.largest_dominated(*at)?;
            (!is_less(retained.bytes(child), BIG_DROP, retained.bytes(*at))).then_some(child)
        };
        let way = std::iter::successors(Some(object), largest).take(LEVELS_MAX);
        let mut way: Vec<u32> = way.collect();
        let loader = way.iter().position(|at| self.is_loader(*at))?;
        way.truncate(loader + 1);
        Some(way)
    }

    /// Whether an object is a loader that is alone.
    fn is_loader(&self, object: u32) -> bool {
        self.structure.is_loader(self.heap.class(object)) && !self.kept.contains(&object)
    }

    /// Whether an object is an array of class objects, or a list that has one.
    fn lists_classes(&self, object: u32) -> bool {
        let (heap, structure) = (self.heap, self.structure);
        let is_array = |it: u32| heap.class_name(heap.class(it)).ends_with("[]");
        let array = match is_array(object) {
            true => Some(object),
            false => self.retained.largest_dominated(object),
        };
        let has_classes = |array: u32| {
            let mut targets = heap.targets(array).iter().take(LEVELS_MAX).peekable();
            let has_any = targets.peek().is_some();
            has_any && targets.all(|it| heap.class_of_object(*it).is_some())
        };
        structure.part(heap.class(object)) == Part::Structure
            && array.is_some_and(|array| is_array(array) && has_classes(array))
    }
}
