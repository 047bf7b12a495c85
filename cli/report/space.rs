//! The space in a page: names, each stored once, and the total size.

use std::collections::HashMap;

use crate::plain::plain;

/// Most characters kept of a name.
const NAME_CHARS: usize = 200;

/// Names by number, and the bytes that they and the rows take. Each section of the page has its own
/// share, so that no heap makes a page too large.
#[derive(Debug, Default)]
pub(crate) struct Space {
    names: Vec<String>,
    places: HashMap<String, u32>,
    used_bytes: u64,
    limit_bytes: u64,
}

impl Space {
    /// Starts the next section, with this many bytes. It should stop when [`Space::has_room`] is
    /// false.
    pub(crate) fn open(&mut self, bytes: u64) {
        self.limit_bytes = self.used_bytes.saturating_add(bytes);
    }

    /// Whether the section may add a row.
    pub(crate) fn has_room(&self) -> bool {
        self.used_bytes < self.limit_bytes
    }

    /// Counts the bytes of a row without its names.
    pub(crate) fn take(&mut self, bytes: u64) {
        self.used_bytes = self.used_bytes.saturating_add(bytes);
    }

    /// The number of a name, which is first cut and made safe.
    pub(crate) fn name(&mut self, text: &str) -> u32 {
        let name = cut(text);
        if let Some(place) = self.places.get(&name) {
            return *place;
        }
        self.take(page_bytes(&name) + 3);
        let place = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.places.insert(name, place);
        place
    }

    /// All names, in the order of their numbers.
    pub(crate) fn names(self) -> Vec<String> {
        self.names
    }
}

/// A text without control characters, cut to the length of a name.
pub(crate) fn cut(text: &str) -> String {
    cut_to(text, NAME_CHARS)
}

/// A text without control characters, cut to this many characters.
pub(crate) fn cut_to(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let mut name: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() {
        name.push('…');
    }
    plain(&name)
}

/// Bytes of a text in the page, see [`super::page::escaped`].
fn page_bytes(text: &str) -> u64 {
    let bytes = |c: char| match c {
        '<' | '>' | '&' => 6,
        '"' | '\\' => 2,
        c => c.len_utf8() as u64,
    };
    text.chars().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once_and_cut() {
        let mut space = Space::default();
        let long = "é".repeat(1000);
        let places = [space.name("a<b"), space.name(&long), space.name("a<b")];
        assert_eq!(places, [0, 1, 0]);
        assert_eq!(space.used_bytes, 8 + 3 + 2 * 200 + 3 + 3);
        let names = space.names();
        assert_eq!(names.len(), 2);
        assert_eq!(names.last().map(|name| name.chars().count()), Some(201));
    }

    #[test]
    fn a_section_ends_with_its_share() {
        let mut space = Space::default();
        space.open(10);
        space.take(9);
        assert!(space.has_room());
        space.take(9);
        assert!(!space.has_room());
        space.open(1);
        assert!(space.has_room());
    }
}
