//! What a program has put into a collection of the JDK, without the nodes and arrays between.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;

/// Most bytes of an array that is read. A larger one has no entries but its elements.
const ARRAY_BYTES: usize = 16 << 20;

/// Collections within collections that are entered: a set has a map.
const INNER_MAX: usize = 4;

/// An entry of a collection: ids of objects, 0 for null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key; `None` if the collection is none of keys and values.
    pub key: Option<u64>,
    /// The value, or the element.
    pub value: u64,
}

/// The entries of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    /// The first ones, in the order of the memory.
    pub first: Vec<Entry>,
    /// How many there are.
    pub all: u64,
}

/// Where a collection has its entries.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In nodes, which begin at a field or in its array; the fields of the key and the value.
    Nodes(&'static str, (&'static str, &'static str)),
    /// In an array that a field refers to.
    Array(&'static str),
    /// In an array of a key, its value, and so on.
    Pairs(&'static str),
    /// In another collection.
    Inner(&'static str),
    /// In another one, of which they are the keys.
    Keys(&'static str),
}

/// No field: a list has no keys.
const NO_KEY: &str = "";

/// The collection whose first node has no element.
const SENTINEL: &str = "java/util/concurrent/LinkedBlockingQueue";

/// The collections; what extends one of them is like it.
const PLACES: [(&str, Place); 28] = {
    use Place::{Array, Inner, Keys, Nodes, Pairs};
    [
        ("java/util/HashMap", Nodes("table", ("key", "value"))),
        ("java/util/Hashtable", Nodes("table", ("key", "value"))),
        ("java/util/Properties", Inner("map")),
        (
            "java/util/WeakHashMap",
            Nodes("table", ("referent", "value")),
        ),
        ("java/util/TreeMap", Nodes("root", ("key", "value"))),
        (
            "java/util/concurrent/ConcurrentHashMap",
            Nodes("table", ("key", "val")),
        ),
        (
            "java/lang/ThreadLocal$ThreadLocalMap",
            Nodes("table", ("referent", "value")),
        ),
        ("java/util/IdentityHashMap", Pairs("table")),
        ("java/util/ImmutableCollections$MapN", Pairs("table")),
        ("java/util/HashSet", Keys("map")),
        ("java/util/TreeSet", Keys("m")),
        (
            "java/util/concurrent/ConcurrentHashMap$KeySetView",
            Keys("map"),
        ),
        ("java/util/concurrent/CopyOnWriteArraySet", Inner("al")),
        ("java/util/Collections$UnmodifiableMap", Inner("m")),
        ("java/util/Collections$SynchronizedMap", Inner("m")),
        ("java/util/Collections$UnmodifiableCollection", Inner("c")),
        ("java/util/Collections$SynchronizedCollection", Inner("c")),
        ("java/util/Collections$SetFromMap", Keys("m")),
        ("java/util/ArrayList", Array("elementData")),
        ("java/util/Vector", Array("elementData")),
        ("java/util/ArrayDeque", Array("elements")),
        ("java/util/PriorityQueue", Array("queue")),
        ("java/util/Arrays$ArrayList", Array("a")),
        ("java/util/ImmutableCollections$ListN", Array("elements")),
        ("java/util/ImmutableCollections$SetN", Array("elements")),
        ("java/util/concurrent/CopyOnWriteArrayList", Array("array")),
        ("java/util/LinkedList", Nodes("first", (NO_KEY, "item"))),
        (SENTINEL, Nodes("head", (NO_KEY, "item"))),
    ]
};

impl Heap<'_> {
    /// The first `most` entries of an object; `None` if it is no collection that is known.
    ///
    /// Errors: the file cannot be read.
    pub fn entries(&self, object: u32, most: usize) -> Result<Option<Entries>, GraphError> {
        let (mut object, mut only_keys) = (object, false);
        for _ in 0..INNER_MAX {
            let Some((class, place)) = self.place(object) else {
                return Ok(None);
            };
            let (Place::Nodes(field, _)
            | Place::Array(field)
            | Place::Pairs(field)
            | Place::Inner(field)
            | Place::Keys(field)) = place;
            let Some(inside) = self.target_by(object, field)? else {
                return Ok(None);
            };
            let entries = match place {
                Place::Inner(_) | Place::Keys(_) => {
                    only_keys |= matches!(place, Place::Keys(_));
                    object = inside;
                    continue;
                }
                Place::Array(_) => self.elements(inside, most)?,
                Place::Pairs(_) => self.pairs(inside, most)?,
                Place::Nodes(_, fields) => Some(self.in_nodes(inside, class, fields, most)?),
            };
            return Ok(entries.map(|it| if only_keys { it.keys() } else { it }));
        }
        Ok(None)
    }

    /// Where an object has its entries, and the name of the class that decides it.
    fn place(&self, object: u32) -> Option<(&'static str, Place)> {
        if self.class_of_object(object).is_some() {
            return None;
        }
        let (table, strings) = (&self.directory().classes, &self.directory().strings);
        let mut chain = table.chain(self.class(object) as usize);
        chain.find_map(|class| {
            let mut places = PLACES.iter();
            let known = places.find(|(name, _)| strings.is_class(class.name, name));
            known.copied()
        })
    }

    /// What a field of an object refers to.
    fn target_by(&self, object: u32, name: &str) -> Result<Option<u32>, GraphError> {
        let contents = self.contents(&[object], 0)?.remove(&object);
        let id = contents.and_then(|contents| self.named(&contents, name).next());
        Ok(id.and_then(|id| self.object(id)))
    }

    /// All elements of an array; `None` if it is too long.
    fn all_elements(&self, array: u32) -> Result<Option<Vec<u64>>, GraphError> {
        Ok(match self.contents(&[array], ARRAY_BYTES)?.remove(&array) {
            Some(Contents::References { length, ids }) if ids.len() == length as usize => Some(ids),
            _ => None,
        })
    }

    fn elements(&self, array: u32, most: usize) -> Result<Option<Entries>, GraphError> {
        let ids = self.all_elements(array)?;
        let entry = |id: &u64| Entry {
            key: None,
            value: *id,
        };
        let entries = |ids: Vec<u64>| ids.iter().filter(|id| **id != 0).map(entry).collect();
        Ok(ids.map(|ids| Entries::cut(entries(ids), most)))
    }

    fn pairs(&self, array: u32, most: usize) -> Result<Option<Entries>, GraphError> {
        let ids = self.all_elements(array)?;
        let entry = |pair: &[u64]| match pair {
            [key, value] if *key != 0 => Some(Entry {
                key: Some(*key),
                value: *value,
            }),
            _ => None,
        };
        let entries = |ids: Vec<u64>| ids.chunks(2).filter_map(entry).collect();
        Ok(ids.map(|ids| Entries::cut(entries(ids), most)))
    }

    /// The entries in the nodes that an array, or the first node, leads to.
    fn in_nodes(
        &self,
        start: u32,
        class: &str,
        (key, element): (&str, &str),
        most: usize,
    ) -> Result<Entries, GraphError> {
        let nodes = self.nodes(start, class, if key == NO_KEY { element } else { key });
        let some = nodes.get(..most).unwrap_or(&nodes);
        let contents: BTreeMap<u32, Contents> = self.contents(some, 0)?;
        let entry = |node: &u32| {
            let contents = contents.get(node)?;
            let value = |name: &str| self.named(contents, name).next();
            Some(Entry {
                key: match key {
                    NO_KEY => None,
                    key => Some(value(key)?),
                },
                value: value(element)?,
            })
        };
        Ok(Entries {
            first: some.iter().filter_map(entry).collect(),
            all: nodes.len() as u64,
        })
    }

    /// The nodes that have a field of this name, nearest to the start first.
    fn nodes(&self, start: u32, class: &str, field: &str) -> Vec<u32> {
        let mut kinds: FxHashMap<u32, Option<bool>> = FxHashMap::default();
        let mut kind = |object: u32| {
            let class_number = self.class(object);
            let kind = || self.is_node(class_number, class, field);
            *kinds.entry(class_number).or_insert_with(kind)
        };
        let mut seen: FxHashSet<u32> = [start].into_iter().collect();
        let (mut open, mut at) = (vec![start], 0);
        while let Some(object) = open.get(at).copied() {
            for target in self.targets(object) {
                if kind(*target).is_some() && seen.insert(*target) {
                    open.push(*target);
                }
            }
            at += 1;
        }
        let is_sentinel = |object: u32| object == start && class == SENTINEL;
        open.retain(|object| kind(*object) == Some(true) && !is_sentinel(*object));
        open
    }

    /// Whether instances of a class have the field, if they are nodes of this collection at all.
    fn is_node(&self, number: u32, class: &str, field: &str) -> Option<bool> {
        let name = self.class_name(number);
        let outer = format!("{}$", class.replace('/', "."));
        let linked = class == "java/util/HashMap" && name == "java.util.LinkedHashMap$Entry";
        let is_node = (name.starts_with(&outer) || linked) && !name.ends_with(']');
        let (table, strings) = (&self.directory().classes, &self.directory().strings);
        let mut fields = table.chain(number as usize).flat_map(|it| &it.fields);
        let has_field = || fields.any(|it| strings.bytes(it.name) == Some(field.as_bytes()));
        is_node.then(has_field)
    }
}

impl Entries {
    fn cut(mut first: Vec<Entry>, most: usize) -> Self {
        let all = first.len() as u64;
        first.truncate(most);
        Self { first, all }
    }

    /// The keys as elements.
    fn keys(mut self) -> Self {
        for entry in &mut self.first {
            if let Some(key) = entry.key.take() {
                entry.value = key;
            }
        }
        self
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::heap::Options;
    use crate::input::Input;
    use sample::Dump;

    const NODE: u64 = 0x2100;
    const MAP: u64 = 0x2200;
    const SET: u64 = 0x2300;
    const LIST: u64 = 0x2400;

    /// A map of three nodes in two places, a set of it, and a list.
    fn dump() -> Dump {
        let mut dump = Dump::new(8);
        let node = ["key", "value", "next"];
        dump.class(NODE, "java/util/HashMap$Node", Dump::OBJECT, 0, &node, &[]);
        dump.class(MAP, "java/util/HashMap", Dump::OBJECT, 0, &["table"], &[]);
        dump.class(0x2280, "app/Cache", MAP, 0, &[], &[]);
        dump.class(SET, "java/util/HashSet", Dump::OBJECT, 0, &["map"], &[]);
        let list = ["elementData"];
        dump.class(LIST, "java/util/ArrayList", Dump::OBJECT, 0, &list, &[]);
        dump.class(0x2500, "app/Item", Dump::OBJECT, 0, &[], &[]);
        for item in 0..6 {
            dump.instance(0x5000 + 8 * item, 0x2500, &[]);
        }
        dump.instance(0x3000, 0x2280, &[0x3100]);
        dump.object_array(0x3100, &[0, 0x4000, 0x4200]);
        dump.instance(0x4000, NODE, &[0x5000, 0x5008, 0x4100]);
        dump.instance(0x4100, NODE, &[0x5010, 0, 0]);
        dump.instance(0x4200, NODE, &[0x5020, 0x5028, 0]);
        dump.instance(0x3200, SET, &[0x3000]);
        dump.instance(0x3300, LIST, &[0x3400]);
        dump.object_array(0x3400, &[0x5000, 0, 0x5000]);
        dump
    }

    fn entries(id: u64, most: usize) -> Option<Entries> {
        let input = Input::new(dump().file(false), &|_| ()).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        heap.entries(heap.object(id).unwrap(), most).unwrap()
    }

    fn all(key: Option<u64>, value: u64) -> Entry {
        Entry { key, value }
    }

    #[test]
    fn a_map_has_keys_and_values() {
        let map = entries(0x3000, 10).unwrap();
        let expected = [
            all(Some(0x5000), 0x5008),
            all(Some(0x5020), 0x5028),
            all(Some(0x5010), 0),
        ];
        assert_eq!((map.first.as_slice(), map.all), (&expected[..], 3));
        let cut = entries(0x3000, 1).unwrap();
        assert_eq!((cut.first.len(), cut.all), (1, 3));
    }

    #[test]
    fn a_set_has_the_keys_of_its_map() {
        let set = entries(0x3200, 10).unwrap();
        let expected = [0x5000, 0x5020, 0x5010].map(|id| all(None, id));
        assert_eq!(set.first, expected);
    }

    #[test]
    fn a_list_has_what_is_not_null() {
        let list = entries(0x3300, 10).unwrap();
        assert_eq!(list.first, [all(None, 0x5000), all(None, 0x5000)]);
    }

    #[test]
    fn what_is_no_collection_has_none() {
        for id in [0x5000, 0x3400, 0x4000, MAP] {
            assert_eq!(entries(id, 10), None, "{id:#x}");
        }
    }
}
