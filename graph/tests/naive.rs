//! Retained sizes of random graphs, compared object by object with a naive algorithm: the objects that become
//! unreachable when an object is removed.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod written;

use std::collections::BTreeSet;

use graph::{Dominator, Heap, Options, References, Retained};
use proptest::prelude::*;
use written::Dump;

/// A heap of arrays: the targets of each, the roots, and the objects that the one thread holds.
#[derive(Clone, Debug)]
struct Model {
    targets: Vec<Vec<usize>>,
    roots: BTreeSet<usize>,
    locals: BTreeSet<usize>,
}

impl Model {
    fn reachable(&self, without: Option<usize>) -> BTreeSet<usize> {
        // The thread is also a root, but not one of the objects.
        let mut open: Vec<usize> = self.roots.union(&self.locals).copied().collect();
        let mut found = BTreeSet::new();
        while let Some(object) = open.pop() {
            if Some(object) != without && found.insert(object) {
                open.extend(&self.targets[object]);
            }
        }
        found
    }

    fn bytes(&self, object: usize, wide: bool) -> u64 {
        // Addresses are low, so references take four bytes.
        (if wide { 16 } else { 12 } + 4 * self.targets[object].len() as u64).next_multiple_of(8)
    }

    fn dump(&self, id_bytes: u32, shuffled: bool) -> Dump {
        let mut dump = Dump::new(id_bytes);
        let order: Vec<usize> = if shuffled {
            let (even, odd): (Vec<_>, Vec<_>) = (0..self.targets.len()).partition(|n| n % 2 == 0);
            odd.into_iter().chain(even).collect()
        } else {
            (0..self.targets.len()).collect()
        };
        for object in order {
            let targets = self.targets[object].iter().map(|target| id(*target));
            dump.object_array(id(object), &targets.collect::<Vec<_>>());
        }
        self.roots.iter().for_each(|root| dump.root(id(*root)));
        self.locals.iter().for_each(|local| dump.local(id(*local)));
        dump
    }
}

fn id(object: usize) -> u64 {
    0x10_0000 + object as u64 * 64
}

fn model() -> impl Strategy<Value = Model> {
    (2_usize..40).prop_flat_map(|count| {
        let targets = proptest::collection::vec(proptest::collection::vec(0..count, 0..4), count);
        let some = || proptest::collection::btree_set(0..count, 0..4);
        (targets, some(), some()).prop_map(|(targets, roots, locals)| Model {
            targets,
            roots,
            locals,
        })
    })
}

proptest! {
    #[test]
    fn retained_sizes_are_those_of_the_naive_algorithm(
        model in model(), wide in any::<bool>(), shuffled in any::<bool>(), packed in any::<bool>(), threads in 1_usize..3
    ) {
        let file = model.dump(if wide { 8 } else { 4 }, shuffled).file(packed);
        let input = graph::Input::new(file, &|_| {}).unwrap();
        let heap = Heap::read(input, Options { threads, by_rule: false }).unwrap();
        let retained = Retained::of(&heap, References::All).unwrap();
        let all = model.reachable(None);
        for object in 0..model.targets.len() {
            let number = heap.object(id(object)).unwrap();
            prop_assert_eq!(heap.id(number), id(object));
            let left = model.reachable(Some(object));
            let lost = all.difference(&left).map(|object| model.bytes(*object, wide));
            prop_assert_eq!(retained.bytes(number), lost.sum::<u64>(), "object {}", object);
            prop_assert_eq!(retained.dominator(number) == Dominator::Unreachable, !all.contains(&object));
        }
    }
}
