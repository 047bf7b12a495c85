//! Damage: bytes that do not form a record. Reading continues after it if possible.

use std::fmt;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamageKind {
    /// The file ends inside a record. Nothing follows.
    Truncated,
    /// There are bytes after HEAP DUMP END that are not a record. Nothing follows.
    TrailingBytes,
    /// No record has this tag; its body was skipped.
    UnknownRecord {
        /// The tag.
        tag: u8,
        /// Bytes skipped.
        length: u32,
    },
    /// The record's length is smaller than its fields need; the record was skipped.
    RecordTooShort {
        /// Kind of the record.
        tag: u8,
        /// Claimed length of the body.
        length: u32,
    },
    /// The record has bytes after its last field; they were skipped.
    RecordTooLong {
        /// Kind of the record.
        tag: u8,
        /// Bytes left over.
        extra_bytes: u64,
    },
    /// No sub-record has this tag; the rest of the heap record was skipped.
    UnknownHeapRecord {
        /// The tag.
        tag: u8,
    },
    /// No basic type has this number; the rest of the heap record was skipped.
    UnknownType {
        /// The number.
        code: u8,
    },
    /// A sub-record extends past the end of its heap record, whose rest was skipped.
    HeapRecordCut,
    /// A heap record claims length 0, but sub-records follow; they were read to the end of the
    /// file.
    HeapLengthZero,
    /// A heap record ends inside or before this sub-record; it was read to the next record.
    HeapLengthShort,
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated => write!(f, "the file ends inside a record"),
            Self::TrailingBytes => write!(f, "bytes after HEAP DUMP END that are no record"),
            Self::UnknownRecord { tag, length } => {
                write!(
                    f,
                    "record tag {tag:#04x} is unknown, {length} bytes skipped"
                )
            }
            Self::RecordTooShort { tag, length } => {
                write!(
                    f,
                    "{} with a body of {length} bytes, fewer than its fields need",
                    name(tag)
                )
            }
            Self::RecordTooLong { tag, extra_bytes } => {
                write!(
                    f,
                    "{} with {extra_bytes} bytes after its last field",
                    name(tag)
                )
            }
            Self::UnknownHeapRecord { tag } => {
                write!(
                    f,
                    "sub-record tag {tag:#04x} is unknown, the rest of the segment skipped"
                )
            }
            Self::UnknownType { code } => {
                write!(
                    f,
                    "type {code} is unknown or not allowed here, the rest of the segment skipped"
                )
            }
            Self::HeapRecordCut => write!(
                f,
                "the sub-record runs over the end of its heap dump record"
            ),
            Self::HeapLengthZero => {
                write!(
                    f,
                    "the heap dump record has length 0, yet sub-records follow"
                )
            }
            Self::HeapLengthShort => write!(
                f,
                "the heap dump record is longer than its length, and was read to the next record"
            ),
        }
    }
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
