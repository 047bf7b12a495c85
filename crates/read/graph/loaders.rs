//! Class loaders, and what each keeps with its classes and their static fields.
//!
//! No single object dominates that: an instance of one class that a thread holds keeps the class,
//! which keeps the loader. So a loader and its classes count as one thing. Loaders of one class
//! that define the same classes, as redeployed applications leave behind, are copies and count as
//! one thing, too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::class_facts::{References, NONE};
use crate::dominators::Tree;
use crate::error::GraphError;
use crate::heap::Heap;
use crate::merged::Merged;
use crate::owners::{Owner, Owners};
use crate::retained::Retained;
use crate::search::Search;

/// A loader belongs to a group if at least this share of its classes are those of the group.
const ALIKE: (usize, usize) = (1, 2);

/// So many equal names are no chance, even if the other loader defines many more.
const CERTAIN: usize = 10;

/// Most steps of a path on which the outermost class of a loader is looked for.
const STEPS_MAX: usize = 1_000;

/// Parts of the names of classes that the JDK makes while a program runs.
const MADE: [&str; 4] = ["$$Lambda", "/0x", "$Proxy", "GeneratedMethodAccessor"];

/// A loader and its classes.
pub(crate) struct Loader {
    /// The loader's id; 0 for the bootstrap loader.
    id: u64,
    /// [`NONE`] for the bootstrap loader, and for one that is not in the dump.
    pub(crate) object: u32,
    /// The names and class objects of those classes that the program has as files.
    pub(crate) classes: HashMap<Box<[u8]>, u32>,
    /// The class objects of all its classes.
    all: Vec<u32>,
}

impl Loader {
    /// The loader and its classes.
    fn members(&self) -> impl Iterator<Item = u32> + '_ {
        let object = Some(self.object).filter(|object| *object != NONE);
        object.into_iter().chain(self.all.iter().copied())
    }
}

/// One loader, or several that are alike, with the classes and their static fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoaderTotal {
    /// The loaders' ids; 0 is the bootstrap loader.
    pub loaders: Vec<u64>,
    /// Number of classes that each of several loaders defines; 0 if they have only classes that
    /// the JDK makes while a program runs, or if it is one loader.
    pub same_classes: u64,
    /// Number of their classes.
    pub classes: u64,
    /// Number of reachable objects of these classes.
    pub objects: u64,
    /// Sum of these objects' own bytes.
    pub shallow_bytes: u64,
    /// Bytes that no root leads to without passing one of the loaders or their classes.
    pub retained_bytes: u64,
    /// Who holds most of the loaders, down to an instance of their classes if one holds them;
    /// `None` for the bootstrap loader.
    pub owner: Option<Owner>,
    /// Number of loaders that it holds.
    pub owned: u64,
}

impl LoaderTotal {
    /// The `most` loaders that retain most, and how many more there are. Loaders that are copies
    /// are one row. Errors: there is no memory; the file cannot be read.
    pub fn largest(
        heap: &Heap<'_>,
        retained: &Retained,
        most: usize,
    ) -> Result<(Vec<Self>, usize), GraphError> {
        let groups = groups(heap, retained);
        let bytes = retained_bytes(heap, retained, &groups)?;
        let counts = counts(heap, retained, &groups);
        let rows = groups.iter().zip(bytes).zip(counts);
        let mut rows: Vec<(&Vec<Loader>, Self)> = rows
            .map(|((group, bytes), counts)| (group, Self::new(group, bytes, counts)))
            .collect();
        rows.sort_by_key(|(_, row)| (Reverse(row.retained_bytes), row.loaders.first().copied()));
        let left_out = rows.len().saturating_sub(most);
        rows.truncate(most);
        let groups: Vec<&Vec<Loader>> = rows.iter().map(|(group, _)| *group).collect();
        let owners = owners(heap, &groups)?;
        let rows = rows.into_iter().zip(owners).map(|((_, row), owner)| {
            let (owner, owned) = owner.map_or((None, 0), |(owner, owned)| (Some(owner), owned));
            Self {
                owner,
                owned,
                ..row
            }
        });
        Ok((rows.collect(), left_out))
    }

    fn new(group: &[Loader], retained_bytes: u64, counts: (u64, u64)) -> Self {
        Self {
            loaders: group.iter().map(|loader| loader.id).collect(),
            same_classes: match group {
                [_] => 0,
                _ => shared_classes(group),
            },
            classes: group.iter().map(|loader| loader.all.len() as u64).sum(),
            objects: counts.0,
            shallow_bytes: counts.1,
            retained_bytes,
            owner: None,
            owned: 0,
        }
    }
}

/// What each group retains as one thing.
fn retained_bytes(
    heap: &Heap<'_>,
    retained: &Retained,
    groups: &[Vec<Loader>],
) -> Result<Vec<u64>, GraphError> {
    let merged = Merged::new(groups.iter().map(|group| {
        let members = group.iter().flat_map(Loader::members);
        members.filter(|it| retained.is_reachable(*it)).collect()
    }));
    let (own, units) = (heap.units(), heap.units());
    let sums = Tree::of(&heap.graph(retained.rule()), Some(&merged))?
        .by_object(heap.objects(), |object| match merged.with(object) {
            [] => own(object),
            all => all.iter().fold(0, |sum, it| sum.saturating_add(units(*it))),
        })?
        .sums;
    let bytes = |group: u32| sums.get(merged.first(group).unwrap_or(NONE));
    Ok((0..).zip(groups).map(|(group, _)| bytes(group)).collect())
}

/// The objects of each group's classes, and their bytes.
fn counts(heap: &Heap<'_>, retained: &Retained, groups: &[Vec<Loader>]) -> Vec<(u64, u64)> {
    let mut of_class = vec![NONE; heap.classes() as usize];
    let numbered = (0..).zip(groups);
    let of_id: FxHashMap<u64, u32> = numbered
        .flat_map(|(number, group)| group.iter().map(move |loader| (loader.id, number)))
        .collect();
    for (class, group) in (0..).zip(&mut of_class) {
        // The classes of primitive arrays may be invented.
        let loader = heap.loader(class).unwrap_or(0);
        *group = of_id.get(&loader).copied().unwrap_or(NONE);
    }
    let mut counts = vec![(0, 0); groups.len()];
    for object in (0..heap.objects()).filter(|object| retained.is_reachable(*object)) {
        let group = of_class.get(heap.class(object) as usize);
        let count = group.and_then(|group| counts.get_mut(*group as usize));
        if let Some((objects, bytes)) = count {
            (*objects, *bytes) = (*objects + 1, *bytes + heap.shallow_bytes(object));
        }
    }
    counts
}

/// Who holds most of the loaders of each group, and how many of them.
fn owners(
    heap: &Heap<'_>,
    groups: &[&Vec<Loader>],
) -> Result<Vec<Option<(Owner, u64)>>, GraphError> {
    let objects = |group: &&Vec<Loader>| -> Vec<u32> {
        let objects = group.iter().map(|loader| loader.object);
        objects.filter(|object| *object != NONE).collect()
    };
    let wanted: Vec<u32> = groups.iter().flat_map(objects).collect();
    if wanted.is_empty() {
        return Ok(groups.iter().map(|_| None).collect());
    }
    let search = Search::until(heap, &wanted, References::Strong);
    let mut owners = Owners::new(heap, &search);
    let mut most = Vec::new();
    for group in groups {
        let members: FxHashSet<u32> = group.iter().flat_map(Loader::members).collect();
        let classes: FxHashSet<u32> = members
            .iter()
            .filter_map(|member| heap.class_of_object(*member))
            .collect();
        let is_own = |it: &u32| members.contains(it) || classes.contains(&heap.class(*it));
        // Of each owner, the first object that it holds, and how many.
        let mut held: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
        for object in objects(group) {
            // An instance holds its class, and that its loader: the owner's path ends there.
            let path = search.climb(object).take(STEPS_MAX);
            let outermost = path.filter(is_own).last().unwrap_or(object);
            held.entry(owners.of(outermost)).or_insert((outermost, 0)).1 += 1;
        }
        most.push(
            held.into_iter()
                .max_by_key(|(owner, (_, count))| (*count, Reverse(*owner))),
        );
    }
    let numbers: Vec<u32> = most.iter().flatten().map(|(owner, _)| *owner).collect();
    let mut resolved = owners.resolve(&numbers)?.into_iter();
    let most = most.into_iter().zip(groups).map(|(most, group)| {
        let (_, (outermost, count)) = most?;
        let mut owner = resolved.next()?;
        let is_loader = group.iter().any(|loader| loader.object == outermost);
        if !is_loader && heap.class_of_object(outermost).is_none() {
            owner.classes.push(heap.class(outermost));
        }
        Some((owner, count))
    });
    Ok(most.collect())
}

/// All loaders that define classes, those that are alike together.
pub(crate) fn groups(heap: &Heap<'_>, retained: &Retained) -> Vec<Vec<Loader>> {
    let mut loaders = loaders(heap);
    loaders.retain(|loader| loader.object == NONE || retained.is_reachable(loader.object));
    loaders.sort_by_key(|loader| (Reverse(loader.classes.len()), loader.id));
    let mut groups: Vec<Vec<Loader>> = Vec::new();
    // The groups whose first loader defines a class, by the loader's class and the name.
    let mut known: HashMap<(u32, Box<[u8]>), usize> = HashMap::new();
    // Those of loaders without a class that the program has as a file, by the loader's class.
    let mut without: FxHashMap<u32, usize> = FxHashMap::default();
    for loader in loaders {
        if loader.object == NONE {
            groups.push(vec![loader]);
            continue;
        }
        let class = heap.class(loader.object);
        let found = match loader.classes.is_empty() {
            true => without.get(&class).copied(),
            false => alike(&loader, class, &groups, &known),
        };
        match found.and_then(|group| groups.get_mut(group)) {
            Some(group) => group.push(loader),
            None => {
                if loader.classes.is_empty() {
                    without.insert(class, groups.len());
                }
                for name in loader.classes.keys() {
                    known.entry((class, name.clone())).or_insert(groups.len());
                }
                groups.push(vec![loader]);
            }
        }
    }
    groups
}

/// The group that defines the classes of a loader.
fn alike(
    loader: &Loader,
    class: u32,
    groups: &[Vec<Loader>],
    known: &HashMap<(u32, Box<[u8]>), usize>,
) -> Option<usize> {
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
    most.filter(is_alike).map(|(group, _)| group)
}

/// Number of classes that all of these define; 0 if they have none, else at least 1.
pub(crate) fn shared_classes(group: &[Loader]) -> u64 {
    let shared = group.split_first().map_or(0, |(first, others)| {
        let in_all = |name: &[u8]| others.iter().all(|it| it.classes.contains_key(name));
        first.classes.keys().filter(|name| in_all(name)).count() as u64
    });
    let have_any = group.iter().any(|loader| !loader.classes.is_empty());
    shared.max(u64::from(have_any))
}

/// The loaders and their classes.
fn loaders(heap: &Heap<'_>) -> Vec<Loader> {
    let (table, strings) = (&heap.directory().classes, &heap.directory().strings);
    let mut loaders: FxHashMap<u64, Loader> = FxHashMap::default();
    for class in table.iter() {
        let Some(object) = heap.object(class.id) else {
            continue;
        };
        let loader = loaders.entry(class.loader).or_insert_with(|| Loader {
            id: class.loader,
            object: match class.loader {
                0 => NONE,
                id => heap.object(id).unwrap_or(NONE),
            },
            classes: HashMap::new(),
            all: Vec::new(),
        });
        loader.all.push(object);
        if loader.object == NONE {
            continue;
        }
        let name = strings.text(class.name).unwrap_or_default();
        let is_made = MADE.iter().any(|part| name.contains(part));
        let is_array = name.starts_with('[') || name.ends_with(']');
        if !is_made && !is_array {
            loader.classes.insert(name.as_bytes().into(), object);
        }
    }
    loaders.into_values().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::owners::OwnerStart;
    use crate::{Input, Options};
    use reader::RootKind;
    use sample::Dump;

    const LOADER: u64 = 0x2000;
    const REGISTRY: u64 = 0x2010;

    /// Three copies of an application: a static field holds one by its loader, which does not hold
    /// its classes here, and a thread two by an instance. And two loaders whose only classes the
    /// JDK has made.
    fn redeployed() -> Dump {
        let mut dump = Dump::new(8);
        dump.class(LOADER, "app/Loader", Dump::OBJECT, 0, &[], &[]);
        let statics = [("current", 0x3000), ("made", 0x8000)];
        dump.class(REGISTRY, "app/Registry", Dump::OBJECT, 0, &[], &statics);
        dump.root(REGISTRY);
        for copy in 0..3 {
            let (loader, class) = (0x3000 + copy * 0x10, 0x4000 + copy * 0x100);
            dump.instance(loader, LOADER, &[]);
            let cache = 0x5000 + copy * 0x100;
            // Two static fields hold it: no single object dominates it.
            for (part, name) in [(0, "App"), (0x10, "Part"), (0x20, "App$$Lambda")] {
                let statics = [("cache", cache)];
                let name = format!("app/{name}");
                dump.class(
                    class + part,
                    &name,
                    Dump::OBJECT,
                    loader,
                    &["app"],
                    &statics,
                );
            }
            dump.byte_array(cache, &[0; 1000]);
            dump.instance(0x6000 + copy * 0x10, class, &[class + 0x10]);
            if copy > 0 {
                dump.local(0x6000 + copy * 0x10);
            }
        }
        dump.object_array(0x8000, &[0x8100, 0x8110]);
        for loader in [0x8100, 0x8110] {
            dump.instance(loader, LOADER, &[]);
            let name = "jdk/internal/reflect/GeneratedMethodAccessor1";
            dump.class(loader + 0x100, name, Dump::OBJECT, loader, &[], &[]);
        }
        dump
    }

    fn of(dump: Dump, check: impl Fn(&Heap<'_>, &[LoaderTotal])) {
        let input = Input::new(dump.file(false), &|_| {}).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        let retained = Retained::of(&heap, References::All).unwrap();
        let (all, left_out) = LoaderTotal::largest(&heap, &retained, usize::MAX).unwrap();
        let (one, rest) = LoaderTotal::largest(&heap, &retained, 1).unwrap();
        assert_eq!(
            (left_out, one.as_slice(), rest),
            (0, &all[..1], all.len() - 1)
        );
        check(&heap, &all);
    }

    #[test]
    fn copies_are_one_row_with_all_that_they_keep() {
        of(redeployed(), |heap, all| {
            let copies = &all[0];
            assert_eq!(copies.loaders, [0x3000, 0x3010, 0x3020]);
            assert_eq!((copies.same_classes, copies.classes), (2, 9));
            assert!(
                (2_000..3_000).contains(&copies.retained_bytes),
                "{copies:?}"
            );
            assert_eq!(copies.objects, 2);
            // Two of three are held by instances.
            let owner = copies.owner.as_ref().unwrap();
            assert_eq!(copies.owned, 2);
            assert_eq!(owner.start, OwnerStart::Root(RootKind::ThreadObject));
            let classes = owner.classes.iter().map(|class| heap.class_name(*class));
            assert!(classes.eq(["java.lang.Thread", "app.App"]), "{owner:?}");
        });
    }

    #[test]
    fn loaders_with_made_classes_are_one_row_but_no_copies() {
        of(redeployed(), |_, all| {
            let made = all.iter().find(|row| row.loaders == [0x8100, 0x8110]);
            let made = made.unwrap();
            assert_eq!((made.same_classes, made.classes), (0, 2));
            let owner = made.owner.as_ref().unwrap();
            assert!(matches!(owner.start, OwnerStart::Static(..)), "{owner:?}");
            assert_eq!(made.owned, 2);
            let boot = all.iter().find(|row| row.loaders == [0]).unwrap();
            assert_eq!((boot.owner.as_ref(), boot.same_classes), (None, 0));
        });
    }
}
