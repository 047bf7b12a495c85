//! The dominator tree by class: objects of one class below objects of one class are one place, so
//! that two heaps can be compared although their objects have moved.

use std::collections::{BTreeMap, HashMap};

use graph::{GraphError, Heap, Link, Links, Retained};
use reader::RootKind;

use crate::answers::object::{above, described};

/// Levels of the tree.
const DEPTH_MAX: usize = 24;

/// Places of the tree.
const PLACES_MAX: usize = 4_000;

/// A place has at least the bytes of the heap divided by this; smaller ones are not separated.
const SHARE: u64 = 1_000;

/// What tells a place from others below the same place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name {
    /// The static field that refers to its objects: `shop.Cache.ALL`, or `.ALL` if classes of
    /// several loaders have that name.
    pub(super) field: Option<String>,
    /// The class of its objects; for a class object, `class` and its name.
    pub(super) class: String,
}

/// Objects of a place, and what they retain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) objects: u64,
    pub(super) bytes: u64,
    /// Without the places below.
    pub(super) own_bytes: u64,
}

/// Objects of one class below one place.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) name: Name,
    /// The place above it, which comes before it.
    pub(super) above: usize,
    pub(super) kept: Kept,
    /// How the object above refers to its only object: `.table`, `(local variable)`.
    pub(super) link: Option<String>,
    /// The object and the one above, if there is one.
    only: Option<(u32, u32)>,
}

/// The places of a heap. The first is the heap itself.
#[derive(Debug)]
pub(crate) struct Places(pub(super) Vec<Place>);

/// Objects below a place that are not separated yet.
struct Below {
    place: usize,
    /// Whether a class object is above them.
    of_class: bool,
    objects: Vec<u32>,
}

struct Builder<'a, 'p> {
    heap: &'a Heap<'p>,
    retained: &'a Retained,
    /// How many classes have each name.
    copies: HashMap<String, u32>,
    least_bytes: u64,
    places: Vec<Place>,
}

impl Places {
    /// The places of a heap. Errors: the file cannot be read.
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained) -> Result<Self, GraphError> {
        let mut copies: HashMap<String, u32> = HashMap::new();
        for class in 0..heap.classes() {
            *copies.entry(heap.class_name(class)).or_default() += 1;
        }
        let mut builder = Builder {
            heap,
            retained,
            copies,
            least_bytes: (retained.total_bytes() / SHARE).max(1),
            places: vec![Place::default()],
        };
        builder.add(0, retained.reachable().into(), retained.total_bytes());
        // Level by level, so that the top of the tree is whole if there are too many places.
        let mut level = vec![Below {
            place: 0,
            of_class: false,
            objects: retained.top(),
        }];
        for _ in 0..DEPTH_MAX {
            level = builder.level(level)?;
        }
        builder.name_links()?;
        Ok(Self(builder.places))
    }
}

/// `shop.Cache.ALL  java.util.HashMap`, or the class alone.
pub(super) fn labelled(field: Option<&str>, class: &str) -> String {
    match field {
        Some(field) => format!("{field}  {class}"),
        None => class.to_owned(),
    }
}

/// What one place keeps alone.
pub(crate) struct Share {
    /// The number of the place above it, which comes before it; of the first its own.
    pub(crate) above: usize,
    pub(crate) label: String,
    /// Bytes without those of the places below.
    pub(crate) bytes: u64,
}

impl Places {
    /// All places in their order. The first is the heap, whose bytes are what is too small to be
    /// separated. Together they have the bytes of all reachable objects.
    pub(crate) fn shares(&self) -> impl Iterator<Item = Share> + '_ {
        self.0.iter().map(|place| Share {
            above: place.above,
            label: labelled(
                place.name.field.as_deref().or(place.link.as_deref()),
                &place.name.class,
            ),
            bytes: place.kept.own_bytes,
        })
    }
}

impl Builder<'_, '_> {
    fn level(&mut self, level: Vec<Below>) -> Result<Vec<Below>, GraphError> {
        let links = self.static_links(&level)?;
        let mut next = Vec::new();
        for below in level {
            for (name, members) in self.groups(&below, &links) {
                let bytes = members.iter().map(|object| self.retained.bytes(*object));
                let bytes = bytes.fold(0, u64::saturating_add);
                if bytes < self.least_bytes || self.places.len() >= PLACES_MAX {
                    continue;
                }
                // What a static field of a class refers to is at the top of the tree: it stays
                // there, whatever holds the class.
                let is_global = name.field.as_ref().is_some_and(|it| !it.starts_with('.'));
                let above = if is_global { 0 } else { below.place };
                if let Some(above) = self.places.get_mut(below.place) {
                    above.kept.own_bytes = above.kept.own_bytes.saturating_sub(bytes);
                }
                let place = self.places.len();
                self.places.push(Place {
                    name,
                    above,
                    ..Place::default()
                });
                next.push(self.enter(place, members, bytes));
            }
        }
        Ok(next)
    }

    /// Fills a place with its objects; returns those below.
    fn enter(&mut self, place: usize, members: Vec<u32>, bytes: u64) -> Below {
        let first = members.first().copied();
        let of_class = first.is_some_and(|it| self.heap.class_of_object(it).is_some());
        let only = first.filter(|_| members.len() == 1);
        let only = only.and_then(|object| Some((above(self.retained, object)?, object)));
        let (objects, below) = self.folded(members, of_class);
        self.add(place, objects, bytes);
        if let Some(place) = self.places.get_mut(place) {
            place.only = only.filter(|_| place.name.field.is_none());
        }
        Below {
            place,
            of_class,
            objects: below,
        }
    }

    fn add(&mut self, place: usize, objects: u64, bytes: u64) {
        if let Some(place) = self.places.get_mut(place) {
            place.kept = Kept {
                objects,
                bytes,
                own_bytes: bytes,
            };
        }
    }

    /// How many objects these are with those of the same class directly below them, such as the
    /// nodes of a list; and the others below.
    fn folded(&self, members: Vec<u32>, of_class: bool) -> (u64, Vec<u32>) {
        let (mut count, mut below, mut open) = (0, Vec::new(), members);
        while let Some(object) = open.pop() {
            count += 1;
            let class = self.heap.class(object);
            for child in self.retained.each_dominated(object) {
                match self.heap.class(child) == class && !of_class {
                    true => open.push(child),
                    false => below.push(child),
                }
            }
        }
        (count, below)
    }

    /// How class objects refer to the larger objects below them.
    fn static_links(&self, level: &[Below]) -> Result<Links, GraphError> {
        let objects = level.iter().filter(|below| below.of_class);
        let objects = objects.flat_map(|below| below.objects.iter().copied());
        let large = objects.filter(|object| self.retained.bytes(*object) >= self.least_bytes);
        let pairs = large.filter_map(|object| Some((above(self.retained, object)?, object)));
        self.heap.links(pairs)
    }

    /// The objects by the names of their places.
    fn groups(&self, below: &Below, links: &Links) -> BTreeMap<Name, Vec<u32>> {
        let heap = self.heap;
        let mut by_class: HashMap<_, Vec<u32>> = HashMap::new();
        for object in &below.objects {
            let field = below.of_class.then(|| self.static_field(*object, links));
            let key = (
                heap.class(*object),
                heap.class_of_object(*object),
                field.flatten(),
            );
            by_class.entry(key).or_default().push(*object);
        }
        let mut by_name: BTreeMap<Name, Vec<u32>> = BTreeMap::new();
        for ((.., field), members) in by_class {
            if let Some(first) = members.first() {
                let name = Name {
                    field: field.map(|field| self.field_name(field)),
                    class: described(heap, *first),
                };
                by_name.entry(name).or_default().extend(members);
            }
        }
        by_name
    }

    /// The class and the id of the name of the static field that refers to an object.
    fn static_field(&self, object: u32, links: &Links) -> Option<(u32, u64)> {
        let above = above(self.retained, object)?;
        match links.get(above, object) {
            Some(Link::Static(name)) => Some((self.heap.class_of_object(above)?, name)),
            _ => None,
        }
    }

    fn field_name(&self, (class, field): (u32, u64)) -> String {
        let class = self.heap.class_name(class);
        let strings = &self.heap.directory().strings;
        let field = strings.text(field).unwrap_or_default();
        match self.copies.get(&class) {
            Some(1) => format!("{class}.{field}"),
            _ => format!(".{field}"),
        }
    }

    /// Finds how the only object of a place is referred to.
    fn name_links(&mut self) -> Result<(), GraphError> {
        let only = self.places.iter().filter_map(|place| place.only);
        let links = self.heap.links(only)?;
        for place in &mut self.places {
            let only = place.only;
            let link = only.and_then(|(above, object)| links.get(above, object));
            let tells =
                |link: &Link| matches!(link, Link::Field(_) | Link::Frame(RootKind::JavaFrame));
            let link = link.filter(tells).map(|link| self.heap.link_text(link));
            place.link = link.map(|text| text.trim().to_owned());
        }
        Ok(())
    }
}
