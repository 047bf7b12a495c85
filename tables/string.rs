//! The string table: names and signatures in the JVM's encoding.

use std::sync::Arc;

use crate::{Interner, StringId};

/// Byte strings, each stored once.
///
/// The bytes are modified UTF-8 (JVM specification, 4.4.7) and are never decoded here: a name may
/// contain what UTF-8 cannot express, and equal names have equal bytes. Any thread may call any
/// method.
#[derive(Debug, Default)]
pub struct StringTable {
    strings: Interner<[u8], StringId>,
}

impl StringTable {
    /// The id of this string. Adds the string if it is new. The empty string is a string like any
    /// other.
    pub fn intern(&self, bytes: &[u8]) -> StringId {
        self.strings.intern(bytes)
    }

    /// The id of this string; `None` if it was never added.
    pub fn find(&self, bytes: &[u8]) -> Option<StringId> {
        self.strings.find(bytes)
    }

    /// The bytes of the string with this id; `None` if the id came from elsewhere.
    pub fn get(&self, id: StringId) -> Option<Arc<[u8]>> {
        self.strings.get(id)
    }

    /// How many different strings there are.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// Calls `visit` for each string in the order of ids; no lock is held meanwhile.
    pub fn for_each(&self, visit: impl FnMut(StringId, &[u8])) {
        self.strings.for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        let strings = StringTable::default();
        let lone_surrogate = [0xED, 0xA0, 0x80];
        let id = strings.intern(&lone_surrogate);
        assert_eq!(strings.get(id).as_deref(), Some(lone_surrogate.as_slice()));
    }

    #[test]
    fn the_empty_string_has_an_id() {
        let strings = StringTable::default();
        let id = strings.intern(b"");
        assert_eq!(strings.intern(b""), id);
        assert_eq!(strings.len(), 1);
    }
}
