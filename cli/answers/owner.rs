//! Who holds memory outside of the heap, in words.

use std::collections::BTreeMap;

use graph::{GraphError, Heap, Owner, OwnerStart};
use reader::RootKind;

use super::path::root_name;

/// Most classes of a path in words: the first ones and the last ones.
const CLASSES_MAX: usize = 6;

/// Each owner in words. Errors: the file cannot be read.
pub(crate) fn owners_words(heap: &Heap<'_>, owners: &[&Owner]) -> Result<Vec<String>, GraphError> {
    let threads = owners.iter().filter(|owner| is_thread(owner));
    let threads: Vec<u32> = threads.map(|owner| owner.root).collect();
    let names = heap.thread_names(&threads)?;
    let words = |owner: &&Owner| words(heap, owner, &names);
    Ok(owners.iter().map(words).collect())
}

fn is_thread(owner: &Owner) -> bool {
    owner.start == OwnerStart::Root(RootKind::ThreadObject)
}

/// `static field POOL of class app.Main > java.util.ArrayList > java.lang.Object[]`: from where the
/// path begins to the object that holds the memory.
fn words(heap: &Heap<'_>, owner: &Owner, names: &BTreeMap<u32, String>) -> String {
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
        OwnerStart::Root(kind) => match names.get(&owner.root).filter(|_| is_thread(owner)) {
            Some(name) if owner.has_roots => format!("threads such as \"{name}\""),
            Some(name) => format!("thread \"{name}\""),
            None => root_name(kind),
        },
        OwnerStart::Nothing => "nothing, or only weak references".to_owned(),
    };
    let classes = owner.classes.iter().map(|it| heap.class_name(*it));
    let classes: Vec<String> = classes.collect();
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use graph::{Input, NativeMemory, Options};
    use sample::Dump;

    const INT: u8 = 10;
    const LONG: u8 = 11;
    const WORKER: u64 = 0x200;

    /// What threads with these names hold, each a buffer by its field.
    fn held_by(names: &[&str]) -> Vec<String> {
        let mut dump = Dump::new(8);
        let buffer = [("capacity", INT), ("address", LONG)];
        dump.class_of(0x100, "java/nio/Buffer", (Dump::OBJECT, 0), &buffer, &[]);
        dump.class(0x110, "java/nio/DirectByteBuffer", 0x100, 0, &["att"], &[]);
        let fields = ["name", "buffer"];
        dump.class(WORKER, "app/Worker", Dump::OBJECT, 0, &fields, &[]);
        for (number, name) in (2_u32..).zip(names) {
            let id = 0x10_0000 * u64::from(number);
            dump.instance(id, WORKER, &[id + 0x100, id + 0x200]);
            dump.char_array(id + 0x100, name);
            dump.instance_with(id + 0x200, 0x110, &[(8, 0), (4, 9000), (8, id << 8)]);
            dump.add(dump.to().root(0x08, id).u4(number).u4(1));
        }
        let heap = Heap::read(
            Input::new(dump.file(false), &|_| {}).unwrap(),
            Options::default(),
        );
        let heap = heap.unwrap();
        let groups = NativeMemory::find(&heap).unwrap().groups;
        let owners: Vec<&Owner> = groups.iter().map(|group| &group.owner).collect();
        owners_words(&heap, &owners).unwrap()
    }

    #[test]
    fn threads_have_names() {
        assert_eq!(held_by(&["importer"]), ["thread \"importer\" > app.Worker"]);
        let both = held_by(&["one", "two"]);
        assert_eq!(both, ["threads such as \"one\" > app.Worker"]);
    }
}
