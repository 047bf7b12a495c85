//! The graph that searches walk: references, roots, and each object's kind.

use crate::class_facts::{AllFacts, NONE};
use crate::edges::Edges;
use crate::kinds::{Kind, KindNumbers};
use crate::roots::Roots;

/// References that all objects of a kind have and that are therefore not stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Implied {
    /// The class object; [`NONE`] if it is a root or not in the dump.
    class_object: u32,
    /// Whether its objects have a referent.
    has_referent: bool,
}

/// References to an object's own class are not stored, because they follow from the class.
/// Referents are stored separately.
#[derive(Debug)]
pub(crate) struct GraphView<'h> {
    pub(crate) edges: &'h Edges,
    pub(crate) roots: &'h Roots,
    /// Kind of each object.
    pub(crate) kinds: &'h KindNumbers,
    /// The implied references of each kind.
    pub(crate) implied: &'h [Implied],
    /// References that do not keep their target alive, as (from, to), ascending. Empty if they are
    /// to be ignored.
    pub(crate) referents: &'h [(u32, u32)],
}

impl Implied {
    /// The implied references of each kind. A class object that is a root is left out, because the
    /// virtual root refers to it.
    pub(crate) fn of_all(kinds: &[Kind], facts: &AllFacts, roots: &Roots) -> Vec<Self> {
        let of = |kind: &Kind| {
            let facts = facts.get(kind.class);
            let class_object = facts.map(|facts| facts.object);
            Self {
                class_object: class_object
                    .filter(|object| !roots.is_root(*object))
                    .unwrap_or(NONE),
                has_referent: facts.is_some_and(|facts| facts.referent.is_some()),
            }
        };
        kinds.iter().map(of).collect()
    }
}

impl GraphView<'_> {
    /// Number of objects.
    pub(crate) fn objects(&self) -> u32 {
        self.kinds.len()
    }

    /// The objects that are roots of the whole heap.
    pub(crate) fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        self.roots.global.iter().map(|root| root.object)
    }

    /// The implied references of an object: its class, unless that is a root, and its referent.
    #[inline]
    pub(crate) fn implied(&self, object: u32) -> (Option<u32>, Option<u32>) {
        let kind = self.kinds.get(object);
        let Some(implied) = kind.and_then(|kind| self.implied.get(kind as usize)) else {
            return (None, None);
        };
        let class_object = (implied.class_object != NONE).then_some(implied.class_object);
        if !implied.has_referent {
            return (class_object, None);
        }
        (class_object, self.referent(object))
    }

    fn referent(&self, object: u32) -> Option<u32> {
        let place = self
            .referents
            .binary_search_by_key(&object, |(from, _)| *from);
        self.referents.get(place.ok()?).map(|(_, to)| *to)
    }
}
