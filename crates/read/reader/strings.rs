//! The strings of a file by id, and the facts about the JVM among them.

use std::borrow::Cow;
use std::collections::HashMap;

use format::mutf8::to_text;
use format::{ClassName, JvmFacts};

use crate::budget::entries;
use format::record::Utf8;

/// Text of every STRING record; of two with the same id, the first is kept.
#[derive(Debug, Default)]
pub struct StringTable {
    texts: HashMap<u64, Box<[u8]>>,
    text_bytes: u64,
    facts: JvmFacts,
}

impl StringTable {
    /// Adds a string; false if its id already existed.
    pub fn insert(&mut self, string: Utf8) -> bool {
        let mut new = false;
        self.facts.take(&string.text);
        let bytes = string.text.len() as u64;
        self.texts.entry(string.id).or_insert_with(|| {
            new = true;
            string.text.into_boxed_slice()
        });
        if new {
            self.text_bytes = self.text_bytes.saturating_add(bytes);
        }
        new
    }

    /// Whether a string with this id has been read.
    pub fn contains(&self, id: u64) -> bool {
        self.texts.contains_key(&id)
    }

    /// The bytes of a string, or `None` if there is none with this id.
    pub fn bytes(&self, id: u64) -> Option<&[u8]> {
        self.texts.get(&id).map(AsRef::as_ref)
    }

    /// The text of a string in UTF-8 or modified UTF-8, with other bytes replaced; `None` if there
    /// is none with this id.
    pub fn text(&self, id: u64) -> Option<Cow<'_, str>> {
        self.bytes(id).map(to_text)
    }

    /// A string as the name of a class; `None` if there is none with this id.
    pub fn class_name(&self, id: u64) -> Option<ClassName<'_>> {
        self.bytes(id).map(ClassName::from_dump)
    }

    /// Whether a string is this class name, given as `java/lang/Class` or `[I`. The JDK's own agent
    /// and Android write `java.lang.Class` and `int[]`.
    pub fn is_class(&self, id: u64, name: &str) -> bool {
        let java = || ClassName::from_dump(name.as_bytes()).to_java();
        self.bytes(id)
            .is_some_and(|text| text == name.as_bytes() || text == java().as_bytes())
    }

    /// The facts about the JVM.
    pub fn facts(&self) -> &JvmFacts {
        &self.facts
    }

    /// Bytes of memory that the strings take.
    pub(crate) fn held_bytes(&self) -> u64 {
        let count = self.texts.len() + self.facts.classes.len();
        self.text_bytes.saturating_add(entries(count))
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
