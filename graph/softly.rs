//! What only soft references keep: the JVM frees it before it throws an OutOfMemoryError.

use rustc_hash::FxHashSet;

use crate::class_facts::References;
use crate::heap::Heap;
use crate::retained::{Dominator, Retained};

/// Most dominators of an object that is only softly reachable.
const LEVELS_MAX: usize = 1_000;

/// The objects that are dominated by the soft reference that refers to them, each as the outermost
/// object that dominates it and the bytes that it retains. Those within others are left out.
#[derive(Debug)]
pub(crate) struct SoftlyHeld(Vec<(u32, u64)>);

impl SoftlyHeld {
    /// Those of a heap; none if soft references do not count.
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained) -> Self {
        if retained.rule() == References::Strong {
            return Self(Vec::new());
        }
        let is_soft = heap.extending("java/lang/ref/SoftReference");
        let all = heap.graph(References::All).referents.iter();
        let soft = all.filter(|(from, _)| {
            let class = heap.class(*from) as usize;
            is_soft.get(class).copied().unwrap_or(false)
        });
        let held = soft.filter(|(from, to)| retained.dominator(*to) == Dominator::Object(*from));
        let held: FxHashSet<u32> = held.map(|(_, to)| *to).collect();
        let outermost = |object: &u32| {
            let above = retained.dominators(*object).take(LEVELS_MAX);
            let mut last = None;
            for at in above {
                if held.contains(&at) {
                    return None;
                }
                last = Some(at);
            }
            Some((last?, retained.bytes(*object)))
        };
        Self(held.iter().filter_map(outermost).collect())
    }

    /// The sum of the bytes below the outermost objects that `is` selects.
    pub(crate) fn below(&self, is: impl Fn(u32) -> bool) -> u64 {
        let all = self.0.iter().filter(|(top, _)| is(*top));
        all.map(|(_, bytes)| *bytes).sum()
    }
}
