//! The dominator tree, pruned to what is visible: nodes with too little area are summed up beside
//! their siblings.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use graph::{Heap, Retained, Unchained};
use serde_json::{json, Value};

use super::space::Space;

/// How much of a tree to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Approximate number of nodes.
    pub(crate) nodes: usize,
    /// Levels below the heap.
    pub(crate) depth: u32,
    /// A node has at least the total divided by this.
    pub(crate) share: u64,
    /// Bytes of the page.
    pub(crate) bytes: u64,
}

/// More than is displayed at once, so that one can zoom in.
pub(crate) const LIMITS: Limits = Limits {
    nodes: 10_000,
    depth: 64,
    share: 20_000,
    bytes: 600_000,
};

/// An object with at least the total divided by this is a separate node at the top, not part of its
/// class's group.
const ALONE_SHARE: u64 = 10;

/// Most separate objects below one node. Smaller ones are drawn together by class.
const SINGLE_MAX: u64 = 200;

/// Approximate bytes of a node, without its name.
const NODE_BYTES: u64 = 40;

/// The kind of a node. The page's script knows the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// The whole heap.
    #[default]
    Heap = 0,
    /// An object; named by its class.
    Object = 1,
    /// A class object; named by the class that it represents.
    Class = 2,
    /// Objects of several classes that together have too little area.
    Others = 3,
    /// Objects of one class, at least one of which has its own node below.
    Group = 4,
    /// Objects of one class that are drawn as one, as are the objects that they hold.
    Together = 5,
}

/// Why a node is at the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Held {
    /// It is not.
    #[default]
    ByAbove = 0,
    /// It is a root.
    AsRoot = 1,
    /// Two or more objects hold it, none of them alone.
    ByTwoOrMore = 2,
}

/// One node and its retained bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    parent: usize,
    kind: Kind,
    held: Held,
    name: u32,
    /// Bytes of the node and everything below it.
    bytes: u64,
    /// Bytes of the object itself; 0 if the node is not a single object.
    own: u64,
    /// Objects that it stands for, not counting those below it.
    objects: u64,
    /// The object's id, or 0.
    id: u64,
    depth: u32,
}

/// The source of a node's children.
enum Below {
    /// These objects of one class.
    Members(Held, Vec<u32>),
    /// The objects that these dominate.
    Dominated(Vec<u32>),
}

/// Objects of one class below one node.
#[derive(Default)]
struct Members {
    bytes: u64,
    /// Bytes of the largest one.
    largest: u64,
    objects: Vec<u32>,
}

impl Members {
    fn add(&mut self, object: u32, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.largest = self.largest.max(bytes);
        self.objects.push(object);
    }
}

/// A tree under construction, largest nodes first.
struct Growing<'a, 'p> {
    heap: &'a Heap<'p>,
    tree: Unchained<'a, 'p>,
    total_bytes: u64,
    space: &'a mut Space,
    limits: Limits,
    least_bytes: u64,
    nodes: Vec<Node>,
    /// Nodes that can still be divided: bytes, node, and the source of its children.
    open: BinaryHeap<(u64, Reverse<usize>)>,
    below: HashMap<usize, Below>,
}

/// The nodes of a heap, parents before children. Objects at the top are grouped by class and by
/// whether they are roots, except the largest.
pub(crate) fn nodes(
    heap: &Heap<'_>,
    retained: &Retained,
    space: &mut Space,
    limits: Limits,
) -> Vec<Node> {
    let total_bytes = retained.total_bytes();
    space.open(limits.bytes);
    let mut growing = Growing {
        heap,
        tree: Unchained::new(heap, retained),
        total_bytes,
        limits,
        least_bytes: (total_bytes / limits.share.max(1)).max(1),
        nodes: vec![Node {
            name: space.name("heap"),
            bytes: total_bytes,
            objects: retained.reachable().into(),
            ..Node::default()
        }],
        open: BinaryHeap::new(),
        below: HashMap::new(),
        space,
    };
    growing.add_groups();
    while let Some((_, Reverse(node))) = growing.open.pop() {
        growing.divide(node);
    }
    growing.nodes
}

/// The nodes as columns.
pub(crate) fn in_json(nodes: &[Node]) -> Value {
    let column =
        |value: &dyn Fn(&Node) -> Value| -> Vec<Value> { nodes.iter().map(value).collect() };
    json!({
        "parent": column(&|node| node.parent.into()),
        "kind": column(&|node| (node.kind as u8).into()),
        "held": column(&|node| (node.held as u8).into()),
        "name": column(&|node| node.name.into()),
        "bytes": column(&|node| node.bytes.into()),
        "own": column(&|node| node.own.into()),
        "objects": column(&|node| node.objects.into()),
        // Scripts have no 64-bit integers.
        "id": column(&|node| match node.id {
            0 => 0.into(),
            id => format!("{id:x}").into(),
        }),
    })
}

impl Growing<'_, '_> {
    fn add_groups(&mut self) {
        let heap = self.heap;
        let held = |object: &u32| match heap.root_kind(*object) {
            Some(_) => Held::AsRoot,
            None => Held::ByTwoOrMore,
        };
        let objects = self.tree.top();
        let objects = objects.into_iter().map(|object| (held(&object), object));
        let least = (self.total_bytes / ALONE_SHARE).max(self.least_bytes);
        self.add_all(0, least, objects);
    }

    /// Adds the children of a node.
    fn divide(&mut self, node: usize) {
        let (held, objects) = match self.below.remove(&node) {
            Some(Below::Members(held, objects)) => (held, objects),
            Some(Below::Dominated(objects)) => {
                let all = objects.iter().flat_map(|object| self.tree.below(*object));
                (Held::ByAbove, all.collect())
            }
            None => return,
        };
        let least = self.single_bytes(self.nodes.get(node).map_or(0, |node| node.bytes));
        let objects = objects.into_iter().map(|object| (held, object));
        self.add_all(node, least, objects);
    }

    /// Adds objects below a node: those of at least so many bytes one by one, others by class.
    fn add_all(&mut self, node: usize, least: u64, objects: impl Iterator<Item = (Held, u32)>) {
        let heap = self.heap;
        let mut large: Vec<(u64, Held, u32)> = Vec::new();
        let mut small: HashMap<(u32, Held), Members> = HashMap::new();
        let mut add_small = |held, object, bytes| {
            let members = small.entry((heap.class(object), held)).or_default();
            members.add(object, bytes);
        };
        for (held, object) in objects {
            match self.tree.bytes(object) {
                bytes if bytes >= least => large.push((bytes, held, object)),
                bytes => add_small(held, object, bytes),
            }
        }
        large.sort_by_key(|(bytes, _, object)| (Reverse(*bytes), *object));
        for (bytes, held, object) in large {
            match self.takes(bytes) {
                true => self.add_object(node, held, object),
                false => add_small(held, object, bytes),
            }
        }
        self.add_classes(node, small);
    }

    fn add_classes(&mut self, node: usize, classes: HashMap<(u32, Held), Members>) {
        let mut classes: Vec<_> = classes.into_iter().collect();
        classes.sort_by_key(|((class, held), of)| (Reverse(of.bytes), *class, *held));
        let (mut rest_bytes, mut rest_objects) = (0_u64, 0_u64);
        for ((class, held), members) in classes {
            if self.takes(members.bytes) {
                self.add_class(node, held, class, members);
            } else {
                rest_bytes = rest_bytes.saturating_add(members.bytes);
                rest_objects += members.objects.len() as u64;
            }
        }
        if rest_objects > 0 {
            let others = Node {
                parent: node,
                kind: Kind::Others,
                bytes: rest_bytes,
                objects: rest_objects,
                depth: self.depth_below(node),
                ..Node::default()
            };
            self.add(others, None);
        }
    }

    /// Adds objects of one class.
    fn add_class(&mut self, parent: usize, held: Held, class: u32, members: Members) {
        let (bytes, objects) = (members.bytes, members.objects);
        if let [object] = *objects.as_slice() {
            return self.add_object(parent, held, object);
        }
        let is_group = members.largest >= self.single_bytes(bytes);
        let own = objects.iter().map(|it| self.heap.shallow_bytes(*it));
        let (kind, own) = match is_group {
            true => (Kind::Group, 0),
            false => (Kind::Together, own.sum()),
        };
        let node = Node {
            parent,
            kind,
            held,
            name: self.space.name(&self.heap.class_name(class)),
            bytes,
            own,
            objects: objects.len() as u64,
            depth: self.depth_below(parent),
            ..Node::default()
        };
        let has_more = node.bytes > node.own;
        let below = match is_group {
            true => Below::Members(held, objects),
            false => Below::Dominated(objects),
        };
        self.add(node, has_more.then_some(below));
    }

    /// Whether a node with this many bytes is worth adding.
    fn takes(&self, bytes: u64) -> bool {
        let has_place = self.nodes.len() < self.limits.nodes && self.space.has_room();
        bytes >= self.least_bytes && has_place
    }

    /// Least bytes of an object that is a separate node below one with this many bytes.
    fn single_bytes(&self, bytes: u64) -> u64 {
        self.least_bytes.max(bytes / SINGLE_MAX)
    }

    fn add_object(&mut self, parent: usize, held: Held, object: u32) {
        let (kind, class) = match self.heap.class_of_object(object) {
            Some(class) => (Kind::Class, class),
            None => (Kind::Object, self.heap.class(object)),
        };
        let node = Node {
            parent,
            kind,
            held,
            name: self.space.name(&self.heap.class_name(class)),
            bytes: self.tree.bytes(object),
            own: self.heap.shallow_bytes(object),
            objects: 1,
            id: self.heap.id(object),
            depth: self.depth_below(parent),
        };
        let has_more = node.bytes > node.own;
        self.add(node, has_more.then(|| Below::Dominated(vec![object])));
    }

    fn add(&mut self, node: Node, below: Option<Below>) {
        let place = self.nodes.len();
        if let Some(below) = below.filter(|_| node.depth < self.limits.depth) {
            self.below.insert(place, below);
            self.open.push((node.bytes, Reverse(place)));
        }
        self.space.take(NODE_BYTES);
        self.nodes.push(node);
    }

    fn depth_below(&self, parent: usize) -> u32 {
        self.nodes.get(parent).map_or(0, |node| node.depth) + 1
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use graph::{Input, Options, References};
    use sample::{Dump, OBJECT_ARRAY};
    use std::io::{Seek, Write};

    /// Arrays that form a complete tree with ten children each, three levels deep, below one root.
    fn tree_of_arrays() -> Dump {
        let mut sample = Dump::small();
        let id = |place: u64| 0x10_0000 + place * 0x100;
        for place in 0..1_111 {
            let first = place * 10 + 1;
            let children: Vec<u64> = (first..first + 10).filter(|child| *child < 1_111).collect();
            sample.heap(1).push(sample::object_array(
                id(place),
                OBJECT_ARRAY,
                &children_ids(&children, id),
            ));
        }
        sample.heap(1).push(sample::root(0x05, id(0)));
        sample
    }

    fn children_ids(children: &[u64], id: impl Fn(u64) -> u64) -> Vec<u64> {
        children.iter().map(|child| id(*child)).collect()
    }

    fn pruned(limits: Limits) -> (u64, Vec<Node>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&tree_of_arrays().bytes()).unwrap();
        file.rewind().unwrap();
        let heap = Heap::read(
            Input::new(file, &|_| ()).unwrap(),
            Options {
                threads: 1,
                by_rule: false,
            },
        )
        .unwrap();
        let retained = Retained::of(&heap, References::All).unwrap();
        let nodes = nodes(&heap, &retained, &mut Space::default(), limits);
        (retained.total_bytes(), nodes)
    }

    #[test]
    fn what_is_pruned_stays_in_the_sums() {
        for (share, nodes, depth, bytes) in [
            (20_000, 10_000, 64, 600_000),
            (30, 10_000, 64, 600_000),
            (20_000, 40, 64, 600_000),
            (20_000, 10_000, 2, 600_000),
            (20_000, 10_000, 64, 1_000),
            (1, 10_000, 64, 600_000),
        ] {
            let limits = Limits {
                nodes,
                depth,
                share,
                bytes,
            };
            let (total, nodes) = pruned(limits);
            let mut sums: HashMap<usize, u64> = HashMap::new();
            for node in nodes.iter().skip(1) {
                *sums.entry(node.parent).or_default() += node.bytes;
            }
            assert_eq!(sums[&0], total, "{limits:?}");
            for (parent, sum) in sums {
                let above = nodes.get(parent).unwrap();
                assert_eq!(above.own + sum, above.bytes, "{limits:?}");
            }
            assert!(nodes.iter().all(|node| node.depth <= limits.depth));
        }
    }

    #[test]
    fn limits_prune() {
        let all = pruned(LIMITS).1.len();
        assert!(all > 1_111, "{all}");
        let few = pruned(Limits {
            nodes: 40,
            ..LIMITS
        })
        .1
        .len();
        // One more for the remainder of each divided node.
        assert!(few <= 2 * 40, "{few}");
        let large = pruned(Limits {
            share: 30,
            ..LIMITS
        })
        .1;
        assert!(large.len() < 40, "{}", large.len());
        assert!(large
            .iter()
            .any(|node| node.kind == Kind::Others && node.objects > 1));
    }
}
