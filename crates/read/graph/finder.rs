//! Finds suspects: single objects, and objects of one class together.

// The file determines the names, so their hash function is seeded.
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::accumulation::{accumulation_point, is_less, BIG_DROP};
use crate::common_path::Common;
use crate::elements::{shared, Held};
use crate::heap::Heap;
use crate::held_sites::HeldSites;
use crate::loader_copies::LoaderCopies;
use crate::retained::{Dominator, Retained};
use crate::samples::Spread;
use crate::search::Search;
use crate::softly::SoftlyHeld;
use crate::structure::Structure;
use crate::suspect::{Group, Suspect, Who};
use crate::tops::Tops;

/// A thread or loader that retains less than a tenth of what the largest one does has no part in
/// what they retain together.
const SMALL: (u64, u64) = (1, 10);

/// Most objects of a class whose paths are compared.
pub const PATHS_MAX: usize = 10_000;

/// Most classes listed for the objects that a suspect holds.
pub(crate) const GROUPS_MAX: usize = 10;

/// What suspects are found from.
pub(crate) struct Finder<'a, 'p> {
    pub(crate) heap: &'a Heap<'p>,
    pub(crate) retained: &'a Retained,
    pub(crate) structure: Structure,
    pub(crate) tops: Tops,
    pub(crate) soft: SoftlyHeld,
    /// A single object that retains more is a suspect of its own.
    pub(crate) least: u64,
}

/// Objects of one class without a dominator.
pub(crate) struct Objects {
    pub(crate) class: u32,
    pub(crate) objects: Vec<u32>,
    bytes: u64,
    /// Whether it has those objects, too, that retain enough to be suspects of their own.
    is_whole: bool,
    /// Of class objects: how their names begin.
    pattern: Option<String>,
}

impl Objects {
    pub(crate) fn group(&self) -> Group {
        Group {
            class: self.class,
            objects: self.objects.len() as u64,
            bytes: self.bytes,
        }
    }

    /// Class objects whose names are of a pattern, taken out of these if they retain more than
    /// `least`.
    pub(crate) fn take(
        &mut self,
        retained: &Retained,
        (pattern, objects): (String, Vec<u32>),
        least: u64,
    ) -> Option<Self> {
        let bytes = objects.iter().map(|object| retained.bytes(*object));
        let bytes = bytes.fold(0, u64::saturating_add);
        if bytes <= least {
            return None;
        }
        let taken: FxHashSet<u32> = objects.iter().copied().collect();
        self.objects.retain(|object| !taken.contains(object));
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(Self {
            class: self.class,
            objects,
            bytes,
            is_whole: false,
            pattern: Some(pattern),
        })
    }

    /// Some of them, evenly spread.
    fn some(&self) -> Vec<u32> {
        let every = self.objects.len().div_ceil(PATHS_MAX).max(1);
        self.objects.iter().copied().step_by(every).collect()
    }
}

impl Finder<'_, '_> {
    pub(crate) fn object(&self, object: u32) -> Suspect {
        let (heap, retained) = (self.heap, self.retained);
        let point = accumulation_point(heap, retained, object);
        let bytes = retained.bytes(point);
        let held = Held::of(heap, retained, &self.structure, &[point], bytes);
        let suspect = Suspect {
            soft_bytes: self.soft.below(|top| top == object),
            typical: Some(object),
            accumulation: Some(point),
            accumulated_bytes: bytes,
            ..Suspect::new(Who::Object(object), retained.bytes(object), held)
        };
        self.with_contents(suspect, || retained.subtree(point))
    }

    /// The single objects, and the groups by class, that retain enough. Threads and loaders are
    /// groups unless one of them has most of the bytes.
    pub(crate) fn candidates(&self) -> (Vec<u32>, Vec<Objects>) {
        let (heap, retained) = (self.heap, self.retained);
        let (large, rest) = (&self.tops.large, &self.tops.small);
        let is_one_of_many = |object: &u32| self.structure.is_one_of_many(heap.class(*object));
        let (pooled, mut single): (Vec<u32>, Vec<u32>) =
            large.iter().partition(|object| is_one_of_many(object));
        let classes: FxHashSet<u32> = pooled.iter().map(|object| heap.class(*object)).collect();
        let in_pools = large
            .iter()
            .chain(rest)
            .filter(|object| classes.contains(&heap.class(**object)));
        let mut whole = by_class(heap, retained, in_pools);
        whole.retain_mut(|group| {
            self.leave_small(group);
            let largest = group.objects.first().copied();
            let largest = largest.map_or(0, |object| retained.bytes(object));
            group.is_whole = is_less(largest, BIG_DROP, group.bytes);
            group.is_whole
        });
        let is_whole = |object: &u32| {
            let class = heap.class(*object);
            whole.iter().any(|group| group.class == class)
        };
        single.extend(pooled.iter().filter(|object| !is_whole(object)));
        let rest = rest.iter().filter(|object| !is_whole(object));
        let mut groups = by_class(heap, retained, rest);
        for group in &mut groups {
            self.leave_small(group);
        }
        groups.extend(whole);
        groups.retain(|group| group.bytes > self.least);
        (single, groups)
    }

    /// Whether objects retain hardly more than what loaders keep that they hold.
    pub(crate) fn only_hold(&self, objects: &[u32], copies: &[LoaderCopies]) -> bool {
        if copies.is_empty() {
            return false;
        }
        let held = objects
            .iter()
            .flat_map(|object| self.retained.subtree(*object));
        let besides = held.filter(|object| !copies.iter().any(|copies| copies.keep(*object)));
        let bytes = besides.map(|object| self.heap.shallow_bytes(object));
        bytes.fold(0, u64::saturating_add) <= self.least
    }

    /// Leaves only those threads and loaders in a group that have a part in what they retain.
    fn leave_small(&self, group: &mut Objects) {
        if self.structure.is_one_of_many(group.class) {
            let bytes = |object: &u32| self.retained.bytes(*object);
            let largest = group.objects.first().map_or(0, bytes);
            group
                .objects
                .retain(|object| !is_less(bytes(object), SMALL, largest));
            group.bytes = group.objects.iter().map(bytes).sum();
        }
    }

    /// The suspects of these groups; `search` finds the paths to their objects.
    pub(crate) fn groups(
        &self,
        groups: &[Objects],
        copies: &[LoaderCopies],
        search: &mut Search<'_, '_>,
    ) -> Vec<Suspect> {
        let some: Vec<Vec<u32>> = groups.iter().map(Objects::some).collect();
        let loaders = copies.iter().flat_map(|copies| &copies.loaders);
        let wanted: Vec<u32> = some.iter().flatten().chain(loaders).copied().collect();
        search.find(&wanted);
        let all = groups.iter().zip(&some);
        let all = all.map(|(group, some)| self.group(group, some, search));
        let copies = copies.iter().map(|copies| self.copies(copies, search));
        all.chain(copies).collect()
    }

    fn copies(&self, copies: &LoaderCopies, search: &Search<'_, '_>) -> Suspect {
        let (heap, retained) = (self.heap, self.retained);
        let common = Common::of(heap, retained, search, &copies.loaders);
        let members = &copies.members;
        let first = copies.loaders.first().copied().unwrap_or(0);
        let who = Who::Class {
            class: heap.class(first),
            objects: copies.loaders.len() as u64,
        };
        let held = Held::of(heap, retained, &self.structure, members, copies.bytes);
        let suspect = Suspect {
            typical: common.example,
            copied_classes: copies.classes,
            alike: common.alike,
            ..Suspect::new(who, copies.bytes, held)
        };
        let mut some = Spread::default();
        copies.loaders.iter().for_each(|loader| some.add(*loader));
        let some = some.samples(heap, retained);
        let suspect = self.with_contents(suspect, || {
            members.iter().flat_map(|object| retained.subtree(*object))
        });
        Suspect { some, ..suspect }
    }

    fn group(&self, group: &Objects, some: &[u32], search: &Search<'_, '_>) -> Suspect {
        let (heap, retained, objects) = (self.heap, self.retained, &group.objects);
        let common = Common::of(heap, retained, search, some);
        let mut held = Held::of_group(heap, retained, &self.structure, group.class, objects);
        if let (Some(elements), Some(example)) = (&mut held.elements, common.example) {
            if elements.class == group.class {
                elements.example = example;
            }
        }
        if held.elements.is_none() {
            let largest = held.below.first().map_or(0, |it| it.bytes);
            held.shared = shared(
                heap,
                retained,
                &self.structure,
                objects,
                largest,
                &self.tops,
            );
        }
        let inside = objects.first();
        let inside = inside.map(|object| accumulation_point(heap, retained, *object));
        let who = Who::Class {
            class: group.class,
            objects: objects.len() as u64,
        };
        let suspect = Suspect {
            soft_bytes: self.soft.below(|top| {
                let is_small = retained.bytes(top) <= self.least;
                heap.class(top) == group.class && (group.is_whole || is_small)
            }),
            typical: common.example,
            inside: inside.filter(|_| self.structure.is_one_of_many(group.class)),
            accumulation: common.object,
            accumulated_bytes: common.object.map_or(0, |object| retained.bytes(object)),
            alike: common.alike,
            pattern: group.pattern.clone(),
            ..Suspect::new(who, group.bytes, held)
        };
        self.with_contents(suspect, || {
            objects.iter().flat_map(|object| retained.subtree(*object))
        })
    }

    /// Counts the objects that the suspect holds.
    fn with_contents<I: Iterator<Item = u32>>(
        &self,
        mut suspect: Suspect,
        held: impl Fn() -> I,
    ) -> Suspect {
        let heap = self.heap;
        let mut counts = vec![(0_u64, 0_u64); heap.classes() as usize];
        let held_class = suspect
            .held
            .elements
            .or(suspect.held.below.first().copied());
        let held_class = held_class.map(|it| it.class);
        let mut some = Spread::default();
        for object in held() {
            if held_class == Some(heap.class(object)) {
                some.add(object);
            }
            if let Some(count) = counts.get_mut(heap.class(object) as usize) {
                *count = (count.0 + 1, count.1 + heap.shallow_bytes(object));
            }
        }
        let groups = (0..).zip(counts).filter(|(_, (objects, _))| *objects > 0);
        let groups = groups.map(|(class, (objects, bytes))| Group {
            class,
            objects,
            bytes,
        });
        suspect.holds = by_name(heap, groups);
        suspect
            .holds
            .sort_by_key(|group| (std::cmp::Reverse(group.bytes), group.class));
        suspect.holds.truncate(GROUPS_MAX);
        if let (None, Some(most)) = (held_class, suspect.holds.first()) {
            let of_class = held().filter(|object| heap.class(*object) == most.class);
            of_class.for_each(|object| some.add(object));
        }
        suspect.some = some.samples(heap, self.retained);
        if !heap.traced().is_empty() {
            suspect.sites = HeldSites::of(heap, held());
        }
        suspect
    }
}

fn by_class<'a>(
    heap: &Heap<'_>,
    retained: &Retained,
    objects: impl Iterator<Item = &'a u32>,
) -> Vec<Objects> {
    // What different static fields hold is not one thing.
    let field = |object: u32| match retained.dominator(object) {
        Dominator::Object(above) => heap.class_of_object(above),
        _ => None,
    };
    let mut classes: FxHashMap<(u32, Option<u32>), Vec<u32>> = FxHashMap::default();
    for object in objects {
        classes
            .entry((heap.class(*object), field(*object)))
            .or_default()
            .push(*object);
    }
    let group = |((class, _), objects): ((u32, Option<u32>), Vec<u32>)| {
        let bytes = objects.iter().map(|object| retained.bytes(*object));
        Objects {
            class,
            bytes: bytes.fold(0, u64::saturating_add),
            objects,
            is_whole: false,
            pattern: None,
        }
    };
    let mut all: Vec<Objects> = classes.into_iter().map(group).collect();
    all.sort_by_key(|group| (group.class, group.objects.first().copied()));
    all
}

/// Classes of one name, of several loaders, as one.
fn by_name(heap: &Heap<'_>, all: impl Iterator<Item = Group>) -> Vec<Group> {
    let mut names: HashMap<String, Group> = HashMap::new();
    for one in all {
        let none = Group {
            objects: 0,
            bytes: 0,
            ..one
        };
        let merged = names.entry(heap.class_name(one.class)).or_insert(none);
        merged.objects += one.objects;
        merged.bytes = merged.bytes.saturating_add(one.bytes);
    }
    names.into_values().collect()
}
