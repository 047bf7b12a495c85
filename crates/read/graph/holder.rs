//! The holder of an object: a field of a class, a static field, the elements of arrays.

use std::collections::HashMap;

use format::BasicType;
use reader::{Field, FieldPlace, StringTable};

use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;

/// A kind of reference, the same for all objects of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Holder {
    /// A field: number of the class that declares it, index among its own fields.
    Field(u32, u16),
    /// A static field: number of the class, index among its static fields.
    Static(u32, u16),
    /// An element of an array: number of the array's class.
    Element(u32),
    /// Something else: a thread's frame, a root, a class's loader.
    None,
}

/// The offsets of the reference fields of each class's instances, by class number, and each field
/// as a holder.
pub(crate) fn fields(heap: &Heap<'_>) -> Vec<Box<[(u32, Holder)]>> {
    let table = &heap.directory().classes;
    let of_class = |class: usize| {
        let places = table
            .places(class)
            .filter(|it| it.field.kind == BasicType::Object);
        let holder = |it: FieldPlace<'_>| {
            let class = u32::try_from(it.class_number).ok()?;
            Some((it.bytes.start, Holder::Field(class, it.number)))
        };
        places.filter_map(holder).collect()
    };
    (0..heap.classes() as usize).map(of_class).collect()
}

/// The names of these holders, `Class#field`; static fields end with ` (static)`, elements are
/// `Class[]`.
///
/// Errors: the file cannot be read.
pub(crate) fn names(
    heap: &Heap<'_>,
    holders: impl Iterator<Item = Holder> + Clone,
) -> Result<HashMap<Holder, String>, GraphError> {
    let classes = holders.clone().filter_map(|holder| match holder {
        Holder::Static(class, _) => heap.object_of_class(class),
        _ => None,
    });
    let statics = heap.contents(&classes.collect::<Vec<u32>>(), 0)?;
    let directory = heap.directory();
    let name = |holder: Holder| match holder {
        Holder::Field(class, place) => {
            let declaring = directory.classes.at(class as usize);
            let fields = declaring.map(|class| &*class.fields).unwrap_or_default();
            let field = field_name(fields, place, &directory.strings);
            format!("{}#{field}", heap.class_name(class))
        }
        Holder::Static(class, place) => {
            let contents = heap.object_of_class(class).and_then(|at| statics.get(&at));
            let field = match contents {
                Some(Contents::Class(dump, _)) => dump.statics.get(usize::from(place)),
                _ => None,
            };
            let field = field.and_then(|field| directory.strings.text(field.name));
            let field = field.unwrap_or_default();
            format!("{}#{field} (static)", heap.class_name(class))
        }
        Holder::Element(class) => heap.class_name(class),
        Holder::None => "(no field)".to_owned(),
    };
    Ok(holders.map(|holder| (holder, name(holder))).collect())
}

fn field_name(fields: &[Field], place: u16, strings: &StringTable) -> String {
    let field = fields.get(usize::from(place));
    let name = field.and_then(|field| strings.text(field.name));
    name.unwrap_or_default().into_owned()
}
