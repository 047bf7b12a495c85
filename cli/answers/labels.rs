//! What tells some objects from others of their class: names of threads, texts of strings, numbers.

use std::collections::{BTreeMap, HashSet};

use format::BasicType;
use graph::{GraphError, Heap};

use super::values::{may_be_redacted, value, Shown};

/// Most bytes read of a string.
pub(super) const STRING_BYTES: usize = 200;

/// The classes of numbers, characters and truth values.
const BOXES: [&str; 8] = [
    "java.lang.Boolean",
    "java.lang.Byte",
    "java.lang.Character",
    "java.lang.Double",
    "java.lang.Float",
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Short",
];

/// The labels by object.
pub(crate) type Labels = BTreeMap<u32, String>;

/// The labels of those objects that have one, as far as they may be shown. Errors: the file cannot
/// be read.
pub(crate) fn labels(heap: &Heap<'_>, objects: &[u32], shown: Shown) -> Result<Labels, GraphError> {
    let threads: HashSet<u32> = heap.threads().map(|(_, thread)| thread).collect();
    let is_thread = |object: &u32| threads.contains(object);
    let threads: Vec<u32> = objects.iter().copied().filter(is_thread).collect();
    let mut labels = BTreeMap::new();
    if !threads.is_empty() {
        labels = heap.thread_names(&threads)?;
    }
    let named = |is: fn(&str) -> bool| -> Vec<u32> {
        let is_one = |object: &u32| is(&heap.class_name(heap.class(*object)));
        let is_class = |object: &u32| heap.class_of_object(*object).is_some();
        let all = objects.iter().copied();
        all.filter(|it| is_one(it) && !is_class(it)).collect()
    };
    if matches!(shown, Shown::Values { .. }) {
        let boxes = named(|name| BOXES.contains(&name));
        for (object, contents) in heap.contents(&boxes, 0)? {
            let fields = heap.fields(&contents).into_iter();
            let is_known = |bits| !may_be_redacted(heap, bits);
            let mut values = fields.filter(|it| it.kind != BasicType::Object && is_known(it.value));
            if let Some(field) = values.find(|it| it.name == "value") {
                labels.insert(object, value(field.kind, field.value));
            }
        }
    }
    if shown.has_strings() {
        let strings = named(|name| name == "java.lang.String");
        labels.extend(heap.strings(&strings, STRING_BYTES)?);
    }
    Ok(labels)
}
