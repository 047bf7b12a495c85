//! Loaders that define the same classes, as redeployed applications leave behind.
//!
//! What a loader keeps alive is what it, its classes and their static fields hold. No single object
//! dominates that: an instance of one class that a thread holds keeps the class, which keeps the
//! loader. So the bytes of a group are those that no root leads to without passing a loader or a
//! class of the group.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::heap::Heap;
use crate::retained::Retained;

/// A loader belongs to a group if at least this share of its classes are those of the group.
const ALIKE: (usize, usize) = (1, 2);

/// So many equal names are no chance, even if the other loader defines many more.
const CERTAIN: usize = 10;

/// Most groups for which the bytes are computed.
const GROUPS_MAX: usize = 3;

/// Most dominators of a class among which a loader or class of the group is looked for.
const LEVELS_MAX: usize = 1_000;

/// Parts of the names of classes that the JDK makes while a program runs.
const MADE: [&str; 4] = ["$$Lambda", "/0x", "$Proxy", "GeneratedMethodAccessor"];

/// Loaders of one class that define the same classes.
#[derive(Clone, Debug)]
pub(crate) struct LoaderCopies {
    /// The loaders.
    pub(crate) loaders: Vec<u32>,
    /// The outermost of the loaders and their class objects: no other of them dominates these.
    pub(crate) members: Vec<u32>,
    /// Number of classes that all of them define; at least 1.
    pub(crate) classes: u64,
    /// Bytes that they keep alive together.
    pub(crate) bytes: u64,
    /// A bit for each object: whether it would stay alive without them.
    others: Vec<u64>,
}

/// A loader and its classes.
struct Loader {
    object: u32,
    /// Their names and the class objects.
    classes: HashMap<Box<[u8]>, u32>,
}

impl LoaderCopies {
    /// The groups of two or more loaders that retain more than `least` bytes.
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained, least: u64) -> Vec<Self> {
        let mut groups = groups(heap, retained);
        let classes = |group: &Vec<Loader>| group.iter().map(|it| it.classes.len()).sum::<usize>();
        groups.sort_by_key(|group| Reverse(classes(group)));
        groups.truncate(GROUPS_MAX);
        let copies = groups.iter().map(|group| Self::new(heap, retained, group));
        copies.filter(|copies| copies.bytes > least).collect()
    }

    fn new(heap: &Heap<'_>, retained: &Retained, group: &[Loader]) -> Self {
        let objects = |loader: &Loader| {
            let classes: Vec<u32> = loader.classes.values().copied().collect();
            std::iter::once(loader.object).chain(classes)
        };
        let all: FxHashSet<u32> = group.iter().flat_map(objects).collect();
        let (others, bytes) = reached_without(heap, retained, &all);
        let is_outermost = |object: &u32| {
            retained.is_reachable(*object)
                && !retained
                    .dominators(*object)
                    .take(LEVELS_MAX)
                    .any(|at| all.contains(&at))
        };
        let mut members: Vec<u32> = all.iter().copied().filter(is_outermost).collect();
        members.sort_unstable();
        Self {
            loaders: group.iter().map(|loader| loader.object).collect(),
            members,
            classes: shared_classes(group),
            bytes: retained.total_bytes().saturating_sub(bytes),
            others,
        }
    }

    /// Whether an object is kept alive only by these loaders.
    pub(crate) fn keep(&self, object: u32) -> bool {
        let word = self.others.get(object as usize / 64);
        word.is_some_and(|word| word & (1 << (object % 64)) == 0)
    }
}

/// Reachable loaders of one class by the classes that they define.
fn groups(heap: &Heap<'_>, retained: &Retained) -> Vec<Vec<Loader>> {
    let mut loaders = loaders(heap);
    loaders.retain(|loader| retained.is_reachable(loader.object));
    loaders.sort_by_key(|loader| (Reverse(loader.classes.len()), loader.object));
    let mut groups: Vec<Vec<Loader>> = Vec::new();
    // The groups whose first loader defines a class, by the loader's class and the name.
    let mut known: HashMap<(u32, Box<[u8]>), usize> = HashMap::new();
    for loader in loaders {
        let class = heap.class(loader.object);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for name in loader.classes.keys() {
            if let Some(group) = known.get(&(class, name.clone())) {
                *shared.entry(*group).or_default() += 1;
            }
        }
        let most = shared
            .into_iter()
            .max_by_key(|(group, count)| (*count, Reverse(*group)));
        let is_alike = |(group, count): &(usize, usize)| {
            let first = groups.get(*group).and_then(|group| group.first());
            let first = first.map_or(0, |first| first.classes.len());
            let is_copy = count * ALIKE.1 >= first * ALIKE.0 || *count >= CERTAIN;
            is_copy && count * ALIKE.1 >= loader.classes.len() * ALIKE.0
        };
        match most
            .filter(is_alike)
            .and_then(|(group, _)| groups.get_mut(group))
        {
            Some(group) => group.push(loader),
            None => {
                for name in loader.classes.keys() {
                    known.entry((class, name.clone())).or_insert(groups.len());
                }
                groups.push(vec![loader]);
            }
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Number of classes that all of these define; at least 1.
fn shared_classes(group: &[Loader]) -> u64 {
    let shared = group.split_first().map_or(0, |(first, others)| {
        let in_all = |name: &[u8]| others.iter().all(|it| it.classes.contains_key(name));
        first.classes.keys().filter(|name| in_all(name)).count() as u64
    });
    shared.max(1)
}

/// The loaders, but for the bootstrap loader, that define classes which the program has as files.
fn loaders(heap: &Heap<'_>) -> Vec<Loader> {
    let (table, strings) = (&heap.directory().classes, &heap.directory().strings);
    let mut loaders: FxHashMap<u32, Loader> = FxHashMap::default();
    for class in table.iter().filter(|class| class.loader != 0) {
        let Some(name) = strings.text(class.name) else {
            continue;
        };
        let is_made = MADE.iter().any(|part| name.contains(part));
        let is_array = name.starts_with('[') || name.ends_with(']');
        let objects = (heap.object(class.loader), heap.object(class.id));
        if let (false, false, (Some(object), Some(class))) = (is_made, is_array, objects) {
            let loader = loaders.entry(object).or_insert_with(|| Loader {
                object,
                classes: HashMap::new(),
            });
            loader.classes.insert(name.as_bytes().into(), class);
        }
    }
    loaders.into_values().collect()
}

/// The objects that roots lead to without passing one of these, a bit for each, and their bytes.
fn reached_without(
    heap: &Heap<'_>,
    retained: &Retained,
    without: &FxHashSet<u32>,
) -> (Vec<u64>, u64) {
    let graph = heap.graph(retained.rule());
    let mut reached = vec![0_u64; heap.objects() as usize / 64 + 1];
    let (mut open, mut bytes) = (Vec::new(), 0_u64);
    let mut reach = |object: u32, open: &mut Vec<u32>| {
        let Some(word) = reached.get_mut(object as usize / 64) else {
            return;
        };
        let bit = 1 << (object % 64);
        if *word & bit == 0 && !without.contains(&object) {
            *word |= bit;
            bytes = bytes.saturating_add(heap.shallow_bytes(object));
            open.push(object);
        }
    };
    graph.roots().for_each(|root| reach(root, &mut open));
    while let Some(object) = open.pop() {
        let (class, referent) = graph.implied(object);
        let stored = graph.edges.of(object).iter().copied();
        for target in stored.chain(class).chain(referent) {
            reach(target, &mut open);
        }
    }
    (reached, bytes)
}
