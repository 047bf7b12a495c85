//! Values of fields and arrays as Java prints them, and which of them may be shown.

use format::{BasicType, ClassName};
use graph::{Heap, Unseen};
use reader::big_endian;

use crate::files::heap_file::Loaded;

/// The facts about an object beside its references that may be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    /// Nothing: a running JVM has sent no values.
    References,
    /// Numbers in fields.
    Values {
        /// Also strings and the values of arrays.
        strings: bool,
    },
}

impl Shown {
    /// What may be shown of a heap.
    pub(crate) fn of(loaded: &Loaded, strings: bool) -> Self {
        match loaded.file.has_values {
            true => Self::Values { strings },
            false => Self::References,
        }
    }

    /// Whether strings and values of arrays may be shown.
    pub(crate) fn has_strings(self) -> bool {
        matches!(self, Self::Values { strings: true })
    }
}

/// Whether a redaction may have put this value in the place of another.
pub(super) fn may_be_redacted(heap: &Heap<'_>, bits: u64) -> bool {
    bits == 0 && Unseen::of(heap.redacted()).collections
}

/// `int`; `object` for a reference.
pub(crate) fn type_name(kind: BasicType) -> String {
    match kind {
        BasicType::Object => "object".to_owned(),
        kind => {
            let array = ClassName::array_of(kind).to_java();
            array.trim_end_matches("[]").to_owned()
        }
    }
}

/// The values of an array as Java prints them.
pub(super) fn values(kind: BasicType, bytes: &[u8]) -> impl Iterator<Item = String> + '_ {
    let all = bytes.chunks_exact(kind.size_bytes(8) as usize);
    all.map(move |bytes| value(kind, big_endian(bytes)))
}

/// A primitive value as Java prints it; characters as numbers.
pub(super) fn value(kind: BasicType, bits: u64) -> String {
    let [.., e, f, g, h] = bits.to_be_bytes();
    match kind {
        BasicType::Boolean => (bits != 0).to_string(),
        BasicType::Byte => i8::from_be_bytes([h]).to_string(),
        BasicType::Short => i16::from_be_bytes([g, h]).to_string(),
        BasicType::Char => format!("'\\u{bits:04x}'"),
        BasicType::Int => i32::from_be_bytes([e, f, g, h]).to_string(),
        BasicType::Float => f32::from_be_bytes([e, f, g, h]).to_string(),
        BasicType::Long => i64::from_be_bytes(bits.to_be_bytes()).to_string(),
        BasicType::Double => f64::from_bits(bits).to_string(),
        BasicType::Object => format!("{bits:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_javas() {
        for (kind, bits, text) in [
            (BasicType::Int, 0xFFFF_FFFE, "-2"),
            (BasicType::Byte, 0x80, "-128"),
            (BasicType::Char, 0x41, "'\\u0041'"),
            (BasicType::Double, 1.5_f64.to_bits(), "1.5"),
            (BasicType::Float, u64::from(0.25_f32.to_bits()), "0.25"),
            (BasicType::Boolean, 1, "true"),
            (BasicType::Long, u64::MAX, "-1"),
        ] {
            assert_eq!(value(kind, bits), text);
        }
    }
}
