//! Who holds memory outside of the heap, in words.

use graph::{Heap, Owner, OwnerStart};

use super::path::root_name;

/// Most classes of a path in words: the first ones and the last ones.
const CLASSES_MAX: usize = 6;

/// `static field POOL of class app.Main > java.util.ArrayList > java.lang.Object[]`: from where the
/// path begins to the object that holds the memory.
pub(crate) fn owner_words(heap: &Heap<'_>, owner: &Owner) -> String {
    let class = |object: u32| {
        let class = heap.class_of_object(object);
        class.map_or_else(|| "?".to_owned(), |class| heap.class_name(class))
    };
    let start = match owner.start {
        OwnerStart::Static(object, field) => {
            let field = heap.directory().strings.text(field).unwrap_or_default();
            format!("static field {field} of {}", class(object))
        }
        OwnerStart::Class(object) => format!("class {}", class(object)),
        OwnerStart::Root(kind) => root_name(kind),
        OwnerStart::Nothing => "nothing, or only weak references".to_owned(),
    };
    let classes: Vec<String> = owner
        .classes
        .iter()
        .map(|it| heap.class_name(*it))
        .collect();
    let mut words = vec![start];
    match classes.len().checked_sub(CLASSES_MAX) {
        Some(left_out @ 2..) => {
            let (first, last) = classes.split_at(CLASSES_MAX / 2);
            words.extend_from_slice(first);
            words.push("...".to_owned());
            words.extend_from_slice(last.get(left_out..).unwrap_or_default());
        }
        _ => words.extend(classes),
    }
    words.join(" > ")
}
