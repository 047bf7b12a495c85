//! The bytes retained by the objects that each stack allocated.
//!
//! A dump may have allocation stacks for only some objects: those that the profiler sampled, with a
//! probability that depends on their size. Each of them represents a number of objects: those in
//! the dump with its class and size, divided by those of them that have a stack
//! (post-stratification; Cochran, "Sampling Techniques", 5A.9). Objects created before the profiler
//! started have no stack, and thus count towards the sites of their class.

use std::collections::HashMap;

use reader::{Amount, Counted, SiteTable, Stacks, Stratum};

use crate::heap::Heap;
use crate::object_set::ObjectSet;
use crate::retained::Retained;

/// Objects of one class allocated by one stack, without those that another object of the class
/// dominates, so that no byte of a list or a tree counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteTotal {
    /// The class.
    pub class: u32,
    /// Serial number of the trace.
    pub trace: u32,
    /// Number of objects; an estimate if there is an error.
    pub objects: f64,
    /// Bytes that they retain; an estimate if there is an error.
    pub retained_bytes: f64,
    /// Standard error of the retained bytes; 0 if all objects of these classes and sizes have a
    /// stack.
    pub error_bytes: f64,
}

impl SiteTotal {
    /// Adds the objects of another site.
    pub fn add(&mut self, more: &Self) {
        self.objects += more.objects;
        self.retained_bytes += more.retained_bytes;
        self.error_bytes = self.error_bytes.hypot(more.error_bytes);
    }
}

/// Numbers of a stratum's reachable objects, and of those among them that have a stack.
type Counts = HashMap<Stratum, (u64, u64)>;

impl Retained {
    /// The sites of all objects that have a stack, largest retained size first.
    pub fn sites(&self, heap: &Heap<'_>) -> Vec<SiteTotal> {
        let outermost = self.outermost(heap);
        let counts = self.strata(heap);
        let mut sites: HashMap<(u32, u32), SiteTotal> = HashMap::new();
        for (object, trace) in heap
            .traced()
            .iter()
            .filter(|(object, _)| outermost.contains(*object))
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
            // This is the variance until all objects are added.
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

    /// The live objects of each site, see [`SiteTable::of_heap`]; `None` if no reachable object has
    /// a stack.
    pub fn live_sites(&self, heap: &Heap<'_>, stacks: &Stacks) -> Option<SiteTable> {
        let mut amounts: HashMap<(u32, Stratum, Option<u32>), Amount> = HashMap::new();
        let traced = heap
            .traced()
            .iter()
            .filter(|(object, _)| self.is_reachable(*object));
        for (object, trace) in traced {
            let trace = (!stacks.is_empty(*trace)).then_some(*trace);
            let key = (heap.class(*object), stratum(heap, *object), trace);
            let amount = amounts.entry(key).or_default();
            amount.objects += 1;
            amount.bytes = amount.bytes.saturating_add(heap.shallow_bytes(*object));
        }
        let counted = |class: u32, stratum, trace, amount| Counted {
            class: heap.class_name(class).into(),
            stratum,
            trace,
            amount,
        };
        let mut all: Vec<Counted> = Vec::new();
        for ((class, stratum, trace), amount) in amounts {
            all.push(counted(class, stratum, trace, amount));
        }
        for (stratum, (objects, traced)) in self.strata(heap) {
            let class = u32::try_from(stratum.0).unwrap_or(u32::MAX);
            let objects = objects.saturating_sub(traced);
            all.push(counted(class, stratum, None, Amount { objects, bytes: 0 }));
        }
        SiteTable::of_heap(&all, heap.sites().as_ref())
    }

    /// The reachable objects of all strata in which at least one object has a stack.
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
    fn outermost(&self, heap: &Heap<'_>) -> ObjectSet {
        let mut outermost = ObjectSet::with_room(heap.objects());
        // Number of objects of each class on the path from the virtual root.
        let mut above = vec![0_u32; heap.classes() as usize];
        self.walk_tree(|object, _, enters| {
            let Some(above) = above.get_mut(heap.class(object) as usize) else {
                return;
            };
            if !enters {
                *above -= 1;
                return;
            }
            if *above == 0 {
                outermost.insert(object);
            }
            *above += 1;
        });
        outermost
    }
}

/// The stratum of an object.
pub(crate) fn stratum(heap: &Heap<'_>, object: u32) -> Stratum {
    let bytes = heap.shallow_bytes(object);
    (heap.class(object).into(), u64::BITS - bytes.leading_zeros())
}

/// Sums of this size are exact in a float.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}
