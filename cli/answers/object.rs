//! Objects in an answer: in words, and as rows of JSON.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use graph::{Dominator, GraphError, Heap, Retained};
use serde_json::{json, Value};

use super::labels::{labels, Labels};
use super::values::Shown;
use crate::files::heap_file::Loaded;
use crate::output::{plain, shown, Sections};

/// A heap, and what tells some of its objects from others of their class.
#[derive(Debug)]
pub(crate) struct Objects<'l> {
    pub(crate) loaded: &'l Loaded,
    labels: Labels,
}

/// How objects refer to others, by the object that a list has.
pub(crate) type LinkTexts = HashMap<u32, String>;

impl<'l> Objects<'l> {
    /// With the labels of these objects, as far as they may be shown. Errors: the file cannot be
    /// read.
    pub(crate) fn of(
        loaded: &'l Loaded,
        objects: &[u32],
        shown: Shown,
    ) -> Result<Self, GraphError> {
        let labels = labels(&loaded.heap, objects, shown)?;
        Ok(Self { loaded, labels })
    }

    /// `java.lang.Thread 0x7f1c3a80 "main"`
    pub(crate) fn name(&self, object: u32) -> String {
        let heap = &self.loaded.heap;
        let (class, id) = (plain(&shown(&described(heap, object))), id(heap, object));
        match self.labels.get(&object) {
            Some(label) => format!("{class} {id} \"{}\"", plain(label)),
            None => format!("{class} {id}"),
        }
    }

    /// Its class, id and sizes, and its label if it has one.
    pub(crate) fn row<'a>(&self, object: u32) -> Sections<'a> {
        let (heap, mut row) = (&self.loaded.heap, Sections::default());
        row.fact("class", described(heap, object));
        row.fact("id", id(heap, object));
        row.maybe("label", self.labels.get(&object).cloned());
        row.fact("retained", self.loaded.retained.bytes(object));
        row.fact("shallow", heap.shallow_bytes(object));
        row
    }

    /// The target of a reference in words, and as a row.
    pub(super) fn target(&self, id: u64) -> (String, Value) {
        match self.loaded.heap.object(id) {
            _ if id == 0 => ("null".to_owned(), Value::Null),
            Some(object) => (self.name(object), json!(self.row(object))),
            None => {
                let id = format!("{id:#x}");
                let row = json!({ "id": id });
                (id + " (not in the dump)", row)
            }
        }
    }
}

/// Name of the object's class; for a class object, `class` and its name.
pub(crate) fn described(heap: &Heap<'_>, object: u32) -> String {
    match heap.class_of_object(object) {
        Some(class) => format!("{CLASS}{}", heap.class_name(class)),
        None => heap.class_name(heap.class(object)),
    }
}

/// The names of all classes. Equal ones are one text: a hostile file may have one long name in
/// millions of classes.
pub(crate) fn class_names(heap: &Heap<'_>) -> Vec<Rc<str>> {
    let mut known: HashSet<Rc<str>> = HashSet::new();
    let mut shared = |name: String| match known.get(name.as_str()) {
        Some(known) => Rc::clone(known),
        None => {
            let name: Rc<str> = name.into();
            known.insert(Rc::clone(&name));
            name
        }
    };
    (0..heap.classes())
        .map(|class| shared(heap.class_name(class)))
        .collect()
}

/// The object that alone keeps this one alive; `None` if it is a root, two or more hold it, or no
/// root leads to it.
pub(crate) fn above(retained: &Retained, object: u32) -> Option<u32> {
    match retained.dominator(object) {
        Dominator::Object(above) => Some(above),
        Dominator::Roots | Dominator::Unreachable => None,
    }
}

/// The start of a class object's description.
pub(super) const CLASS: &str = "class ";

/// The object's id in the dump: `0x7f1c3a80`.
pub(crate) fn id(heap: &Heap<'_>, object: u32) -> String {
    format!("{:#x}", heap.id(object))
}

/// How an object refers to those of these that it refers to. Errors: the file cannot be read.
pub(crate) fn links_from(heap: &Heap<'_>, from: u32, to: &[u32]) -> Result<LinkTexts, GraphError> {
    let wanted: HashSet<u32> = to.iter().copied().collect();
    let locals = heap.locals(from).iter().map(|local| &local.object);
    let direct = heap.targets(from).iter().chain(locals);
    let direct: HashSet<u32> = direct.copied().filter(|it| wanted.contains(it)).collect();
    let links = heap.links(direct.iter().map(|to| (from, *to)))?;
    let text = |to: u32| Some((to, heap.link_text(links.get(from, to)?)));
    Ok(direct.into_iter().filter_map(text).collect())
}
