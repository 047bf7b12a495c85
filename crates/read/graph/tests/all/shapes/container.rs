//! Collections of the JDK and of libraries, node by node, as they lie in a heap.

use super::yard::Yard;

/// The form of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    HashMap,
    TreeBins,
    LinkedHashMap,
    ConcurrentHashMap,
    IdentityHashMap,
    TreeMap,
    HashSet,
    ArrayList,
    LinkedList,
    ArrayDeque,
    Array,
    NodeMap,
    SegmentedMap,
    OpenMap,
    /// The elements refer to each other.
    Chain,
    TwoWayChain,
    Tree,
    /// An array of chains of three elements.
    Chains,
    /// An array of trees of seven elements.
    Forest,
    /// Nodes of the program, each with an element and the next one.
    Nodes,
}

use Container::*;

pub(super) const ALL: [Container; 20] = [
    HashMap,
    TreeBins,
    LinkedHashMap,
    ConcurrentHashMap,
    IdentityHashMap,
    TreeMap,
    HashSet,
    ArrayList,
    LinkedList,
    ArrayDeque,
    Array,
    NodeMap,
    SegmentedMap,
    OpenMap,
    Chain,
    TwoWayChain,
    Tree,
    Chains,
    Forest,
    Nodes,
];

pub(super) const OWN_NODE: &str = "shop/Node";

/// A map of which nothing but its class says what it is.
pub(super) const OPEN_MAP: &str = "lib/open/Open2Map";

const NODE: &str = "java/util/HashMap$Node";
const ENTRY: &str = "java/util/LinkedHashMap$Entry";
const TREE_NODE: &str = "java/util/HashMap$TreeNode";

impl Container {
    /// Whether it has keys beside its elements.
    pub(super) fn has_keys(self) -> bool {
        use Container::{HashMap, LinkedHashMap};
        let maps = [HashMap, TreeBins, LinkedHashMap, ConcurrentHashMap];
        let others = [IdentityHashMap, TreeMap, NodeMap, SegmentedMap, OpenMap];
        maps.contains(&self) || others.contains(&self)
    }

    /// Whether its elements refer to each other.
    pub(super) fn is_linked(self) -> bool {
        matches!(self, Chain | TwoWayChain | Tree | Chains | Forest)
    }

    /// What an element refers to itself, as the place of two others.
    pub(super) fn links(self, place: usize) -> [Option<usize>; 2] {
        match self {
            Chain => [Some(place + 1), None],
            TwoWayChain => [Some(place + 1), place.checked_sub(1)],
            Tree => [Some(2 * place + 1), Some(2 * place + 2)],
            Chains if place % 3 < 2 => [Some(place + 1), None],
            Forest if place % 7 < 3 => [1, 2].map(|it| Some(place + place % 7 + it)),
            _ => [None; 2],
        }
    }

    /// Adds one with these values, which have these keys if it has keys.
    pub(super) fn add(self, yard: &mut Yard, keys: &[u64], values: &[u64]) -> u64 {
        let size = values.len() as u64;
        match self {
            HashMap | TreeBins | LinkedHashMap | HashSet => self.hash_map(yard, keys, values),
            ConcurrentHashMap => {
                let node = "java/util/concurrent/ConcurrentHashMap$Node";
                let table = chained(yard, (node, "hash:i key val next"), (keys, values));
                let map = "java/util/concurrent/ConcurrentHashMap";
                yard.class(map, "", "table counterCells baseCount:l sizeCtl:i");
                yard.make(map, &[table, 0, size, size])
            }
            IdentityHashMap => {
                let pairs = keys
                    .iter()
                    .zip(values)
                    .flat_map(|(key, value)| [*key, *value]);
                let mut pairs: Vec<u64> = pairs.collect();
                pairs.resize((values.len() * 3).next_power_of_two(), 0);
                let table = yard.array("[Ljava/lang/Object;", &pairs);
                let map = "java/util/IdentityHashMap";
                yard.class(map, "", "table size:i modCount:i");
                yard.make(map, &[table, size, size])
            }
            TreeMap => tree_map(yard, keys, values),
            ArrayList | ArrayDeque | Array => self.in_array(yard, values),
            LinkedList => linked_list(yard, values),
            NodeMap => {
                let node = ("lib/map/Slot", "key value next hash:i");
                let table = chained(yard, node, (keys, values));
                yard.class("lib/map/Index", "", "slots count:i");
                yard.make("lib/map/Index", &[table, size])
            }
            SegmentedMap => segmented(yard, keys, values),
            OpenMap => open_map(yard, keys, values),
            Chain | TwoWayChain | Tree => values[0],
            Chains | Forest => {
                let length = if self == Chains { 3 } else { 7 };
                let firsts: Vec<u64> = values.iter().copied().step_by(length).collect();
                yard.array("[Ljava/lang/Object;", &firsts)
            }
            Nodes => {
                yard.class(OWN_NODE, "", "item next");
                let mut next = 0;
                for value in values {
                    next = yard.make(OWN_NODE, &[*value, next]);
                }
                next
            }
        }
    }

    fn in_array(self, yard: &mut Yard, values: &[u64]) -> u64 {
        let mut room = values.to_vec();
        if self != Array {
            room.resize(values.len() * 3 / 2 + 1, 0);
        }
        let size = values.len() as u64;
        let array = yard.array("[Ljava/lang/Object;", &room);
        match self {
            ArrayList => {
                yard.class("java/util/ArrayList", "", "elementData size:i modCount:i");
                yard.make("java/util/ArrayList", &[array, size, size])
            }
            ArrayDeque => {
                yard.class("java/util/ArrayDeque", "", "elements head:i tail:i");
                yard.make("java/util/ArrayDeque", &[array, 0, size])
            }
            _ => array,
        }
    }

    fn hash_map(self, yard: &mut Yard, keys: &[u64], values: &[u64]) -> u64 {
        let size = values.len() as u64;
        let map = "java/util/HashMap";
        yard.class(map, "", "table size:i modCount:i");
        let node = (NODE, "hash:i key value next");
        match self {
            HashSet => {
                let present = yard.make("java/lang/Object", &[]);
                let presents = vec![present; values.len()];
                let table = chained(yard, node, (values, &presents));
                let map = yard.make(map, &[table, size, size]);
                yard.class("java/util/HashSet", "", "map");
                yard.make("java/util/HashSet", &[map])
            }
            TreeBins => {
                let table = tree_bins(yard, keys, values);
                yard.make(map, &[table, size, size])
            }
            LinkedHashMap => {
                yard.class(NODE, "", node.1);
                yard.class(ENTRY, NODE, "before after");
                let (nodes, room) = (yard.ids(values.len()), values.len() * 2);
                let at = |place: Option<usize>| place.and_then(|it| nodes.get(it)).copied();
                for place in 0..nodes.len() {
                    let before = at(place.checked_sub(1)).unwrap_or(0);
                    let after = at(Some(place + 1)).unwrap_or(0);
                    let own = [before, after, 0, keys[place], values[place], 0];
                    yard.put(nodes[place], ENTRY, &own);
                }
                let mut table = nodes.clone();
                table.resize(room.next_power_of_two(), 0);
                let table = yard.array("[Ljava/util/HashMap$Node;", &table);
                let (head, tail) = (nodes[0], nodes[nodes.len() - 1]);
                let linked = "java/util/LinkedHashMap";
                yard.class(linked, map, "head tail");
                yard.make(linked, &[head, tail, table, size, size])
            }
            _ => {
                let table = chained(yard, node, (keys, values));
                yard.make(map, &[table, size, size])
            }
        }
    }
}

/// An array of nodes in chains of up to three.
fn chained(
    yard: &mut Yard,
    (class, fields): (&str, &str),
    (keys, values): (&[u64], &[u64]),
) -> u64 {
    yard.class(class, "", fields);
    let bins = values.len().div_ceil(3).max(1);
    let mut table = vec![0; bins * 4];
    let hash_is_first = fields.starts_with("hash");
    for (place, (key, value)) in keys.iter().zip(values).enumerate() {
        let next = table[place % bins];
        let all = match hash_is_first {
            true => [place as u64, *key, *value, next],
            false => [*key, *value, next, place as u64],
        };
        table[place % bins] = yard.make(class, &all);
    }
    yard.array(&format!("[L{class};"), &table)
}

/// A table of sixteen trees, whose nodes are lists, too.
fn tree_bins(yard: &mut Yard, keys: &[u64], values: &[u64]) -> u64 {
    const BINS: usize = 16;
    yard.class(NODE, "", "hash:i key value next");
    yard.class(ENTRY, NODE, "before after");
    yard.class(TREE_NODE, ENTRY, "parent left right prev red:b");
    let nodes = yard.ids(values.len());
    for (place, id) in nodes.iter().enumerate() {
        let (bin, of_bin) = (place % BINS, place / BINS);
        let at = |of_bin: usize| nodes.get(of_bin * BINS + bin).copied().unwrap_or(0);
        let before = |of_bin: Option<usize>| of_bin.map_or(0, at);
        let parent = before(of_bin.checked_sub(1).map(|it| it / 2));
        let previous = before(of_bin.checked_sub(1));
        let tree = [parent, at(2 * of_bin + 1), at(2 * of_bin + 2), previous, 0];
        let node = [0, 0, bin as u64, keys[place], values[place], at(of_bin + 1)];
        yard.put(*id, TREE_NODE, &[&tree[..], &node[..]].concat());
    }
    let mut table = nodes;
    table.truncate(BINS);
    table.resize(64, 0);
    yard.array("[Ljava/util/HashMap$Node;", &table)
}

fn tree_map(yard: &mut Yard, keys: &[u64], values: &[u64]) -> u64 {
    let entry = "java/util/TreeMap$Entry";
    yard.class(entry, "", "key value left right parent color:b");
    let nodes = yard.ids(values.len());
    let at = |place: usize| nodes.get(place).copied().unwrap_or(0);
    for (place, id) in nodes.iter().enumerate() {
        let parent = place.checked_sub(1).map_or(0, |it| at(it / 2));
        let (left, right) = (at(2 * place + 1), at(2 * place + 2));
        yard.put(
            *id,
            entry,
            &[keys[place], values[place], left, right, parent, 1],
        );
    }
    yard.class("java/util/TreeMap", "", "comparator root size:i modCount:i");
    let size = values.len() as u64;
    yard.make("java/util/TreeMap", &[0, at(0), size, size])
}

fn linked_list(yard: &mut Yard, values: &[u64]) -> u64 {
    let node = "java/util/LinkedList$Node";
    yard.class(node, "", "item next prev");
    let nodes = yard.ids(values.len());
    let at = |place: Option<usize>| place.and_then(|it| nodes.get(it)).copied().unwrap_or(0);
    for (place, id) in nodes.iter().enumerate() {
        let (next, before) = (at(Some(place + 1)), at(place.checked_sub(1)));
        yard.put(*id, node, &[values[place], next, before]);
    }
    yard.class("java/util/LinkedList", "", "first last size:i modCount:i");
    let size = values.len() as u64;
    let last = at(nodes.len().checked_sub(1));
    yard.make("java/util/LinkedList", &[at(Some(0)), last, size, size])
}

/// Tables of nodes in segments.
fn segmented(yard: &mut Yard, keys: &[u64], values: &[u64]) -> u64 {
    const SEGMENTS: usize = 4;
    yard.class("lib/cache/Segment", "", "table count:i");
    let each = values.len().div_ceil(SEGMENTS);
    let mut segments = Vec::new();
    for (keys, values) in keys.chunks(each).zip(values.chunks(each)) {
        let node = ("lib/cache/Entry", "key value next hash:i");
        let table = chained(yard, node, (keys, values));
        segments.push(yard.make("lib/cache/Segment", &[table, values.len() as u64]));
    }
    let segments = yard.array("[Llib/cache/Segment;", &segments);
    yard.class("lib/cache/LocalCache", "", "segments");
    yard.make("lib/cache/LocalCache", &[segments])
}

/// The keys and the values in an array each, with gaps.
fn open_map(yard: &mut Yard, keys: &[u64], values: &[u64]) -> u64 {
    let room = (values.len() * 2).next_power_of_two();
    let spread = |yard: &mut Yard, all: &[u64]| {
        let mut places = vec![0; room];
        for (place, id) in all.iter().enumerate() {
            places[place * 7 % room] = *id;
        }
        yard.array("[Ljava/lang/Object;", &places)
    };
    let size = values.len() as u64;
    let (keys, values) = (spread(yard, keys), spread(yard, values));
    yard.class(OPEN_MAP, "", "keys values used:i");
    yard.make(OPEN_MAP, &[keys, values, size])
}
