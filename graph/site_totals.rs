//! What the objects that a line of code allocated keep alive.
//!
//! A dump may have the stacks of some objects only: those that the profiler sampled, with a chance that depends on their
//! size. Each of them stands for as many objects as the dump has of its class and size, over those of them that carry a
//! stack (post-stratification; Cochran, "Sampling Techniques", 5A.9). Objects that the JVM made before the profiler began
//! carry none, and so count to the sites of their class.

use std::collections::HashMap;

use crate::heap::Heap;
use crate::retained::Retained;

/// Objects of one class that one stack allocated, those left out that another object of the class dominates: so no byte
/// counts twice in a list or a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteTotal {
    /// The class.
    pub class: u32,
    /// Serial of the trace.
    pub trace: u32,
    /// How many objects; an estimate if there is an error.
    pub objects: f64,
    /// Bytes that they retain; an estimate if there is an error.
    pub retained_bytes: f64,
    /// Standard error of the retained bytes; 0 if all objects of these classes and sizes carry a stack.
    pub error_bytes: f64,
}

/// Objects whose chance to be sampled is about the same: a class, and the number of bits of their size.
type Stratum = (u32, u32);

/// How many objects of a stratum are reachable, and how many of these carry a stack.
type Counts = HashMap<Stratum, (u64, u64)>;

impl Retained {
    /// The sites of all objects that carry a stack, largest retained size first.
    pub fn sites(&self, heap: &Heap<'_>) -> Vec<SiteTotal> {
        let outermost = self.outermost(heap);
        let counts = self.strata(heap);
        let mut sites: HashMap<(u32, u32), SiteTotal> = HashMap::new();
        for (object, trace) in heap
            .traced()
            .iter()
            .filter(|(object, _)| is_set(&outermost, *object))
        {
            let class = heap.class(*object);
            let (all, carried) = counts
                .get(&stratum(heap, *object))
                .copied()
                .unwrap_or((1, 1));
            let weight = number(all) / number(carried.max(1));
            let bytes = number(self.bytes(*object));
            let total = sites.entry((class, *trace)).or_insert(SiteTotal {
                class,
                trace: *trace,
                objects: 0.0,
                retained_bytes: 0.0,
                error_bytes: 0.0,
            });
            total.objects += weight;
            total.retained_bytes += weight * bytes;
            // The variance, until all objects are in.
            total.error_bytes += weight * (weight - 1.0) * bytes * bytes;
        }
        let mut totals: Vec<SiteTotal> = sites.into_values().collect();
        for total in &mut totals {
            total.error_bytes = total.error_bytes.sqrt();
        }
        totals.sort_by(|a, b| {
            let by_bytes = b.retained_bytes.total_cmp(&a.retained_bytes);
            by_bytes.then((a.class, a.trace).cmp(&(b.class, b.trace)))
        });
        totals
    }

    /// The reachable objects of all strata that have one with a stack.
    fn strata(&self, heap: &Heap<'_>) -> Counts {
        let mut counts = Counts::new();
        let is_reachable = |object: u32| self.bytes(object) > 0;
        for (object, _) in heap
            .traced()
            .iter()
            .filter(|(object, _)| is_reachable(*object))
        {
            counts.entry(stratum(heap, *object)).or_default().1 += 1;
        }
        for object in (0..heap.objects()).filter(|object| is_reachable(*object)) {
            if let Some((all, _)) = counts.get_mut(&stratum(heap, object)) {
                *all += 1;
            }
        }
        counts
    }

    /// A bit for each object: whether no other object of its class dominates it.
    fn outermost(&self, heap: &Heap<'_>) -> Vec<u64> {
        let mut outermost = vec![0; heap.objects() as usize / 64 + 1];
        // How many objects of each class are on the way from the root of all.
        let mut above = vec![0_u32; heap.classes() as usize];
        self.walk_tree(|object, _, enters| {
            let Some(above) = above.get_mut(heap.class(object) as usize) else {
                return;
            };
            if !enters {
                *above -= 1;
                return;
            }
            if let (0, Some(word)) = (*above, outermost.get_mut(object as usize / 64)) {
                *word |= 1 << (object % 64);
            }
            *above += 1;
        });
        outermost
    }
}

fn is_set(bits: &[u64], object: u32) -> bool {
    let word = bits.get(object as usize / 64);
    word.is_some_and(|word| word & (1 << (object % 64)) != 0)
}

fn stratum(heap: &Heap<'_>, object: u32) -> Stratum {
    let bytes = heap.shallow_bytes(object);
    (heap.class(object), u64::BITS - bytes.leading_zeros())
}

/// Sums of this size need no more digits than a float has.
#[allow(clippy::cast_precision_loss)]
fn number(count: u64) -> f64 {
    count as f64
}
