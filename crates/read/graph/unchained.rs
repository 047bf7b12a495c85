//! The dominator tree with the nodes of a collection beside each other.
//!
//! A node of a hash table alone holds the next one in its place, so that the dominator tree has
//! most nodes below the table, some below these, and a list only one below the other. What the
//! nodes hold would be spread over as many levels.

use crate::heap::Heap;
use crate::retained::Retained;
use crate::structure::Structure;

/// The dominator tree in which what holds a node of a collection holds all that follow it.
#[derive(Debug)]
pub struct Unchained<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    structure: Structure,
}

impl<'a, 'p> Unchained<'a, 'p> {
    /// The tree of a heap.
    pub fn new(heap: &'a Heap<'p>, retained: &'a Retained) -> Self {
        Self {
            heap,
            retained,
            structure: Structure::of(heap),
        }
    }

    /// The retained bytes of an object, without those of the nodes that follow it.
    pub fn bytes(&self, object: u32) -> u64 {
        let following = self.following(object).map(|node| self.retained.bytes(node));
        let bytes = self.retained.bytes(object);
        bytes.saturating_sub(following.fold(0, u64::saturating_add))
    }

    /// The objects that nothing holds alone, and the nodes that follow them, in no order.
    pub fn top(&self) -> Vec<u32> {
        self.with_following(self.retained.top().into_iter())
    }

    /// The objects below an object, in no order.
    pub fn below(&self, object: u32) -> Vec<u32> {
        let all = self.retained.each_dominated(object);
        self.with_following(all.filter(|below| !self.follows(object, *below)))
    }

    /// These objects, each with the nodes that follow it.
    fn with_following(&self, objects: impl Iterator<Item = u32>) -> Vec<u32> {
        let (mut all, mut at): (Vec<u32>, usize) = (objects.collect(), 0);
        while let Some(object) = all.get(at) {
            let following: Vec<u32> = self.following(*object).collect();
            all.extend(following);
            at += 1;
        }
        all
    }

    /// The next nodes of a collection that a node alone holds.
    fn following(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let is_node = self.structure.is_collection(self.heap.class(object));
        let below = is_node.then(|| self.retained.each_dominated(object));
        let below = below.into_iter().flatten();
        below.filter(move |below| self.follows(object, *below))
    }

    fn follows(&self, object: u32, below: u32) -> bool {
        let class = self.heap.class(below);
        class == self.heap.class(object) && self.structure.is_collection(class)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::class_facts::References;
    use crate::heap::Options;
    use crate::input::Input;
    use sample::Dump;

    /// A root array with two chains of nodes, of three and of one, each with an object.
    fn heap(class: &str) -> (Heap<'static>, Retained) {
        let mut dump = Dump::new(8);
        dump.class(0x2100, class, Dump::OBJECT, 0, &["next", "item"], &[]);
        dump.class(0x2200, "app/Item", Dump::OBJECT, 0, &[], &[]);
        dump.object_array(0x3000, &[0x4000, 0x4300]);
        for (node, next) in [(0x4000, 0x4100), (0x4100, 0x4200), (0x4200, 0), (0x4300, 0)] {
            dump.instance(node, 0x2100, &[next, node + 8]);
            dump.instance(node + 8, 0x2200, &[]);
        }
        for id in [0x2100, 0x2200, 0x3000] {
            dump.root(id);
        }
        let input = Input::new(dump.file(false), &|_| ()).unwrap();
        let heap = Heap::read(input, Options::default()).unwrap();
        let retained = Retained::of(&heap, References::All).unwrap();
        (heap, retained)
    }

    #[test]
    fn nodes_of_a_collection_are_side_by_side() {
        let (heap, retained) = heap("java/util/HashMap$Node");
        let tree = Unchained::new(&heap, &retained);
        let object = |id: u64| heap.object(id).unwrap();
        let mut below = tree.below(object(0x3000));
        below.sort_unstable();
        let nodes = [0x4000, 0x4100, 0x4200, 0x4300].map(object);
        assert_eq!(below, nodes);
        for node in nodes {
            assert_eq!(tree.bytes(node), retained.bytes(object(0x4300)));
            assert_eq!(tree.below(node).len(), 1);
        }
        let sum: u64 = nodes.iter().map(|node| tree.bytes(*node)).sum();
        let array = object(0x3000);
        assert_eq!(sum, tree.bytes(array) - heap.shallow_bytes(array));
    }

    #[test]
    fn objects_of_the_program_stay_below_each_other() {
        let (heap, retained) = heap("app/Element");
        let tree = Unchained::new(&heap, &retained);
        let (array, first) = (heap.object(0x3000).unwrap(), heap.object(0x4000).unwrap());
        assert_eq!(tree.below(array).len(), 2);
        assert_eq!(tree.bytes(first), retained.bytes(first));
    }
}
