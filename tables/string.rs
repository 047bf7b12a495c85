//! The string table: names and signatures in the JVM's encoding.

use crate::{Interner, StringId};

/// Byte strings, each stored once.
///
/// The bytes are modified UTF-8 (JVM specification, 4.4.7) and are never decoded here: a name may
/// contain what UTF-8 cannot express, and equal names have equal bytes. The empty string is a
/// string like any other.
pub type StringTable = Interner<[u8], StringId>;

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
