//! The objects that a word names: an id, or a class.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

use format::is_spelling;

use crate::answers::object::class_names;
use crate::files::heap_file::Loaded;
use crate::output::outcome::Failure;

/// Most classes that are suggested for a name that no class has.
const SUGGESTIONS: usize = 3;

/// All objects of the classes with this name, largest retained size first.
///
/// Errors: there is no such class, or no object of it.
pub(crate) fn objects_of(loaded: &Loaded, what: &str) -> Result<Vec<u32>, Failure> {
    let (heap, retained, file) = (&loaded.heap, &loaded.retained, &loaded.file);
    let names = class_names(heap);
    let mut classes: Vec<bool> = names.iter().map(|name| &**name == what).collect();
    if !classes.contains(&true) {
        let spelled = names.iter().map(|name| is_spelling(name, what));
        classes = spelled.collect();
    }
    if !classes.contains(&true) {
        let hint = match suggested(&names, what) {
            Some(names) => format!("did you mean {names}?"),
            None => {
                "names look like java.lang.String or int[]; `hprof histo` lists them".to_owned()
            }
        };
        return Err(file.refuse(format!("no class is called {what}; {hint}")));
    }
    let is_one = |object: &u32| classes.get(heap.class(*object) as usize) == Some(&true);
    let mut objects: Vec<u32> = (0..heap.objects()).filter(is_one).collect();
    if objects.is_empty() {
        return Err(file.refuse(format!("the dump has no object of {what}")));
    }
    objects.sort_by_key(|object| Reverse(retained.bytes(*object)));
    Ok(objects)
}

/// The object with this id, or the largest one of a class, and how many others the class has.
/// Errors: there is no such object.
pub(super) fn meant(loaded: &Loaded, what: &str) -> Result<(u32, u64), Failure> {
    if !what.starts_with("0x") {
        let objects = objects_of(loaded, what)?;
        if let Some((largest, others)) = objects.split_first() {
            return Ok((*largest, others.len() as u64));
        }
    }
    Ok((object_with_id(loaded, what)?, 0))
}

/// Up to three classes whose names end with this one, in any case of letters, or else that have it
/// somewhere.
fn suggested(names: &[Rc<str>], what: &str) -> Option<String> {
    let what = what.to_lowercase();
    let is_end = |name: &str| {
        let before = name.strip_suffix(&what);
        before.is_some_and(|before| before.is_empty() || before.ends_with(['.', '$', '/']))
    };
    let having = |is_meant: &dyn Fn(&str) -> bool| {
        let names = names.iter().filter(|name| is_meant(&name.to_lowercase()));
        let names: BTreeSet<&str> = names.map(|name| &**name).collect();
        names.into_iter().take(SUGGESTIONS).collect::<Vec<_>>()
    };
    let mut found = having(&is_end);
    if found.is_empty() {
        found = having(&|name| name.contains(&what));
    }
    (!found.is_empty() && !what.is_empty()).then(|| found.join(", "))
}

/// The object with an id such as `0x7f1c3a80`. Errors: there is none.
pub(crate) fn object_with_id(loaded: &Loaded, id: &str) -> Result<u32, Failure> {
    let (heap, file) = (&loaded.heap, &loaded.file);
    let digits = id.strip_prefix("0x").unwrap_or_default();
    let number = u64::from_str_radix(digits, 16)
        .map_err(|_| file.refuse(format!("{id} is not an id: ids look like 0x7f1c3a80")))?;
    let why = || format!("no object has the id {id}; `hprof histo --objects` lists ids");
    heap.object(number).ok_or_else(|| file.refuse(why()))
}
