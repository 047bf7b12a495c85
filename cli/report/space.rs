//! The space of a page: names, each kept once, and how many bytes all of it takes.

use std::collections::HashMap;

use crate::plain::plain;

/// Letters of a name that are kept.
const NAME_CHARS: usize = 200;

/// Names by their numbers, and the bytes that they and the rows take. Each section of the page has its own share, so
/// that no heap makes a page too large.
#[derive(Debug, Default)]
pub(crate) struct Space {
    names: Vec<String>,
    places: HashMap<String, u32>,
    used_bytes: u64,
    limit_bytes: u64,
}

impl Space {
    /// Gives the next section so many bytes; it stops when [`Space::has_room`] says so.
    pub(crate) fn open(&mut self, bytes: u64) {
        self.limit_bytes = self.used_bytes.saturating_add(bytes);
    }

    /// Whether the section may have another row.
    pub(crate) fn has_room(&self) -> bool {
        self.used_bytes < self.limit_bytes
    }

    /// Counts bytes that a row takes beside its names.
    pub(crate) fn take(&mut self, bytes: u64) {
        self.used_bytes = self.used_bytes.saturating_add(bytes);
    }

    /// The number of a name, which is cut and made harmless first.
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

    /// All names in the order of their numbers.
    pub(crate) fn names(self) -> Vec<String> {
        self.names
    }
}

/// A text without control characters, and not longer than a name may be.
pub(crate) fn cut(text: &str) -> String {
    let mut chars = text.chars();
    let mut name: String = chars.by_ref().take(NAME_CHARS).collect();
    if chars.next().is_some() {
        name.push('…');
    }
    plain(&name)
}

/// Bytes that a text takes in the page, see [`super::page::escaped`].
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
