//! What a suspect holds, as the developer knows it: the objects that the program put into
//! collections, not the nodes and arrays between them.

// The file determines the names, so their hash function is seeded.
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::accumulation::is_less;
use crate::heap::Heap;
use crate::object_set::ObjectSet;
use crate::retained::Retained;
use crate::structure::{Part, Structure};
use crate::tops::Tops;

/// A class of the program comes before one of the JDK if it has at least this share of its bytes.
const OWN: (u64, u64) = (1, 4);

/// Elements must have at least this share of what holds them.
const MOST: (u64, u64) = (1, 2);

/// Fewer objects than these may be holders of many elements rather than elements.
const HOLDERS_MAX: u64 = 1_000;

/// Elements are at least this many times as many as their holders.
const MANY: u64 = 8;

/// Numbers that differ by less than this part are those of keys and their values.
pub(crate) const ALIKE: u64 = 32;

/// Holders within holders that are passed on the way to the elements.
const LEVELS_MAX: usize = 8;

/// Objects of one class below a suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Their class.
    pub class: u32,
    /// Number of objects.
    pub objects: u64,
    /// Sum of the bytes that they retain.
    pub bytes: u64,
    /// The one of them that retains most.
    pub example: u32,
}

/// What a suspect holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The objects that a developer would name; `None` if it is one object, or nothing stands out.
    pub elements: Option<Elements>,
    /// The few objects of the program that hold the elements, outermost first.
    pub holders: Vec<Elements>,
    /// Objects that are as many as the elements, if those are none of the program: the values of a
    /// map whose keys have the bytes.
    pub beside: Option<Elements>,
    /// Whether it is known that they are the values, and the elements the keys.
    pub are_entries: bool,
    /// Objects that several of a group refer to, so that none of it retains them, if nothing else
    /// stands out.
    pub shared: Option<Elements>,
    /// The first objects below that are no structure, by class, most retained bytes first.
    pub below: Vec<Elements>,
}

impl Elements {
    /// No object of this class yet.
    pub(crate) fn none(class: u32, example: u32) -> Self {
        Self {
            class,
            objects: 0,
            bytes: 0,
            example,
        }
    }

    /// Counts an object that retains so many bytes.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A search below some objects.
struct Search<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    structure: &'a Structure,
}

impl Held {
    /// What these objects hold, which retain `bytes` together.
    pub(crate) fn of(
        heap: &Heap<'_>,
        retained: &Retained,
        structure: &Structure,
        holders: &[u32],
        bytes: u64,
    ) -> Self {
        let search = Search {
            heap,
            retained,
            structure,
        };
        let below = search.below(holders, &FxHashSet::default());
        let mut held = Self {
            elements: search.named(&below, bytes),
            below,
            ..Self::default()
        };
        search.take_collections(&mut held, holders, bytes);
        search.unwrap(&mut held, holders);
        search.descend(&mut held, holders);
        search.complete(&mut held, holders);
        held.elements = held.elements.filter(|it| it.objects > 1);
        held.beside = search.beside(&held);
        held
    }

    /// What these objects of a class hold: they are elements themselves unless they are structure.
    pub(crate) fn of_group(
        heap: &Heap<'_>,
        retained: &Retained,
        structure: &Structure,
        class: u32,
        objects: &[u32],
    ) -> Self {
        let bytes = objects.iter().map(|object| retained.bytes(*object));
        let bytes = bytes.fold(0, u64::saturating_add);
        if structure.part(class) == Part::Structure {
            return Self::of(heap, retained, structure, objects, bytes);
        }
        let search = Search {
            heap,
            retained,
            structure,
        };
        let elements = objects.first().map(|first| Elements {
            class,
            objects: objects.len() as u64,
            bytes,
            example: *first,
        });
        let mut held = Self {
            elements,
            below: elements.into_iter().collect(),
            ..Self::default()
        };
        search.unwrap(&mut held, objects);
        search.descend(&mut held, objects);
        search.complete(&mut held, objects);
        held
    }
}

/// Whether there are as many of the ones as of the others.
fn are_alike(ones: &Elements, others: &Elements) -> bool {
    let difference = ones.objects.abs_diff(others.objects);
    difference.saturating_mul(ALIKE) <= others.objects
}

impl Search<'_, '_> {
    /// The first objects below these that are no structure, by class. Objects of the classes in
    /// `passed` are walked through, but count.
    fn below(&self, from: &[u32], passed: &FxHashSet<u32>) -> Vec<Elements> {
        let mut found: FxHashMap<u32, Elements> = FxHashMap::default();
        // An object, and whether it is below one that carries, whose bytes are counted with that.
        let mut open: Vec<(u32, bool)> = Vec::new();
        let below = |object: u32| self.retained.each_dominated(object);
        let tops = from.iter().flat_map(|object| below(*object));
        open.extend(tops.map(|object| (object, false)));
        while let Some((object, is_carried)) = open.pop() {
            let class = self.heap.class(object);
            let is_passed = passed.contains(&class);
            let carries = self.structure.carries(class);
            if is_passed || self.structure.part(class) == Part::Structure {
                let is_carried = is_carried || carries;
                open.extend(below(object).map(|object| (object, is_carried)));
            }
            let is_content = self.structure.part(class) != Part::Structure;
            if is_passed || is_content || carries {
                let bytes = match (is_passed, carries && is_carried) {
                    (true, _) => self.heap.shallow_bytes(object),
                    (false, true) => 0,
                    (false, false) => self.retained.bytes(object),
                };
                let all = found.entry(class);
                let all = all.or_insert(Elements::none(class, object));
                all.add(bytes);
                if self.retained.bytes(object) > self.retained.bytes(all.example) {
                    all.example = object;
                }
            }
        }
        let mut all = by_name(self.heap, self.retained, found.into_values());
        all.sort_by_key(|it| (std::cmp::Reverse(it.bytes), it.class));
        all
    }

    /// The class that stands for the whole: the largest of the program if it has its share, else
    /// the largest.
    fn named(&self, below: &[Elements], bytes: u64) -> Option<Elements> {
        let largest = below.first().copied()?;
        let is_own = |it: &&Elements| self.structure.part(it.class) == Part::Own;
        let own = below.iter().find(is_own).copied();
        let own = own.filter(|own| !is_less(own.bytes, OWN, largest.bytes));
        let mut named = own.into_iter().chain([largest]);
        named.find(|it| !is_less(it.bytes, OWN, bytes))
    }

    /// If what is in the collections of a class does not stand out, but they have most of the
    /// bytes, they are the elements; or the objects of the program that are in each.
    fn take_collections(&self, held: &mut Held, from: &[u32], bytes: u64) {
        if held.elements.is_some() {
            return;
        }
        let mut found: FxHashMap<u32, Elements> = FxHashMap::default();
        let below = |object: u32| self.retained.each_dominated(object);
        let mut open: Vec<u32> = from.iter().flat_map(|it| below(*it)).collect();
        while let Some(object) = open.pop() {
            let class = self.heap.class(object);
            if self.structure.part(class) != Part::Structure {
                continue;
            }
            if self.structure.is_collection(class) && !self.structure.is_nested(class) {
                let all = found.entry(class).or_insert(Elements::none(class, object));
                all.add(self.retained.bytes(object));
            } else {
                open.extend(below(object));
            }
        }
        let has_most = |it: &Elements| it.objects >= MANY && !is_less(it.bytes, MOST, bytes);
        held.elements = found.into_values().find(has_most);
        let Some(collections) = held.elements else {
            return;
        };
        held.below.insert(0, collections);
        let is_in_each = |it: &&Elements| self.is_own(it) && are_alike(it, &collections);
        if let Some(own) = held.below.iter().find(is_in_each) {
            held.elements = Some(Elements {
                bytes: collections.bytes,
                ..*own
            });
            held.holders.push(collections);
        }
    }

    fn beside(&self, held: &Held) -> Option<Elements> {
        let elements = held
            .elements
            .filter(|it| !self.is_own(it) && it.objects >= MANY)?;
        let is_near = |it: &&Elements| self.is_own(it) && are_alike(it, &elements);
        held.below.iter().find(is_near).copied()
    }

    /// Passes objects of the JDK, or without a name, that hold as many of the program, which have
    /// most of their bytes.
    fn unwrap(&self, held: &mut Held, from: &[u32]) {
        let Some(outer) = held.elements.filter(|it| it.objects > 1) else {
            return;
        };
        let mut passed: FxHashSet<u32> = FxHashSet::default();
        let mut at = outer;
        for _ in 0..LEVELS_MAX {
            if !self.structure.is_wrapper(at.class) {
                return;
            }
            self.pass(&mut passed, at.class);
            let mut below = self.below(from, &passed);
            below.retain(|it| !passed.contains(&it.class));
            let has_most = |it: &&Elements| !is_less(it.bytes, MOST, at.bytes);
            let Some(next) = below.first().filter(has_most).copied() else {
                return;
            };
            let is_named = self.is_own(&next) && !self.structure.is_wrapper(next.class);
            if is_named && next.objects >= outer.objects / 2 {
                held.holders.push(outer);
                (held.elements, held.below) = (Some(next), below);
                return;
            }
            at = next;
        }
    }

    /// Passes holders: few objects below which there are many more that have most of their bytes.
    fn descend(&self, held: &mut Held, from: &[u32]) {
        let mut passed: FxHashSet<u32> = FxHashSet::default();
        for _ in 0..LEVELS_MAX {
            let may_hold = |it: &Elements| it.objects <= HOLDERS_MAX && self.is_own(it);
            let Some(holder) = held.elements.filter(may_hold) else {
                return;
            };
            self.pass(&mut passed, holder.class);
            let (inside, outside): (Vec<Elements>, Vec<Elements>) = self
                .below(from, &passed)
                .into_iter()
                .partition(|it| passed.contains(&it.class));
            // What belongs to a run of nodes counts as its nodes.
            let is_run = |it: &&Elements| it.objects >= holder.objects.saturating_mul(MANY);
            let nodes = inside.iter().filter(is_run).max_by_key(|it| it.objects);
            let Some(next) = self.next(holder, nodes, &outside) else {
                return;
            };
            held.holders.push(nodes.copied().unwrap_or(holder));
            (held.elements, held.below) = (Some(next), outside);
        }
    }

    /// Adds all classes of this name: several loaders may define it.
    fn pass(&self, passed: &mut FxHashSet<u32>, class: u32) {
        let name = self.heap.class_name(class);
        let is_named = |class: &u32| self.heap.class_name(*class) == name;
        passed.extend((0..self.heap.classes()).filter(is_named));
    }

    fn is_own(&self, it: &Elements) -> bool {
        self.structure.part(it.class) == Part::Own
    }

    /// The many objects below a holder or its nodes that have most of its bytes.
    fn next(
        &self,
        holder: Elements,
        nodes: Option<&Elements>,
        below: &[Elements],
    ) -> Option<Elements> {
        let least = holder.objects.saturating_mul(MANY);
        let many = nodes.map_or(least, |nodes| nodes.objects / 2);
        let next = self.named(below, holder.bytes)?;
        let has_most = !is_less(next.bytes, MOST, holder.bytes);
        let is_named = self.is_own(&next) || nodes.is_none();
        (has_most && is_named && next.objects >= many).then_some(next)
    }

    /// Counts those elements, too, that others of them are linked to, and all that are below others
    /// if these are many: a chain may lead over objects of other classes.
    fn complete(&self, held: &mut Held, from: &[u32]) {
        let Some(elements) = held.elements.filter(|it| self.is_own(it)) else {
            return;
        };
        let is_collection = |it: &Elements| self.structure.part(it.class) == Part::Structure;
        if held.holders.last().is_some_and(is_collection) {
            // They have the bytes of the collections that they are in.
            return;
        }
        let mut classes: FxHashSet<u32> = FxHashSet::default();
        self.pass(&mut classes, elements.class);
        let all = self.heap.objects_of(|it| classes.contains(&it)).count() as u64;
        if all == elements.objects {
            return;
        }
        let mut tops = Elements::none(elements.class, elements.example);
        let (mut linked, mut inner) = (0, 0);
        // An object, and whether one of them is above it, and next to it.
        let mut open: Vec<(u32, [bool; 2])> = from.iter().map(|it| (*it, [false; 2])).collect();
        while let Some((object, [is_below, is_next])) = open.pop() {
            let is_one = classes.contains(&self.heap.class(object));
            let bytes = self.retained.bytes(object);
            if is_one && is_below {
                inner += 1;
                linked += u64::from(is_next);
            } else if is_one {
                tops.add(bytes);
                if bytes > self.retained.bytes(tops.example) {
                    tops.example = object;
                }
            }
            let below = self.retained.each_dominated(object);
            open.extend(below.map(|it| (it, [is_below || is_one, is_one])));
        }
        let firsts = tops.objects;
        let is_run = firsts + inner >= firsts.saturating_mul(MANY);
        tops.objects += if is_run { inner } else { linked };
        // Others may be parts of something else.
        if firsts <= elements.objects {
            held.elements = Some(tops);
            let rows = held.below.iter_mut();
            rows.filter(|row| row.class == tops.class)
                .for_each(|row| *row = tops);
        }
    }
}

/// Classes of one name, of several loaders, as one.
pub(crate) fn by_name(
    heap: &Heap<'_>,
    retained: &Retained,
    all: impl Iterator<Item = Elements>,
) -> Vec<Elements> {
    let mut names: HashMap<String, Elements> = HashMap::new();
    for one in all {
        let merged = names.entry(heap.class_name(one.class)).or_insert(Elements {
            objects: 0,
            bytes: 0,
            ..one
        });
        merged.objects += one.objects;
        merged.bytes = merged.bytes.saturating_add(one.bytes);
        merged.class = merged.class.min(one.class);
        let largest = |it: u32| (retained.bytes(it), std::cmp::Reverse(it));
        if largest(one.example) > largest(merged.example) {
            merged.example = one.example;
        }
    }
    names.into_values().collect()
}

/// The objects without a dominator to which the structure below `holders` refers: those of the
/// class that has the most bytes, if these are more than `least`.
pub(crate) fn shared(
    heap: &Heap<'_>,
    retained: &Retained,
    structure: &Structure,
    holders: &[u32],
    least: u64,
    tops: &Tops,
) -> Option<Elements> {
    let mut seen = ObjectSet::with_room(heap.objects());
    let mut found: FxHashMap<u32, Elements> = FxHashMap::default();
    let below = holders.iter().flat_map(|it| retained.subtree(*it));
    let is_structure = |object: u32| structure.part(heap.class(object)) == Part::Structure;
    let targets = below
        .filter(|it| is_structure(*it))
        .flat_map(|it| heap.targets(it));
    for object in targets.copied() {
        let is_free = tops.is_top(retained, object);
        if is_free && !is_structure(object) && seen.insert(object) {
            let class = heap.class(object);
            let all = found.entry(class);
            all.or_insert(Elements::none(class, object))
                .add(retained.bytes(object));
        }
    }
    let all = by_name(heap, retained, found.into_values());
    let largest = all.into_iter().max_by_key(|it| (it.bytes, it.class));
    largest.filter(|it| it.bytes > least)
}
