//! The strings of a heap as rows, for export into tables.

use rustc_hash::FxHashMap;

use crate::error::GraphError;
use crate::gleaner::{glean, new_keys, Text};
use crate::heap::Heap;
use crate::retained::Retained;

/// Keys of the hash that is the same in all dumps.
const COMMON_KEYS: (u64, u64) = (0, 0);

/// A string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringRow {
    /// The object.
    pub object: u32,
    /// Number of characters.
    pub length: u32,
    /// Equal for strings of equal text: a hash of the text, or a number that reveals nothing about
    /// it.
    pub hash: u64,
}

impl Heap<'_> {
    /// The reachable strings, ascending. Reads the file once more.
    ///
    /// With `tells_texts`, equal texts have the same hash in all dumps, so a guessed text can be
    /// verified. Otherwise texts are numbered in order of appearance. Errors: the file cannot be
    /// read.
    pub fn string_rows(
        &self,
        retained: &Retained,
        tells_texts: bool,
    ) -> Result<Vec<StringRow>, GraphError> {
        let keys = if tells_texts { COMMON_KEYS } else { new_keys() };
        let gleaned = glean(self, retained, keys, false)?;
        let values = gleaned.values;
        let mut numbers = FxHashMap::default();
        let row = |text: Text| {
            let place = values.binary_search_by_key(&text.array, |values| values.object);
            let array = values.get(place.ok()?)?;
            let hash = if tells_texts {
                array.hash.0 ^ u64::from(text.coder)
            } else {
                let next = numbers.len() as u64;
                *numbers.entry((array.hash, text.coder)).or_insert(next)
            };
            Some(StringRow {
                object: text.object,
                length: text.length(array.length),
                hash,
            })
        };
        Ok(gleaned.texts.into_iter().filter_map(row).collect())
    }
}
