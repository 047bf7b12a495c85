//! What only soft references keep: the JVM frees it before it throws an OutOfMemoryError.

use rustc_hash::FxHashSet;

use crate::class_facts::References;
use crate::heap::Heap;
use crate::retained::{Dominator, Retained};

/// The objects that are dominated by the soft reference that refers to them, each as the outermost
/// object that dominates it and the bytes that it retains. Those within others are left out; all
/// are if they are less than a hundredth of the heap.
#[derive(Debug)]
pub(crate) struct SoftlyHeld(Vec<(u32, u64)>);

impl SoftlyHeld {
    /// Those of a heap; none if soft references do not count. What `passed` dominates is outermost.
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained, passed: &FxHashSet<u32>) -> Self {
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
        let most: u64 = held.iter().map(|object| retained.bytes(*object)).sum();
        if most <= retained.total_bytes() / 100 {
            return Self(Vec::new());
        }
        let is_top = |object: u32| match retained.dominator(object) {
            Dominator::Object(above) => passed.contains(&above),
            _ => true,
        };
        let (mut top, mut depth, mut inside, mut all) = (0, 0_u32, 0_u32, Vec::new());
        retained.walk_tree(|object, bytes, enters| {
            let is_held = held.contains(&object);
            if !enters {
                (depth, inside) = (depth - 1, inside - u32::from(is_held));
                return;
            }
            if depth == 0 || (!passed.is_empty() && is_top(object)) {
                top = object;
            }
            if is_held && inside == 0 {
                all.push((top, bytes));
            }
            (depth, inside) = (depth + 1, inside + u32::from(is_held));
        });
        Self(all)
    }

    /// The sum of the bytes below the outermost objects that `is` selects.
    pub(crate) fn below(&self, is: impl Fn(u32) -> bool) -> u64 {
        let all = self.0.iter().filter(|(top, _)| is(*top));
        all.map(|(_, bytes)| *bytes).sum()
    }
}
