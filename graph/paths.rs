//! How an object is kept alive: the shortest path from a root, and the names of the references on
//! it.

use std::collections::HashMap;
use std::fmt;

use format::BasicType;
use reader::RootKind;

use crate::class_facts::{References, NONE};
use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;

/// The parent of a root in a search.
const TOP: u32 = NONE - 1;

/// How one object refers to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// By a field.
    Field {
        /// Name of the declaring class in Java's form.
        class: String,
        /// Name of the field.
        name: String,
    },
    /// By a static field.
    Static(String),
    /// By an element of an array.
    Element(u32),
    /// By a thread's frame, or by native code that the thread runs.
    Frame(RootKind),
    /// As the class of the object.
    Class,
    /// As a class's superclass, loader, signers, protection domain or constant.
    OfClass,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field { name, .. } => write!(f, ".{name}"),
            Self::Static(name) => write!(f, ".{name} (static)"),
            Self::Element(place) => write!(f, "[{place}]"),
            Self::Frame(RootKind::JavaFrame) => write!(f, " (local variable)"),
            Self::Frame(kind) => write!(f, " ({})", kind.name()),
            Self::Class => write!(f, " (its class)"),
            Self::OfClass => write!(f, " (of the class)"),
        }
    }
}

/// A path from a root to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The root first, the target last.
    pub objects: Vec<u32>,
    /// How each object refers to the next.
    pub links: Vec<Link>,
    /// Why the first object is a root.
    pub root: RootKind,
    /// Whether it contains a reference that does not keep its target alive. Then there is no other
    /// path.
    pub is_weak: bool,
}

/// A breadth-first search from all roots, stopped when it has found its targets.
#[derive(Debug)]
pub(crate) struct Search {
    parents: Vec<u32>,
}

impl Search {
    /// Searches until all `targets` are found, or all objects are visited.
    pub(crate) fn until(heap: &Heap<'_>, targets: &[u32], rule: References) -> Self {
        let graph = heap.graph(rule);
        let mut missing: std::collections::HashSet<u32> = targets.iter().copied().collect();
        let mut parents = vec![NONE; heap.objects() as usize];
        let mut wave: Vec<u32> = Vec::new();
        let mut reach = |object: u32, from: u32, wave: &mut Vec<u32>| {
            if let Some(parent @ &mut NONE) = parents.get_mut(object as usize) {
                *parent = from;
                wave.push(object);
                if missing.contains(&object) {
                    missing.remove(&object);
                }
            }
            missing.is_empty()
        };
        let mut done = graph.roots().any(|root| reach(root, TOP, &mut wave));
        while !done && !wave.is_empty() {
            let last = std::mem::take(&mut wave);
            done = last.iter().any(|object| {
                let (class, referent) = graph.implied(*object);
                let stored = graph.edges.of(*object).iter().copied();
                let mut all = stored.chain(class).chain(referent);
                all.any(|target| reach(target, *object, &mut wave))
            });
        }
        Self { parents }
    }

    /// The objects on the path from a root to `object`; `None` if it was not found.
    pub(crate) fn to(&self, object: u32) -> Option<Vec<u32>> {
        let (mut objects, mut at) = (vec![object], object);
        loop {
            match self.parents.get(at as usize).copied()? {
                NONE => return None,
                TOP => break,
                above => {
                    objects.push(above);
                    at = above;
                }
            }
        }
        objects.reverse();
        Some(objects)
    }
}

impl Heap<'_> {
    /// The shortest path from a root to each of these objects, using only references that keep
    /// objects alive if possible; `None` for unreachable objects. Errors: the file cannot be read.
    pub fn paths(&self, objects: &[u32]) -> Result<Vec<Option<Path>>, GraphError> {
        let strong = Search::until(self, objects, References::Strong);
        let mut found: Vec<_> = objects
            .iter()
            .map(|object| (strong.to(*object), false))
            .collect();
        if found.iter().any(|(path, _)| path.is_none()) {
            let all = Search::until(self, objects, References::All);
            for (object, (path, is_weak)) in objects.iter().zip(&mut found) {
                if path.is_none() {
                    (*path, *is_weak) = (all.to(*object), true);
                }
            }
        }
        let pairs = found.iter().filter_map(|(path, _)| path.as_ref());
        let pairs: Vec<(u32, u32)> = pairs.flat_map(|path| steps(path)).collect();
        let links = self.links(&pairs)?;
        let path = |(objects, is_weak): (Option<Vec<u32>>, bool)| {
            let objects = objects?;
            let of = |pair| links.get(&pair).cloned().unwrap_or(Link::OfClass);
            Some(Path {
                links: steps(&objects).map(of).collect(),
                root: self.root_kind(*objects.first()?)?,
                objects,
                is_weak,
            })
        };
        Ok(found.into_iter().map(path).collect())
    }

    /// Why an object is a root of the whole heap; `None` if it is none.
    pub fn root_kind(&self, object: u32) -> Option<RootKind> {
        let place = self
            .roots()
            .binary_search_by_key(&object, |root| root.object);
        self.roots().get(place.ok()?).map(|root| root.kind)
    }

    /// How the first object of each pair refers to the second. Errors: the file cannot be read.
    pub fn links(&self, pairs: &[(u32, u32)]) -> Result<HashMap<(u32, u32), Link>, GraphError> {
        let sources: Vec<u32> = pairs.iter().map(|(from, _)| *from).collect();
        let contents = self.contents(&sources, 0)?;
        let mut links = HashMap::new();
        let mut in_arrays = Vec::new();
        for (from, to) in pairs {
            match contents.get(from) {
                Some(Contents::References { .. }) => {
                    in_arrays.push((*from, *to));
                }
                Some(contents) => {
                    if let Some(link) = self.link(*from, *to, contents) {
                        links.insert((*from, *to), link);
                    }
                }
                None => {}
            }
        }
        let places = self.places(&in_arrays)?;
        for pair in in_arrays {
            let place = places.get(&pair);
            links.insert(
                pair,
                place.map_or(Link::Class, |place| Link::Element(*place)),
            );
        }
        Ok(links)
    }

    fn link(&self, from: u32, to: u32, contents: &Contents) -> Option<Link> {
        let id = self.id(to);
        let fields = self.fields(contents);
        let mut references = fields
            .into_iter()
            .filter(|field| field.kind == BasicType::Object);
        let field = references.find(|field| field.value == id);
        match (field, contents) {
            (Some(field), Contents::Class(_)) => Some(Link::Static(field.name)),
            (Some(field), _) => Some(Link::Field {
                class: self.name_of_class_with_id(field.class),
                name: field.name,
            }),
            (None, Contents::Class(_)) => Some(Link::OfClass),
            (None, _) => {
                let local = self.locals(from).iter().find(|local| local.object == to);
                Some(local.map_or(Link::Class, |local| Link::Frame(local.kind)))
            }
        }
    }

    fn name_of_class_with_id(&self, id: u64) -> String {
        let directory = self.directory();
        directory.classes.java_name(id, &directory.strings)
    }
}

fn steps(path: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    path.iter().copied().zip(path.iter().copied().skip(1))
}
