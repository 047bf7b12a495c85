//! Names in Java form; each is created once, however often the file refers to it.

use std::collections::HashMap;
use std::rc::Rc;

use crate::budget::entries;
use crate::strings::StringTable;

/// Shares one text among all records that refer to its string id.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    strings: &'a StringTable,
    classes: HashMap<u64, Rc<str>>,
    texts: HashMap<u64, Rc<str>>,
    bytes: u64,
}

impl<'a> Names<'a> {
    pub(crate) fn new(strings: &'a StringTable) -> Self {
        Self {
            strings,
            classes: HashMap::new(),
            texts: HashMap::new(),
            bytes: 0,
        }
    }

    /// The text of a string; `None` if the file does not contain it.
    pub(crate) fn text(&mut self, id: u64) -> Option<Rc<str>> {
        let strings = self.strings;
        shared(&mut self.texts, &mut self.bytes, id, || {
            strings.text(id).map(|text| Rc::from(text.as_ref()))
        })
    }

    /// The text of a string as a class name in Java's form.
    pub(crate) fn class(&mut self, id: u64) -> Option<Rc<str>> {
        let strings = self.strings;
        shared(&mut self.classes, &mut self.bytes, id, || {
            strings.class_name(id).map(|name| name.to_java().into())
        })
    }

    /// Bytes that the names take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
            .saturating_add(entries(self.classes.len() + self.texts.len()))
    }
}

fn shared(
    names: &mut HashMap<u64, Rc<str>>,
    bytes: &mut u64,
    id: u64,
    make: impl FnOnce() -> Option<Rc<str>>,
) -> Option<Rc<str>> {
    if let Some(name) = names.get(&id) {
        return Some(Rc::clone(name));
    }
    let name = make()?;
    *bytes = bytes.saturating_add(name.len() as u64);
    names.insert(id, Rc::clone(&name));
    Some(name)
}
