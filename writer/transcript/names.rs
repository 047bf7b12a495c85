//! The strings of a file, by their numbers.

use std::collections::HashMap;
use std::ops::Range;

/// All strings in one buffer.
#[derive(Debug, Default)]
pub(super) struct Names {
    places: HashMap<u64, Range<usize>>,
    text: Vec<u8>,
}

impl Names {
    /// Keeps a string.
    pub(super) fn insert(&mut self, number: u64, text: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.places.insert(number, start..self.text.len());
    }

    /// The string with this number, true UTF-8; empty if there is none.
    pub(super) fn get(&self, number: u64) -> &[u8] {
        let place = self.places.get(&number).cloned();
        place
            .and_then(|place| self.text.get(place))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_string_is_its_own() {
        let mut names = Names::default();
        for (number, text) in [(7, "seven"), (1 << 40, ""), (8, "eight")] {
            names.insert(number, text.as_bytes());
        }
        assert_eq!(names.get(7), b"seven");
        assert_eq!(names.get(8), b"eight");
        assert_eq!((names.get(1 << 40), names.get(9)), (&b""[..], &b""[..]));
    }
}
