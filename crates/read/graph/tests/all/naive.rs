//! Retained sizes of random graphs, compared object by object with a naive algorithm: the objects
//! that become unreachable when an object is removed.

use std::collections::BTreeSet;

use graph::{Dominator, Heap, LoaderTotal, Options, References, Retained};
use proptest::prelude::*;
use sample::Dump;

/// A heap of arrays: the targets of each, the roots, and the objects held by the only thread.
#[derive(Clone, Debug)]
struct Model {
    targets: Vec<Vec<usize>>,
    roots: BTreeSet<usize>,
    locals: BTreeSet<usize>,
}

impl Model {
    fn reachable(&self, without: &[usize]) -> BTreeSet<usize> {
        // The thread is also a root, but not one of the objects.
        let mut open: Vec<usize> = self.roots.union(&self.locals).copied().collect();
        let mut found = BTreeSet::new();
        while let Some(object) = open.pop() {
            if !without.contains(&object) && found.insert(object) {
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
        let all = model.reachable(&[]);
        for object in 0..model.targets.len() {
            let number = heap.object(id(object)).unwrap();
            prop_assert_eq!(heap.id(number), id(object));
            let left = model.reachable(&[object]);
            let lost = all.difference(&left).map(|object| model.bytes(*object, wide));
            prop_assert_eq!(retained.bytes(number), lost.sum::<u64>(), "object {}", object);
            prop_assert_eq!(retained.dominator(number) == Dominator::Unreachable, !all.contains(&object));
        }
    }
}

/// Classes that can be unloaded, because the first array is their loader; an object keeps its class
/// alive.
const CLASSES: usize = 3;
/// Index of the first class among the nodes: arrays come first, instances last.
const FIRST_CLASS: usize = 12;
/// Arrays, classes and instances.
const NODES: usize = 40;

/// Arrays, classes of the first array's loader with one static field each, and instances of these
/// classes with one field each.
fn unloadable() -> impl Strategy<Value = Model> {
    let node = 0..NODES;
    let arrays =
        proptest::collection::vec(proptest::collection::vec(node.clone(), 0..5), FIRST_CLASS);
    let statics = proptest::collection::vec(node.clone(), CLASSES);
    let instances = NODES - FIRST_CLASS - CLASSES;
    let instances = proptest::collection::vec((0..CLASSES, node), instances);
    let roots = proptest::collection::btree_set(0..NODES, 1..4);
    (arrays, statics, instances, roots).prop_map(|(arrays, statics, instances, roots)| {
        let classes = statics.into_iter().map(|field| vec![0, field]);
        let instances = instances
            .into_iter()
            .map(|(class, field)| vec![FIRST_CLASS + class, field]);
        Model {
            targets: arrays.into_iter().chain(classes).chain(instances).collect(),
            roots,
            locals: BTreeSet::new(),
        }
    })
}

fn unloadable_dump(model: &Model) -> Dump {
    let mut dump = Dump::new(8);
    for (node, targets) in model.targets.iter().enumerate() {
        match node {
            0..FIRST_CLASS => {
                let ids = targets.iter().map(|target| id(*target));
                dump.object_array(id(node), &ids.collect::<Vec<_>>());
            }
            node if node < FIRST_CLASS + CLASSES => {
                let statics = [("held", id(targets[1]))];
                dump.class(
                    id(node),
                    "app/Item",
                    Dump::OBJECT,
                    id(0),
                    &["next"],
                    &statics,
                );
            }
            _ => dump.instance(id(node), id(targets[0]), &[id(targets[1])]),
        }
    }
    model.roots.iter().for_each(|root| dump.root(id(*root)));
    dump
}

proptest! {
    #[test]
    fn an_object_keeps_a_class_that_can_be_unloaded(model in unloadable(), packed in any::<bool>()) {
        let file = unloadable_dump(&model).file(packed);
        let input = graph::Input::new(file, &|_| {}).unwrap();
        let heap = Heap::read(input, Options { threads: 1, by_rule: false }).unwrap();
        let retained = Retained::of(&heap, References::All).unwrap();
        let all = model.reachable(&[]);
        let number = |node: usize| heap.object(id(node)).unwrap();
        for node in 0..NODES {
            let left = model.reachable(&[node]);
            let lost = all.difference(&left).map(|node| heap.shallow_bytes(number(*node)));
            prop_assert_eq!(retained.bytes(number(node)), lost.sum::<u64>(), "node {}", node);
        }
        // The loader and its classes as one.
        let left = model.reachable(&[0, FIRST_CLASS, FIRST_CLASS + 1, FIRST_CLASS + 2]);
        let lost = all.difference(&left).map(|node| heap.shallow_bytes(number(*node)));
        let (loaders, _) = LoaderTotal::largest(&heap, &retained, usize::MAX).unwrap();
        let found = loaders.iter().find(|total| total.loaders == [id(0)]);
        prop_assert_eq!(found.map_or(0, |total| total.retained_bytes), lost.sum::<u64>());
    }
}
