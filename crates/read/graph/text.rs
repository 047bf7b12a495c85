//! The text of Java strings in a heap.

use std::collections::BTreeMap;

use reader::{is_redacted, JavaText, REDACTED_NAME};

use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;

impl Heap<'_> {
    /// The text of those objects that are strings, cut to about `most_bytes` bytes; none of those
    /// that a redaction has hidden.
    ///
    /// Errors: the file cannot be read.
    pub fn strings(
        &self,
        objects: &[u32],
        most_bytes: usize,
    ) -> Result<BTreeMap<u32, String>, GraphError> {
        let mut texts = self.all_strings(objects, most_bytes)?;
        if self.redacted().is_some() {
            texts.retain(|_, text| text.is_empty() || text.bytes().any(|byte| byte != 0));
        }
        Ok(texts)
    }

    /// The first `most` strings whose text contains this one, in any case of letters; only the
    /// beginning of long texts is read.
    ///
    /// Errors: the file cannot be read.
    pub fn strings_with(
        &self,
        text: &str,
        most: usize,
    ) -> Result<BTreeMap<u32, String>, GraphError> {
        let wanted = text.to_lowercase();
        let is_string = |class: u32| self.class_name(class) == "java.lang.String";
        let strings: Vec<u32> = self.objects_of(is_string).collect();
        let mut found = BTreeMap::new();
        for some in strings.chunks(STRINGS_AT_ONCE) {
            let texts = self.strings(some, SEARCHED_BYTES)?.into_iter();
            let texts = texts.filter(|(_, text)| text.to_lowercase().contains(&wanted));
            found.extend(texts.take(most - found.len()));
            if found.len() >= most {
                break;
            }
        }
        Ok(found)
    }

    fn all_strings(
        &self,
        objects: &[u32],
        most_bytes: usize,
    ) -> Result<BTreeMap<u32, String>, GraphError> {
        let mut parts: Vec<(u32, (u32, JavaText))> = Vec::new();
        for (object, contents) in self.contents(objects, 0)? {
            let fields = self.fields(&contents);
            let value = |name: &str| {
                let field = fields.iter().find(|field| field.name == name)?;
                Some(field.value)
            };
            if let Some(array) = value("value").and_then(|id| self.object(id)) {
                parts.push((object, (array, JavaText::of(value))));
            }
        }
        let (shared, own): (Vec<_>, Vec<_>) = parts
            .into_iter()
            .partition(|(_, (_, text))| text.bytes_before() > 0);
        let mut texts = self.texts(&own, most_bytes)?;
        for some in shared.chunks(SHARED_AT_ONCE) {
            let before = some.iter().map(|(_, (_, text))| text.bytes_before());
            let before = before.max().unwrap_or(0).min(SHARED_BYTES);
            let cut = |text: String| text.chars().take(most_bytes / 2).collect();
            let some = self.texts(some, before + most_bytes)?.into_iter();
            texts.extend(some.map(|(object, text)| (object, cut(text))));
        }
        Ok(texts)
    }

    /// The texts of strings with these arrays, of which `most_bytes` bytes are read.
    fn texts(
        &self,
        parts: &[(u32, (u32, JavaText))],
        most_bytes: usize,
    ) -> Result<BTreeMap<u32, String>, GraphError> {
        let wanted: Vec<u32> = parts.iter().map(|(_, (array, _))| *array).collect();
        let contents = self.contents(&wanted, most_bytes)?;
        let text = |(object, (array, text)): &(u32, (u32, JavaText))| {
            Some((*object, decoded(contents.get(array)?, *text)?))
        };
        Ok(parts.iter().filter_map(text).collect())
    }

    /// The names of threads: from the field `name` of each object, otherwise from START THREAD.
    ///
    /// Errors: the file cannot be read.
    pub fn thread_names(&self, threads: &[u32]) -> Result<BTreeMap<u32, String>, GraphError> {
        let mut names = BTreeMap::new();
        for (thread, contents) in self.contents(threads, 0)? {
            let fields = self.fields(&contents);
            // Subclasses may also have a field of this name. That of Thread is the last.
            let name = fields.iter().rev().find(|field| field.name == "name");
            if let Some(name) = name.and_then(|field| self.object(field.value)) {
                names.insert(thread, name);
            }
        }
        let wanted: Vec<u32> = names.values().copied().collect();
        let mut texts = self.all_strings(&wanted, NAME_BYTES)?;
        // Up to early JDK 8, a thread's name is a char[].
        for (array, contents) in self.contents(&wanted, NAME_BYTES)? {
            texts.extend(decoded(&contents, JavaText::default()).map(|text| (array, text)));
        }
        let told = |thread: u32| {
            let directory = self.directory();
            let name = directory.thread_names.get(&self.id(thread))?;
            Some(directory.strings.text(*name)?.into_owned())
        };
        let name = |thread: &u32| {
            let text = names.get(thread).and_then(|name| texts.get(name).cloned());
            // A record may have the name that the heap lacks.
            let known = |name: &String| !is_redacted(name);
            let is_hidden = text.as_ref().is_some_and(|name| !known(name));
            let name = text.filter(known).or_else(|| told(*thread).filter(known));
            Some((
                *thread,
                name.or_else(|| is_hidden.then(|| REDACTED_NAME.to_owned()))?,
            ))
        };
        Ok(threads.iter().filter_map(name).collect())
    }
}

/// Most bytes of a thread's name that are read.
const NAME_BYTES: usize = 1024;

/// Most bytes of a string that are searched.
const SEARCHED_BYTES: usize = 1024;

/// Strings that are in memory at a time while they are searched.
const STRINGS_AT_ONCE: usize = 1 << 16;

/// Most bytes before a string's characters that are read of an array that strings share.
const SHARED_BYTES: usize = 64 << 10;

/// Shared arrays that are in memory at a time.
const SHARED_AT_ONCE: usize = 256;

/// The characters in an array.
fn decoded(contents: &Contents, text: JavaText) -> Option<String> {
    let Contents::Values {
        kind,
        bytes,
        length,
    } = contents
    else {
        return None;
    };
    // A graph stream has no values.
    let has_values = *length == 0 || !bytes.is_empty();
    has_values.then(|| text.decoded(*kind, bytes)).flatten()
}
