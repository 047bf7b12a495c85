//! Damage: bytes that do not form a record. Reading continues after it if possible.

use format::record::Record;

/// A place where the bytes do not fit the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the damaged record, sub-record or byte.
    pub offset: u64,
    /// The kind of damage.
    pub kind: DamageKind,
}

/// What can be wrong with the bytes themselves, regardless of their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamageKind {
    /// The file ends inside a record. Nothing follows.
    #[error("the file ends inside a record")]
    Truncated,
    /// There are bytes after HEAP DUMP END that are not a record. Nothing follows.
    #[error("bytes after HEAP DUMP END that are no record")]
    TrailingBytes,
    /// No record has this tag; its body was skipped.
    #[error("record tag {tag:#04x} is unknown, {length} bytes skipped")]
    UnknownRecord {
        /// The tag.
        tag: u8,
        /// Bytes skipped.
        length: u32,
    },
    /// The record's length is smaller than its fields need; the record was skipped.
    #[error("{} with a body of {length} bytes, fewer than its fields need", name(*tag))]
    RecordTooShort {
        /// Kind of the record.
        tag: u8,
        /// Claimed length of the body.
        length: u32,
    },
    /// The record has bytes after its last field; they were skipped.
    #[error("{} with {extra_bytes} bytes after its last field", name(*tag))]
    RecordTooLong {
        /// Kind of the record.
        tag: u8,
        /// Bytes left over.
        extra_bytes: u64,
    },
    /// No sub-record has this tag; the rest of the heap record was skipped.
    #[error("sub-record tag {tag:#04x} is unknown, the rest of the segment skipped")]
    UnknownHeapRecord {
        /// The tag.
        tag: u8,
    },
    /// No basic type has this number; the rest of the heap record was skipped.
    #[error("type {code} is unknown or not allowed here, the rest of the segment skipped")]
    UnknownType {
        /// The number.
        code: u8,
    },
    /// A sub-record extends past the end of its heap record, whose rest was skipped.
    #[error("the sub-record runs over the end of its heap dump record")]
    HeapRecordCut,
    /// A heap record claims length 0, but sub-records follow; they were read to the end of the
    /// file.
    #[error("the heap dump record has length 0, yet sub-records follow")]
    HeapLengthZero,
    /// A heap record ends inside or before this sub-record; it was read to the next record.
    #[error("the heap dump record is longer than its length, and was read to the next record")]
    HeapLengthShort,
}

fn name(tag: u8) -> &'static str {
    Record::name_of(tag).unwrap_or("record")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damage_names_its_record() {
        let short = |tag| DamageKind::RecordTooShort { tag, length: 1 }.to_string();
        assert!(short(0x0C).contains("HEAP DUMP "), "{}", short(0x0C));
        assert!(short(0x1C).contains("HEAP DUMP SEGMENT"), "{}", short(0x1C));
        assert!(short(0x04).contains("FRAME"), "{}", short(0x04));
        assert!(short(0x7F).contains("record"), "{}", short(0x7F));
    }
}
