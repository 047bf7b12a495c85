//! The length of a heap record, where the file's own is false.
//!
//! Writers fill in the length at the end, so a writer that was stopped, for example by a full disk,
//! leaves 0: such a heap is distinguished from one without sub-records. Of a heap of more than
//! 4 GiB in one record, the length has only the lower 32 bits.

use format::sub_record::TAG_BYTES;
use format::{android, heap, record, RootKind, RECORD_HEADER_BYTES};

use crate::record::record_name;

/// The number of bytes after the record's head that are examined. Most names are shorter.
pub const LOOK_BYTES: usize = 1024;

/// The bytes of a heap record with this length, in a file with `rest` more bytes; `None` for a
/// stream. The length has overflowed if it is right with more upper bits for the last record.
pub fn heap_bytes(length: u32, rest: Option<u64>) -> u64 {
    let length = u64::from(length);
    let beyond = |rest: &u64| {
        rest.checked_sub(length)
            .is_some_and(|more| more > 0 && more % (1 << 32) == 0)
    };
    rest.filter(beyond).unwrap_or(length)
}

/// Whether these bytes, which follow the head, are sub-records and not records. Pass at least
/// [`LOOK_BYTES`], or the rest of the file.
///
/// The tags of some roots are also those of records. Bytes that form a valid record count as one.
pub fn sub_records_follow(bytes: &[u8], id_bytes: u32) -> bool {
    let bytes = bytes.get(..LOOK_BYTES).unwrap_or(bytes);
    let Some(&tag) = bytes.first() else {
        return false;
    };
    let Some(kind) = RootKind::from_tag(tag).filter(|_| record_name(tag).is_some()) else {
        return is_sub_record(tag);
    };
    let root_bytes = (TAG_BYTES + id_bytes + kind.facts().bytes(id_bytes)) as usize;
    let has_root = match bytes.get(root_bytes..) {
        Some([next, ..]) => is_sub_record(*next) || *next == record::HEAP_DUMP_END,
        Some([]) => true,
        None => false,
    };
    has_root && !is_record(bytes)
}

/// Whether the bytes start with a complete record, followed by another record or the end of the
/// file.
fn is_record(bytes: &[u8]) -> bool {
    let length = bytes.get(5..RECORD_HEADER_BYTES);
    let length = length.and_then(|length| length.first_chunk::<4>());
    let Some(length) = length.and_then(|length| usize::try_from(u32::from_be_bytes(*length)).ok())
    else {
        return false;
    };
    match bytes.get(RECORD_HEADER_BYTES.saturating_add(length)..) {
        Some([next, ..]) => record_name(*next).is_some(),
        Some([]) => bytes.len() < LOOK_BYTES,
        None => false,
    }
}

/// Whether a sub-record has this tag.
fn is_sub_record(tag: u8) -> bool {
    RootKind::from_tag(tag).is_some()
        || matches!(
            tag,
            heap::CLASS_DUMP
                | heap::INSTANCE_DUMP
                | heap::OBJ_ARRAY_DUMP
                | heap::PRIM_ARRAY_DUMP
                | android::PRIM_ARRAY_NODATA
                | android::HEAP_DUMP_INFO
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with a global reference of 8 bytes.
    const GLOBAL: [u8; 17] = [
        1, 0, 0, 0, 7, 0xFE, 1, 2, 0x30, 0, 0, 0x7F, 0x80, 1, 2, 3, 4,
    ];

    #[test]
    fn the_length_of_the_last_record_may_have_overflowed() {
        let rest = (3 << 32) + 100;
        assert_eq!(heap_bytes(100, Some(rest)), rest);
        for other in [None, Some(100), Some(99), Some(rest + 9), Some(rest - 1)] {
            assert_eq!(heap_bytes(100, other), 100);
        }
    }

    #[test]
    fn what_begins_as_no_record_is_a_heap() {
        for tag in [0x08, 0x20, 0x21, 0x22, 0x23, 0x89, 0xC3, 0xFE, 0xFF] {
            assert!(sub_records_follow(&[tag, 0, 0], 8), "{tag:x}");
        }
        for tag in [0x0A, 0x0C, 0x1C, 0x2C, 0x24] {
            assert!(!sub_records_follow(&[tag, 0, 0], 8), "{tag:x}");
        }
        assert!(!sub_records_follow(&[], 8));
    }

    #[test]
    fn a_root_with_the_tag_of_a_record_is_told_from_one() {
        for next in [&[][..], &[0x21, 9], &[1, 0], &[record::HEAP_DUMP_END]] {
            assert!(
                sub_records_follow(&[&GLOBAL, next].concat(), 8),
                "{next:x?}"
            );
        }
        assert!(!sub_records_follow(&[&GLOBAL[..], b"x"].concat(), 8));
        assert!(!sub_records_follow(&GLOBAL[..9], 8));
        // A string of four letters, before another record and at the end of the file.
        let string = [
            1, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 9, 1, 1, 1, 1,
        ];
        for next in [&[][..], &[2, 0, 0]] {
            assert!(
                !sub_records_follow(&[&string, next].concat(), 8),
                "{next:x?}"
            );
        }
    }

    #[test]
    fn a_string_that_is_longer_than_the_look_is_no_heap() {
        let mut string = vec![1, 0, 0, 0, 0, 0, 0, 8, 8];
        string.extend([0, 0, 0, 0, 0, 0, 0, 9]);
        string.resize(LOOK_BYTES, b'a');
        assert!(!sub_records_follow(&string, 8));
    }
}
