//! One object in an answer.

use std::collections::HashSet;
use std::rc::Rc;

use graph::{Heap, Retained};
use serde::Serialize;

/// An object: class, id and sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ObjectRow {
    /// See [`described`].
    pub(crate) class: String,
    /// See [`id`].
    pub(crate) id: String,
    /// The name of a thread, or the text of a string, where it is known and may be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// Retained bytes.
    pub(crate) retained: u64,
    /// Its own bytes.
    pub(crate) shallow: u64,
}

impl ObjectRow {
    pub(crate) fn of(heap: &Heap<'_>, retained: &Retained, object: u32) -> Self {
        Self {
            class: described(heap, object),
            id: id(heap, object),
            label: None,
            retained: retained.bytes(object),
            shallow: heap.shallow_bytes(object),
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

/// The start of a class object's description.
pub(super) const CLASS: &str = "class ";

/// The object's id in the dump: `0x7f1c3a80`.
pub(crate) fn id(heap: &Heap<'_>, object: u32) -> String {
    format!("{:#x}", heap.id(object))
}
