//! The length of a heap record, where the file's own is false.
//!
//! Writers fill in the length at the end, so a writer that was stopped, for example by a full disk,
//! leaves 0: such a heap is distinguished from one without sub-records. Of a heap of more than
//! 4 GiB in one record, the length has only the lower 32 bits. Some files for Android have records
//! that end inside a sub-record; Android's own readers go on after it.

use format::codec::{bytes_of, Bytes, TEXT_BYTES_MAX};
use format::record::{AllocSites, Record};
use format::sub_record::{head_bytes, ClassDump, HeapRecord};
use format::{record, RootKind, RECORD_HEADER_BYTES};

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
    let Some(kind) = RootKind::from_tag(tag).filter(|_| Record::name_of(tag).is_some()) else {
        return HeapRecord::name_of(tag).is_some();
    };
    let has_root = match bytes.get(kind.bytes(id_bytes) as usize..) {
        Some([next, ..]) => HeapRecord::name_of(*next).is_some() || *next == record::HEAP_DUMP_END,
        Some([]) => true,
        None => false,
    };
    has_root && !is_record(bytes)
}

/// Most bytes that are read from the start of a sub-record that runs over the end of its heap
/// record.
pub const BEYOND_BYTES_MAX: usize = 128 << 10;

/// Bytes that decide whether a record starts.
pub const START_BYTES: usize = RECORD_HEADER_BYTES + SITES_HEAD_BYTES;

/// Bytes of the body of ALLOC SITES before the sites.
const SITES_HEAD_BYTES: usize = bytes_of::<AllocSites>(8) as usize;

/// Bytes of the sub-records from here to the next record, if the heap record's length is false: the
/// first of them does not fit in the `left` bytes, after which no record starts. Pass
/// [`BEYOND_BYTES_MAX`] bytes, or the rest of the file.
pub fn bytes_beyond(bytes: &[u8], left: u64, id_bytes: u32) -> Option<u64> {
    let from = |at: u64| bytes.get(usize::try_from(at).ok()?..);
    if record_starts(from(left)?, id_bytes) {
        return None;
    }
    let is_all = bytes.len() < BEYOND_BYTES_MAX;
    let mut at = sub_record_bytes(bytes, id_bytes).filter(|length| *length > left)?;
    loop {
        let rest = from(at).filter(|rest| is_all || rest.len() >= START_BYTES)?;
        if record_starts(rest, id_bytes) {
            return Some(at);
        }
        at += sub_record_bytes(rest, id_bytes)?;
    }
}

/// Whether a record may start with these bytes: at least [`START_BYTES`], or the rest of the file.
/// The end of the file counts as one. Bytes from within a heap hardly ever look like a record.
pub fn record_starts(bytes: &[u8], id_bytes: u32) -> bool {
    let Some(&tag) = bytes.first() else {
        return true;
    };
    let number = |at: usize| {
        let bytes = bytes.get(at..)?.first_chunk::<4>()?;
        Some(u64::from(u32::from_be_bytes(*bytes)))
    };
    let Some(length) = number(5) else {
        return false;
    };
    let id = u64::from(id_bytes);
    // The last number of the head is the count of rows.
    let is_list = |head: usize, row: u64| {
        let rows = number(RECORD_HEADER_BYTES + head - 4);
        rows.is_some_and(|rows| length == head as u64 + rows * row)
    };
    let next = bytes.get(RECORD_HEADER_BYTES).copied();
    let is_tag = |tag| Record::name_of(tag).is_some();
    match tag {
        record::UTF8 => {
            let text = bytes.get(RECORD_HEADER_BYTES + id_bytes as usize..);
            let mut text = text.unwrap_or_default().iter().zip(id..length);
            // No name has a byte 0.
            (id..=id + TEXT_BYTES_MAX).contains(&length) && text.all(|(byte, _)| *byte != 0)
        }
        record::HEAP_DUMP_END => length == 0 && next.is_none_or(is_tag),
        record::HEAP_DUMP | record::HEAP_DUMP_SEGMENT => {
            let is_empty = length == 0 && next.is_none_or(is_tag);
            is_empty || next.is_none_or(|tag| HeapRecord::name_of(tag).is_some())
        }
        tag => Record::bytes_of(tag, id_bytes).is_some_and(|(head, row)| match row {
            0 => length == u64::from(head),
            _ => is_list(head as usize, row.into()),
        }),
    }
}

/// The sub-record at the start of these bytes, and its length without its data; `None` if it is
/// none, is cut off, or has an invalid type.
#[inline]
pub fn sub_record(bytes: &[u8], id_bytes: u32) -> Option<(HeapRecord, usize)> {
    let (&tag, rest) = bytes.split_first()?;
    let mut rest = Bytes {
        bytes: rest,
        id_bytes,
    };
    let record = HeapRecord::read(tag, &mut rest).ok()??;
    Some((record, bytes.len() - rest.bytes.len()))
}

/// Bytes of the sub-record that starts here; `None` if it is none, or its head is cut off.
fn sub_record_bytes(bytes: &[u8], id_bytes: u32) -> Option<u64> {
    let (record, length) = sub_record(bytes, id_bytes)?;
    Some(length as u64 + record.data_bytes(id_bytes))
}

/// Most bytes of a CLASS DUMP: its head, and 65,535 constants, static fields and fields of 8 bytes.
pub const CLASS_BYTES_MAX: usize = head_bytes::<ClassDump>(8) as usize + 0xFFFF * (11 + 17 + 9);

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
        Some([next, ..]) => Record::name_of(*next).is_some(),
        Some([]) => bytes.len() < LOOK_BYTES,
        None => false,
    }
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
    fn each_record_starts_as_the_format_says() {
        let dump = sample::Dump::small().bytes();
        let (mut at, mut records) = (31, 0);
        while let Some(head) = dump.get(at..).filter(|rest| !rest.is_empty()) {
            assert!(record_starts(head, 8), "{at:#x}");
            // One byte later or earlier, none does.
            assert!(!record_starts(&head[1..], 8), "{at:#x}");
            at += 9 + u32::from_be_bytes(*head[5..].first_chunk().unwrap()) as usize;
            records += 1;
        }
        assert!(records > 40, "{records}");
        assert!(record_starts(&[], 8));
        // A root with the tag of a trace, before a segment.
        let root = [5, 0x12, 0xC0, 2, 0x80, 0x1C, 0, 0, 0, 0, 0, 0, 4, 0x68];
        assert!(!record_starts(&[&root[..], &[0x22; 40]].concat(), 4));
    }

    #[test]
    fn what_runs_over_the_end_is_read_to_the_next_record() {
        let array = sample::primitive_array(0x3000, 8, 100, &[0; 100]);
        let root = sample::root(0x05, 0x3000);
        let end = [0x2C, 0, 0, 0, 0, 0, 0, 0, 0];
        let all = array.len() + root.len();
        let bytes = [&array[..], &root, &end].concat();
        for left in 0..array.len() {
            assert_eq!(bytes_beyond(&bytes, left as u64, 8), Some(all as u64));
        }
        assert_eq!(bytes_beyond(&bytes, array.len() as u64, 8), None);
        // The file ends with the heap, or before, or no record follows.
        assert_eq!(bytes_beyond(&bytes[..all], 50, 8), Some(all as u64));
        assert_eq!(bytes_beyond(&bytes[..all - 1], 50, 8), None);
        assert_eq!(
            bytes_beyond(&[&bytes[..all], &[7; 60]].concat(), 50, 8),
            None
        );
        // A record starts where the heap record ends: the sub-record is damaged.
        let cut = [&array[..50], &end, &bytes].concat();
        assert_eq!(bytes_beyond(&cut, 50, 8), None);
    }

    #[test]
    fn a_string_that_is_longer_than_the_look_is_no_heap() {
        let mut string = vec![1, 0, 0, 0, 0, 0, 0, 8, 8];
        string.extend([0, 0, 0, 0, 0, 0, 0, 9]);
        string.resize(LOOK_BYTES, b'a');
        assert!(!sub_records_follow(&string, 8));
    }
}
