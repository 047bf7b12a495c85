//! The graph that searches walk: references, roots, and each object's class.

use crate::class_facts::{AllFacts, NONE};
use crate::edges::Edges;
use crate::roots::Roots;

/// References that all objects of a class have and that are not stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Implied {
    /// The class object; [`NONE`] if it is a root or not in the dump.
    class_object: u32,
    /// Whether its objects have a referent.
    has_referent: bool,
}

/// References to an object's own class are not stored, because they follow from the class. Referents are
/// stored separately.
#[derive(Debug)]
pub(crate) struct GraphView<'h> {
    pub(crate) edges: &'h Edges,
    pub(crate) roots: &'h Roots,
    /// Class of each object.
    pub(crate) classes: &'h [u32],
    /// The implied references of each class.
    pub(crate) implied: &'h [Implied],
    /// References that do not keep their target alive, as (from, to), ascending. Empty if they do not count.
    pub(crate) referents: &'h [(u32, u32)],
}

impl Implied {
    /// The implied references of each class. A class object that is a root is left out, because the virtual
    /// root refers to it.
    pub(crate) fn of_all(facts: &AllFacts, roots: &Roots) -> Vec<Self> {
        let count = u32::try_from(facts.len()).unwrap_or(NONE);
        let facts = (0..count).filter_map(|class| facts.get(class));
        let implied = facts.map(|facts| Self {
            class_object: if roots.is_root(facts.object) {
                NONE
            } else {
                facts.object
            },
            has_referent: facts.referent.is_some(),
        });
        implied.collect()
    }
}

impl GraphView<'_> {
    /// Number of objects.
    pub(crate) fn objects(&self) -> u32 {
        u32::try_from(self.classes.len()).unwrap_or(NONE)
    }

    /// The objects that are roots of the whole heap.
    pub(crate) fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        self.roots.global.iter().map(|root| root.object)
    }

    /// The implied references of an object: its class, unless that is a root, and its referent.
    #[inline]
    pub(crate) fn implied(&self, object: u32) -> (Option<u32>, Option<u32>) {
        let class = self.classes.get(object as usize);
        let Some(implied) = class.and_then(|class| self.implied.get(*class as usize)) else {
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
