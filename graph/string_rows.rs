//! The strings of a heap as rows: for those who put them into a table.

use rustc_hash::FxHashMap;

use crate::error::GraphError;
use crate::gleaner::{glean, new_keys, Text};
use crate::heap::Heap;
use crate::retained::Retained;

/// Keys of the hash that is the same for all dumps.
const COMMON_KEYS: (u64, u64) = (0, 0);

/// A string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringRow {
    /// The object.
    pub object: u32,
    /// Number of characters.
    pub length: u32,
    /// The same for strings of one text: a hash of it, or a number that says nothing about it.
    pub hash: u64,
}

impl Heap<'_> {
    /// The reachable strings, ascending; the file is read once more.
    ///
    /// With `tells_texts`, equal texts have the same hash in all dumps, and who guesses a text can prove the guess.
    /// Else texts are numbered as they come. Errors: the file cannot be read.
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
