//! Wasted memory: equal strings and arrays, collections with few elements, boxed numbers.

use std::cmp::Reverse;
use std::collections::HashMap;

use format::redaction::Redacted;

use crate::class_facts::NONE;
use crate::error::GraphError;
use crate::gleaner::{glean, new_keys, Collection, Gleaned, Slots, Text, Values};
use crate::heap::Heap;
use crate::holder::{self, Holder};
use crate::retained::{Dominator, Retained};

/// A collection is sparse if less than one in `SPARSE_PLACES` slots of its array is in use.
pub const SPARSE_PLACES: u32 = 4;

/// The most memory that the pass needs per object.
const OBJECT_BYTES: u64 = 64;

/// Objects with equal contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// One of the objects.
    pub object: u32,
    /// Number of characters or elements of each.
    pub length: u32,
    /// Number of objects.
    pub objects: u64,
    /// Bytes of all of them but one; those of strings include their arrays.
    pub lost_bytes: u64,
}

/// All objects of a kind, grouped by contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// Number of objects, with or without a duplicate.
    pub objects: u64,
    /// Number of distinct contents.
    pub contents: u64,
    /// Bytes of all objects beyond the first of each contents.
    pub lost_bytes: u64,
    /// Groups of two or more objects, most lost bytes first.
    pub groups: Vec<Copies>,
}

impl Duplicates {
    fn sort(&mut self) {
        let groups = &mut self.groups;
        groups.sort_unstable_by_key(|group| (Reverse(group.lost_bytes), group.object));
    }
}

/// The fault of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filling {
    /// It has no elements.
    Empty,
    /// It has one element.
    One,
    /// Less than one in [`SPARSE_PLACES`] slots of its array is in use.
    Sparse,
}

/// Collections of one class with the same fault, held by one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionWaste {
    /// Their fault.
    pub filling: Filling,
    /// Number of their class.
    pub class: u32,
    /// Their holder: `Class#field`.
    pub holder: String,
    /// Number of collections.
    pub objects: u64,
    /// Empty or with one element: the bytes of the collections and of the arrays that only they
    /// hold. Sparse: the bytes of unused slots.
    pub lost_bytes: u64,
}

/// Boxed numbers of one class, held by one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxedWaste {
    /// Number of their class.
    pub class: u32,
    /// Their holder: `Class#field`.
    pub holder: String,
    /// Number of objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// All waste found. No byte counts twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waste {
    /// Strings.
    pub strings: Duplicates,
    /// Arrays of primitive values that are not a string's, and not of zeros.
    pub arrays: Duplicates,
    /// Arrays of primitive values that have nothing but zeros: nobody may have written to them. All
    /// of them count, the only one of a length, too.
    pub zeros: Duplicates,
    /// Collections, most lost bytes first.
    pub collections: Vec<CollectionWaste>,
    /// Numbers, characters and truth values, most bytes first.
    pub boxed: Vec<BoxedWaste>,
    /// What a redacted dump does not show, and is left out.
    pub unseen: Unseen,
}

/// The kinds of waste that a redacted dump does not show: without contents, all arrays of one
/// length are equal, and without the values of fields all collections look empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Equal strings.
    pub strings: bool,
    /// Equal arrays.
    pub arrays: bool,
    /// Collections with few elements.
    pub collections: bool,
}

impl Unseen {
    /// In a dump with this word of `redact=`.
    pub fn of(word: Option<&str>) -> Self {
        let what = word.and_then(Redacted::parse).unwrap_or_default();
        Self {
            strings: what >= Redacted::Strings,
            arrays: what >= Redacted::Arrays,
            collections: what >= Redacted::Values,
        }
    }
}

impl Waste {
    /// Examines the reachable objects. Reads the file once more.
    ///
    /// Contents are compared by a hash of 128 bits. Its keys differ from run to run, so that no
    /// file can contain planned collisions. Errors: the file cannot be read, or needs too much
    /// memory.
    pub fn find(heap: &Heap<'_>, retained: &Retained) -> Result<Self, GraphError> {
        if heap.input.is_packed() {
            let bytes = u64::from(heap.objects()).saturating_mul(OBJECT_BYTES);
            heap.input.budget().allow(bytes)?;
        }
        let mut gleaned = glean(heap, retained, new_keys(), true)?;
        let contents = Contents::new(std::mem::take(&mut gleaned.values));
        let texts = std::mem::take(&mut gleaned.texts);
        let in_texts: Vec<u32> = sorted(texts.iter().map(|text| text.array));
        let is_text = |array: u32| in_texts.binary_search(&array).is_ok();
        let zeros = std::mem::take(&mut gleaned.zeros);
        let is_zeros = |array: u32| zeros.binary_search(&array).is_ok();
        let holders = first_holders(std::mem::take(&mut gleaned.holders));
        let faulty = Faulty::find(heap, retained, &gleaned);
        let held_by = |object: u32| {
            let place = holders.binary_search_by_key(&object, |(object, _)| *object);
            let found = place.ok().and_then(|place| holders.get(place));
            found.map_or(Holder::None, |(_, holder)| *holder)
        };
        let collections = summed(
            faulty
                .into_iter()
                .map(|it| ((it.0, heap.class(it.1), held_by(it.1)), it.2)),
        );
        let boxed = gleaned.boxed.iter().map(|object| {
            let key = (heap.class(*object), held_by(*object));
            (key, heap.shallow_bytes(*object))
        });
        let boxed = summed(boxed);
        let all = collections.iter().map(|(key, _)| key.2);
        let all = all.chain(boxed.iter().map(|(key, _)| key.1));
        let names = holder::names(heap, all)?;
        let name = |holder| names.get(&holder).cloned().unwrap_or_default();
        let collection = |((filling, class, holder), (objects, lost_bytes))| CollectionWaste {
            filling,
            class,
            holder: name(holder),
            objects,
            lost_bytes,
        };
        let boxed_of = |((class, holder), (objects, bytes))| BoxedWaste {
            class,
            holder: name(holder),
            objects,
            bytes,
        };
        let unseen = Unseen::of(heap.redacted());
        let found = Self {
            strings: contents.strings(heap, texts),
            arrays: contents.arrays(heap, |array| !is_text(array) && !is_zeros(array)),
            zeros: contents.zeros(heap, |array| !is_text(array) && is_zeros(array)),
            collections: collections.into_iter().map(collection).collect(),
            boxed: boxed.into_iter().map(boxed_of).collect(),
            unseen,
        };
        Ok(found.without_unseen())
    }

    fn without_unseen(mut self) -> Self {
        if self.unseen.strings {
            self.strings = Duplicates::default();
        }
        if self.unseen.arrays {
            self.arrays = Duplicates::default();
            self.zeros = Duplicates::default();
        }
        if self.unseen.collections {
            self.collections.clear();
        }
        self
    }

    /// Sum of all wasted bytes. Arrays of zeros are none: a buffer may be written tomorrow.
    pub fn lost_bytes(&self) -> u64 {
        let collections = self.collections.iter().map(|row| row.lost_bytes);
        let boxed = self.boxed.iter().map(|row| row.bytes);
        let rows: u64 = collections.chain(boxed).sum();
        rows + self.strings.lost_bytes + self.arrays.lost_bytes
    }
}

/// The numbers in ascending order, each once.
fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The first holder of each object, by object.
fn first_holders(mut holders: Vec<(u32, Holder)>) -> Vec<(u32, Holder)> {
    holders.sort_by_key(|(object, _)| *object);
    holders.dedup_by_key(|(object, _)| *object);
    holders
}

/// The count of each key and the sum of its bytes, most bytes first.
fn summed<K: Copy + Eq + std::hash::Hash + Ord>(
    rows: impl Iterator<Item = (K, u64)>,
) -> Vec<(K, (u64, u64))> {
    let mut sums: HashMap<K, (u64, u64)> = HashMap::new();
    for (key, bytes) in rows {
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(bytes));
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, (_, bytes))| (Reverse(*bytes), *key));
    sums
}

/// The contents of an array; arrays with equal contents have the same number.
#[derive(Clone, Copy, Debug)]
struct OfArray {
    array: u32,
    length: u32,
    contents: u32,
}

/// The contents of all arrays, by array.
struct Contents {
    of_arrays: Vec<OfArray>,
}

impl Contents {
    fn new(mut all: Vec<Values>) -> Self {
        all.sort_unstable_by_key(|values| (values.hash, values.object));
        let (mut contents, mut last) = (0, None);
        let mut of_arrays = Vec::with_capacity(all.len());
        for values in all {
            if last.is_some_and(|last| last != values.hash) {
                contents += 1;
            }
            last = Some(values.hash);
            of_arrays.push(OfArray {
                array: values.object,
                length: values.length,
                contents,
            });
        }
        of_arrays.sort_unstable_by_key(|row| row.array);
        Self { of_arrays }
    }

    fn of(&self, array: u32) -> Option<&OfArray> {
        let place = self.of_arrays.binary_search_by_key(&array, |row| row.array);
        self.of_arrays.get(place.ok()?)
    }

    fn strings(&self, heap: &Heap<'_>, texts: Vec<Text>) -> Duplicates {
        let keyed = texts.into_iter().filter_map(|text| {
            let array = self.of(text.array)?;
            Some(Keyed {
                contents: array.contents,
                coder: text.coder,
                length: text.length(array.length),
                array: array.array,
                object: text.object,
            })
        });
        grouped(heap, keyed.collect())
    }

    fn arrays(&self, heap: &Heap<'_>, counts: impl Fn(u32) -> bool) -> Duplicates {
        grouped(heap, self.keyed(counts))
    }

    fn zeros(&self, heap: &Heap<'_>, counts: impl Fn(u32) -> bool) -> Duplicates {
        let keyed = self.keyed(counts);
        let mut all = Duplicates {
            objects: keyed.len() as u64,
            ..Duplicates::default()
        };
        let mut lengths: HashMap<u32, Copies> = HashMap::new();
        for array in keyed {
            let first = || Copies {
                object: array.object,
                length: array.length,
                objects: 0,
                lost_bytes: 0,
            };
            let bytes = heap.shallow_bytes(array.object);
            let group = lengths.entry(array.contents).or_insert_with(first);
            group.objects += 1;
            group.lost_bytes += bytes;
            all.lost_bytes += bytes;
        }
        all.contents = lengths.len() as u64;
        all.groups = lengths.into_values().collect();
        all.sort();
        all
    }

    /// The arrays that count, each with its contents.
    fn keyed(&self, counts: impl Fn(u32) -> bool) -> Vec<Keyed> {
        let own = self.of_arrays.iter();
        let own = own.filter(|row| counts(row.array));
        let keyed = own.map(|row| Keyed {
            contents: row.contents,
            coder: 0,
            length: row.length,
            array: row.array,
            object: row.array,
        });
        keyed.collect()
    }
}

/// An object with its contents and, for a string, the encoding of its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    contents: u32,
    coder: u8,
    length: u32,
    array: u32,
    object: u32,
}

/// The groups of equal contents. An array that several strings share counts once.
fn grouped(heap: &Heap<'_>, mut keyed: Vec<Keyed>) -> Duplicates {
    keyed.sort_unstable();
    let mut all = Duplicates {
        objects: keyed.len() as u64,
        ..Duplicates::default()
    };
    for group in keyed.chunk_by(|a, b| (a.contents, a.coder) == (b.contents, b.coder)) {
        all.contents += 1;
        let lost = group.iter().skip(1).zip(group).map(|(own, before)| {
            let has_own_array = own.array != before.array && own.array != own.object;
            let array = if has_own_array {
                heap.shallow_bytes(own.array)
            } else {
                0
            };
            heap.shallow_bytes(own.object) + array
        });
        let lost_bytes = lost.sum();
        let Some(first) = group.first().filter(|_| group.len() > 1) else {
            continue;
        };
        all.lost_bytes += lost_bytes;
        all.groups.push(Copies {
            object: first.object,
            length: first.length,
            objects: group.len() as u64,
            lost_bytes,
        });
    }
    all.sort();
    all
}

/// Finds collections with a fault: the fault, the object, the lost bytes.
struct Faulty<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    gleaned: &'a Gleaned,
}

impl Faulty<'_, '_> {
    fn find(heap: &Heap<'_>, retained: &Retained, gleaned: &Gleaned) -> Vec<(Filling, u32, u64)> {
        let all = Faulty {
            heap,
            retained,
            gleaned,
        };
        let inner = sorted(gleaned.wrappers.iter().map(|(_, inner)| *inner));
        let is_outer = |collection: &&Collection| inner.binary_search(&collection.object).is_err();
        let plain = gleaned.collections.iter().filter(is_outer);
        let plain = plain.filter_map(|collection| {
            let (filling, bytes) = all.fault(collection)?;
            let own = match filling {
                Filling::Sparse => 0,
                _ => heap.shallow_bytes(collection.object),
            };
            Some((filling, collection.object, own + bytes))
        });
        let wrappers = gleaned.wrappers.iter().filter_map(|(outer, inner)| {
            let (filling, bytes) = all.fault(all.collection(*inner)?)?;
            let own = match filling {
                Filling::Sparse => 0,
                _ => heap.shallow_bytes(*outer) + all.alone(*outer, *inner),
            };
            Some((filling, *outer, own + bytes))
        });
        plain.chain(wrappers).collect()
    }

    fn collection(&self, object: u32) -> Option<&Collection> {
        let all = &self.gleaned.collections;
        let place = all.binary_search_by_key(&object, |collection| collection.object);
        all.get(place.ok()?)
    }

    /// The fault of a collection, and the bytes that its array loses.
    fn fault(&self, collection: &Collection) -> Option<(Filling, u64)> {
        let slots = self.slots(collection.array);
        let (length, used) = slots.map_or((0, 0), |slots| (slots.length, slots.used));
        let filling = match collection.size.unwrap_or(used).max(u32::from(used > 0)) {
            0 => Filling::Empty,
            1 => Filling::One,
            _ if used.saturating_mul(SPARSE_PLACES) < length => {
                let bytes = self.heap.sizes().reference_bytes * u64::from(length - used);
                return Some((Filling::Sparse, bytes));
            }
            _ => return None,
        };
        Some((filling, self.alone(collection.object, collection.array)))
    }

    fn slots(&self, array: u32) -> Option<&Slots> {
        let all = &self.gleaned.slots;
        let place = all.binary_search_by_key(&array, |slots| slots.object);
        all.get(place.ok()?)
    }

    /// Bytes of an object that only `holder` holds; 0 if others hold it, too.
    fn alone(&self, holder: u32, object: u32) -> u64 {
        let dominator = Dominator::Object(holder);
        match object {
            NONE => 0,
            _ if self.retained.dominator(object) == dominator => self.heap.shallow_bytes(object),
            _ => 0,
        }
    }
}
