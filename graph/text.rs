//! The text of Java strings in a heap.

use std::collections::BTreeMap;

use format::BasicType;

use crate::contents::Contents;
use crate::error::GraphError;
use crate::heap::Heap;

impl Heap<'_> {
    /// The text of those objects that are strings, cut to about `most_bytes` bytes.
    ///
    /// Errors: the file cannot be read.
    pub fn strings(
        &self,
        objects: &[u32],
        most_bytes: usize,
    ) -> Result<BTreeMap<u32, String>, GraphError> {
        let mut arrays: BTreeMap<u32, (u32, Option<u64>)> = BTreeMap::new();
        for (object, contents) in self.contents(objects, 0)? {
            let fields = self.fields(&contents);
            let value = |name: &str| {
                fields
                    .iter()
                    .find(|field| field.name == name)
                    .map(|field| field.value)
            };
            if let Some(array) = value("value").and_then(|id| self.object(id)) {
                arrays.insert(object, (array, value("coder")));
            }
        }
        let wanted: Vec<u32> = arrays.values().map(|(array, _)| *array).collect();
        let contents = self.contents(&wanted, most_bytes)?;
        let text = |(object, (array, coder)): (u32, (u32, Option<u64>))| {
            Some((object, decoded(contents.get(&array)?, coder)?))
        };
        Ok(arrays.into_iter().filter_map(text).collect())
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
        let texts = self.strings(&wanted, NAME_BYTES)?;
        let told = |thread: u32| {
            let directory = self.directory();
            let name = directory.thread_names.get(&self.id(thread))?;
            Some(directory.strings.text(*name)?.into_owned())
        };
        let name = |thread: &u32| {
            let text = names.get(thread).and_then(|name| texts.get(name).cloned());
            Some((*thread, text.or_else(|| told(*thread))?))
        };
        Ok(threads.iter().filter_map(name).collect())
    }
}

/// Most bytes of a thread's name that are read.
const NAME_BYTES: usize = 1024;

/// The characters in a string's array. Since JDK 9 it has one byte per character if `coder` is 0.
fn decoded(contents: &Contents, coder: Option<u64>) -> Option<String> {
    let Contents::Values {
        kind,
        bytes,
        length,
    } = contents
    else {
        return None;
    };
    if *length > 0 && bytes.is_empty() {
        // A graph stream has no values.
        return None;
    }
    let units = |low_first: bool| {
        let pairs = bytes
            .chunks_exact(2)
            .filter_map(|pair| pair.first_chunk::<2>());
        let unit = |pair: &[u8; 2]| match low_first {
            true => u16::from_le_bytes(*pair),
            false => u16::from_be_bytes(*pair),
        };
        char::decode_utf16(pairs.map(unit))
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    match (kind, coder) {
        (BasicType::Char, _) => Some(units(false)),
        (BasicType::Byte, Some(0)) => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        // UTF-16 is stored in the JVM's byte order: little-endian on all known machines.
        (BasicType::Byte, Some(_)) => Some(units(true)),
        _ => None,
    }
}
