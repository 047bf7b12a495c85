//! How objects refer to each other: finds the field or the element in the file.

use format::BasicType;
use reader::{ClassDump, RootKind};

use crate::error::GraphError;
use crate::heap::Heap;
use crate::visitor::{id_in, Head, Visitor};

/// The kind of a reference. [`Heap::link_text`] formats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// By a field: the id of its name.
    Field(u64),
    /// By a static field: the id of its name.
    Static(u64),
    /// By an element of an array.
    Element(u32),
    /// By a thread's frame, or by native code that the thread runs.
    Frame(RootKind),
    /// As the class of the object.
    Class,
    /// As a class's superclass, loader, signers, protection domain or constant.
    OfClass,
}

/// A reference from one object to another.
#[derive(Clone, Copy, Debug)]
struct Reference {
    from: u32,
    to: u32,
    to_id: u64,
    link: Link,
}

/// The links of the requested references.
#[derive(Clone, Debug)]
pub struct Links(Vec<Reference>);

impl Links {
    /// How the first object refers to the second; `None` if the pair was not requested.
    pub fn get(&self, from: u32, to: u32) -> Option<Link> {
        let place = self
            .0
            .binary_search_by_key(&(from, to), |one| (one.from, one.to));
        self.0.get(place.ok()?).map(|one| one.link)
    }
}

/// Looks for references in the objects that contain them.
struct Finder<'a, 'p> {
    heap: &'a Heap<'p>,
    /// Ascending by source, and by the target's id.
    sought: &'a mut [Reference],
    /// Number of the next object.
    next: u32,
    /// The range of the last object's references in `sought`.
    open: std::ops::Range<usize>,
    /// Number of its elements read so far.
    passed: u32,
}

impl Finder<'_, '_> {
    /// Counts an object; returns its references that are sought.
    #[inline]
    fn object(&mut self) -> &mut [Reference] {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.passed = 0;
        let rest = self.sought.get(self.open.end..).unwrap_or_default();
        let start = self.open.end + rest.iter().take_while(|one| one.from < number).count();
        let rest = self.sought.get(start..).unwrap_or_default();
        let end = start + rest.iter().take_while(|one| one.from == number).count();
        self.open = start..end;
        self.of_open()
    }

    fn of_open(&mut self) -> &mut [Reference] {
        self.sought.get_mut(self.open.clone()).unwrap_or_default()
    }
}

impl Visitor for Finder<'_, '_> {
    fn class(&mut self, _: u64, dump: ClassDump, own: Option<&[u8]>) {
        let heap = self.heap;
        for one in self.object() {
            let is_one =
                |of: &&reader::Static| of.kind == BasicType::Object && of.value == one.to_id;
            if let Some(field) = dump.statics.iter().find(is_one) {
                one.link = Link::Static(field.name);
            } else if let Some(name) =
                own.and_then(|own| heap.field_with(heap.facts.of_classes as usize, own, one.to_id))
            {
                one.link = Link::Field(name);
            }
        }
    }

    #[inline]
    fn instance(&mut self, _: u64, head: Head, data: &[u8]) {
        let heap = self.heap;
        for one in self.object() {
            let class = heap.directory().classes.index(head.class);
            let name = class.and_then(|class| heap.field_with(class, data, one.to_id));
            if let Some(name) = name {
                one.link = Link::Field(name);
            }
        }
    }

    fn array(&mut self, _: u64, _: Head, _: u32, _: BasicType) {
        self.object();
    }

    fn elements(&mut self, bytes: &[u8]) {
        if self.open.is_empty() {
            return;
        }
        let (first, id_bytes) = (self.passed, self.heap.header().id_bytes);
        let sought = self.of_open();
        let mut count = 0;
        for bytes in bytes.chunks_exact(id_bytes as usize) {
            let id = id_in(bytes, 0, id_bytes);
            let known = sought.binary_search_by_key(&id, |one| one.to_id).ok();
            match known.and_then(|place| sought.get_mut(place)) {
                // The first of several references is kept.
                Some(one) if !matches!(one.link, Link::Element(_)) => {
                    one.link = Link::Element(first.saturating_add(count));
                }
                _ => {}
            }
            count = count.saturating_add(1);
        }
        self.passed = first.saturating_add(count);
    }
}

impl Heap<'_> {
    /// How the first object of each pair refers to the second. Errors: the file cannot be read.
    pub fn links(&self, pairs: impl Iterator<Item = (u32, u32)>) -> Result<Links, GraphError> {
        let reference = |(from, to)| Reference {
            from,
            to,
            to_id: self.id(to),
            link: self.link_without_field(from, to),
        };
        let mut sought: Vec<Reference> = pairs.map(reference).collect();
        sought.sort_unstable_by_key(|one| (one.from, one.to_id));
        sought.dedup_by_key(|one| (one.from, one.to_id));
        let mut objects: Vec<u32> = sought.iter().map(|one| one.from).collect();
        objects.dedup();
        let mut finder = Finder {
            heap: self,
            sought: &mut sought,
            next: 0,
            open: 0..0,
            passed: 0,
        };
        self.seek(&objects, &mut finder, |finder, next| finder.next = next)?;
        sought.sort_unstable_by_key(|one| (one.from, one.to));
        Ok(Links(sought))
    }

    /// How an object refers to another, if not by a field or an element.
    fn link_without_field(&self, from: u32, to: u32) -> Link {
        if self.class_of_object(from).is_some() {
            return Link::OfClass;
        }
        let local = self.locals(from).iter().find(|local| local.object == to);
        local.map_or(Link::Class, |local| Link::Frame(local.kind))
    }

    /// The id of the name of an instance's first field with this reference, nearest class first.
    fn field_with(&self, class: usize, data: &[u8], id: u64) -> Option<u64> {
        let places = self.directory().classes.places(class);
        let mut places = places.filter(|it| it.field.kind == BasicType::Object);
        let field = places.find(|it| it.value(data).unwrap_or(0) == id);
        field.map(|it| it.field.name)
    }

    /// A link as it is shown between two objects of a path: `.name`, `[7]`.
    pub fn link_text(&self, link: Link) -> String {
        let name = |id: u64| self.directory().strings.text(id).unwrap_or_default();
        match link {
            Link::Field(field) => format!(".{}", name(field)),
            Link::Static(field) => format!(".{} (static)", name(field)),
            Link::Element(place) => format!("[{place}]"),
            Link::Frame(RootKind::JavaFrame) => " (local variable)".to_owned(),
            Link::Frame(kind) => format!(" ({})", kind.name()),
            Link::Class => " (its class)".to_owned(),
            Link::OfClass => " (of the class)".to_owned(),
        }
    }
}
