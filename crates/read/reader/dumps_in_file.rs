//! The heap dumps in one file. The JDK's agent appends one on each SIGQUIT, and one at the end.

use std::io::{self, Read, Write};

use format::codec::Input;
use format::{record as tag, RECORD_HEADER_BYTES};

use crate::error::ReadError;
use crate::header::{Header, Version};
use crate::heap_length::{heap_bytes, record_starts, sub_records_follow, LOOK_BYTES, START_BYTES};
use crate::plain_file::PlainFile;
use crate::record::RecordHead;
use crate::source::Source;

/// Most dumps whose times are kept.
const DUMPS_MAX: usize = 1 << 16;

/// A step back of a record's time by more than this is an overflow of its 32 bits.
const OVERFLOW_MICROS: u32 = 1 << 31;

/// Numbers the dumps by the heads of their records: each HEAP DUMP is one, and so are the segments
/// up to a HEAP DUMP END.
#[derive(Debug, Default)]
struct Numbers {
    /// Microseconds from the header's time to the start of each dump.
    starts_micros: Vec<u64>,
    /// Whether the next segment belongs to the last dump.
    is_open: bool,
    /// Whether the last record was a heap, whose length may be false.
    was_heap: bool,
    /// The time of the last record that has one, and its overflows.
    last_micros: u32,
    overflows: u64,
}

impl Numbers {
    /// Counts a record; returns the number, from 1, of the dump to which it belongs, or `None` if
    /// it is outside of heaps.
    fn of(&mut self, record: &Next) -> Option<usize> {
        if record.is_rest {
            return Some(self.starts_micros.len());
        }
        let head = &record.head;
        self.was_heap = matches!(head.tag, tag::HEAP_DUMP | tag::HEAP_DUMP_SEGMENT);
        let micros = self.micros(head.time_micros);
        match head.tag {
            tag::HEAP_DUMP | tag::HEAP_DUMP_SEGMENT => {
                let is_new = !self.is_open || head.tag == tag::HEAP_DUMP;
                if is_new && !record.is_empty() && self.starts_micros.len() < DUMPS_MAX {
                    self.starts_micros.push(micros);
                }
                self.is_open |= !record.is_empty();
                self.is_open &= head.tag == tag::HEAP_DUMP_SEGMENT;
            }
            tag::HEAP_DUMP_END => self.is_open = false,
            _ => return None,
        }
        Some(self.starts_micros.len())
    }

    fn micros(&mut self, micros: u32) -> u64 {
        // Most writers leave times out.
        if micros > 0 {
            let is_overflow = self.last_micros.saturating_sub(micros) > OVERFLOW_MICROS;
            self.overflows += u64::from(is_overflow);
            self.last_micros = micros;
        }
        (self.overflows << 32) + u64::from(self.last_micros)
    }
}

/// When each heap dump of a file was made, in milliseconds since 1970, in file order. Reads only
/// the heads of a file's records. Errors: I/O, no HPROF file.
pub fn dumps_in_file(file: PlainFile) -> Result<Vec<u64>, ReadError> {
    let mut from = Source::of_file(file);
    let header = Header::read(&mut from)?;
    dumps_after(header, from)
}

/// Like [`dumps_in_file`], for a compressed file, which must be read for that. One that begins as
/// dumps of HotSpot and this project do has one: version 1.0.2, no settings of the JDK's agent.
pub fn dumps_in_stream(bytes: Box<dyn Read + '_>) -> Result<Vec<u64>, ReadError> {
    let mut from = Source::new(bytes);
    let header = Header::read(&mut from)?;
    if header.version != Version::V1_0_1 && from.look(1)?.first() != Some(&tag::CONTROL_SETTINGS) {
        return Ok(vec![header.time_millis]);
    }
    dumps_after(header, from)
}

fn dumps_after(header: Header, mut from: Source<'_>) -> Result<Vec<u64>, ReadError> {
    let mut numbers = Numbers::default();
    while let Some(record) = next(&mut from, numbers.was_heap)? {
        numbers.of(&record);
        match from.skip_to(record.end) {
            Err(fault) if fault.is_shortage() => break,
            other => other?,
        }
    }
    let starts = numbers.starts_micros.into_iter();
    Ok(starts
        .map(|micros| header.time_millis.saturating_add(micros / 1000))
        .collect())
}

/// Copies a file with one of its heap dumps: the one with this number, from 1. Its header has the
/// time of that dump. Errors: I/O, no HPROF file.
pub fn copy_one_dump(
    bytes: Box<dyn Read + '_>,
    number: usize,
    made_millis: u64,
    to: &mut dyn Write,
) -> io::Result<()> {
    let failed = |fault: ReadError| match fault {
        ReadError::Io { source, .. } => source,
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    };
    let mut from = Source::new(bytes);
    let header = Header::read(&mut from).map_err(failed)?;
    write!(to, "JAVA PROFILE {}\0", header.version.number())?;
    to.write_all(&header.id_bytes.to_be_bytes())?;
    to.write_all(&made_millis.to_be_bytes())?;
    let mut numbers = Numbers::default();
    while let Some(record) = next(&mut from, numbers.was_heap).map_err(failed)? {
        let of = numbers.of(&record);
        let is_wanted = of.is_none_or(|of| of == number);
        if is_wanted {
            let head = &record.head;
            to.write_all(&[head.tag])?;
            to.write_all(&head.time_micros.to_be_bytes())?;
            to.write_all(&head.length.to_be_bytes())?;
        }
        while from.offset() < record.end {
            match from.chunk(record.end - from.offset()) {
                Ok(bytes) if is_wanted => to.write_all(bytes)?,
                Ok(_) => {}
                // The copy ends where the file does.
                Err(fault) if fault.is_shortage() => return Ok(()),
                Err(fault) => return Err(failed(fault)),
            }
        }
    }
    Ok(())
}

/// A record and where it ends.
struct Next {
    head: RecordHead,
    end: u64,
    /// Whether it is none, but the rest of a heap whose length is false, and all that follows.
    is_rest: bool,
}

impl Next {
    fn is_empty(&self) -> bool {
        self.end == self.head.offset + RECORD_HEADER_BYTES as u64
    }
}

/// The next record's head; `None` at the end of the file, or if it ends within the head.
fn next(from: &mut Source<'_>, was_heap: bool) -> Result<Option<Next>, ReadError> {
    let id_bytes = Input::id_bytes(from);
    let bytes = from.look(START_BYTES)?;
    let is_rest = was_heap && !record_starts(bytes, id_bytes);
    if bytes.len() < RECORD_HEADER_BYTES {
        return Ok(None);
    }
    let head = RecordHead::read(from)?;
    let is_heap = matches!(head.tag, tag::HEAP_DUMP | tag::HEAP_DUMP_SEGMENT);
    let is_open =
        is_heap && head.length == 0 && sub_records_follow(from.look(LOOK_BYTES)?, id_bytes);
    let end = match is_open || is_rest {
        // Only the end of the file ends it.
        true => u64::MAX,
        false => {
            let bytes = match is_heap {
                true => heap_bytes(head.length, from.rest_of_file()),
                false => head.length.into(),
            };
            from.offset().saturating_add(bytes)
        }
    };
    Ok(Some(Next { head, end, is_rest }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of records: tag, time, body.
    fn file(records: &[(u8, u32, &[u8])]) -> Vec<u8> {
        let mut bytes = b"JAVA PROFILE 1.0.1\0\0\0\0\x08\0\0\0\0\0\0\x03\xE8".to_vec();
        for (tag, micros, body) in records {
            bytes.push(*tag);
            bytes.extend(micros.to_be_bytes());
            bytes.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
            bytes.extend(*body);
        }
        bytes
    }

    fn found(bytes: &[u8]) -> Vec<u64> {
        let mut from = Source::new(Box::new(bytes));
        let header = Header::read(&mut from).unwrap();
        dumps_after(header, from).unwrap()
    }

    fn copied(bytes: &[u8], number: usize) -> Vec<u8> {
        let mut copy = Vec::new();
        copy_one_dump(Box::new(bytes), number, 1000, &mut copy).unwrap();
        copy
    }

    const SETTINGS: (u8, u32, &[u8]) = (0x0E, 0, &[0; 6]);

    #[test]
    fn each_heap_dump_is_one() {
        let (one, two) = (
            (0x0C, 5_000_000, &b"!one"[..]),
            (0x0C, 9_000_000, &b"!two"[..]),
        );
        let bytes = file(&[SETTINGS, one, (1, 0, b"id of a name"), two]);
        assert_eq!(found(&bytes), [6000, 10_000]);
        assert_eq!(
            copied(&bytes, 1),
            file(&[SETTINGS, one, (1, 0, b"id of a name")])
        );
        assert_eq!(
            copied(&bytes, 2),
            file(&[SETTINGS, (1, 0, b"id of a name"), two])
        );
        assert_eq!(dumps_in_stream(Box::new(&*bytes)).unwrap().len(), 2);
    }

    #[test]
    fn segments_up_to_an_end_are_one() {
        let segment = |body: &'static [u8]| (0x1C, 0, body);
        let end = (0x2C, 0, &b""[..]);
        let bytes = file(&[segment(b"!a"), segment(b"!b"), end, segment(b"!c"), end]);
        assert_eq!(found(&bytes), [1000, 1000]);
        assert_eq!(
            copied(&bytes, 1),
            file(&[segment(b"!a"), segment(b"!b"), end])
        );
        assert_eq!(copied(&bytes, 2), file(&[segment(b"!c"), end]));
    }

    #[test]
    fn a_heap_that_runs_over_its_end_begins_no_other() {
        let mut bytes = file(&[SETTINGS, (0x1C, 0, b"!one")]);
        // Bytes of an object that look like the head of a HEAP DUMP, but for its first sub-record.
        bytes.extend([0x0C, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(found(&bytes), [1000]);
        assert_eq!(copied(&bytes, 1), bytes);
    }

    #[test]
    fn times_that_overflow_go_on() {
        let dump = |micros| (0x0C, micros, &b"!heap"[..]);
        let bytes = file(&[dump(u32::MAX), dump(0), dump(2_000_000)]);
        assert_eq!(found(&bytes), [4_295_967, 4_295_967, 4_297_967]);
    }

    #[test]
    fn a_file_may_end_anywhere() {
        let bytes = file(&[(0x0C, 0, b"!one"), (0x0C, 0, b"!two")]);
        for length in 31..bytes.len() {
            let count = usize::from(length >= 40) + usize::from(length >= 53);
            assert_eq!(found(&bytes[..length]).len(), count, "{length}");
            copied(&bytes[..length], 2);
        }
    }

    #[test]
    fn an_open_dump_is_the_last() {
        let mut bytes = file(&[(0x0C, 0, b"!one"), (0x0C, 0, b"")]);
        bytes.extend([
            0x21, 1, 0x0C, 0, 0, 0, 0, 0, 0, 0, 0, 0x0C, 0, 0, 0, 0, 0, 0, 0, 0,
        ]);
        assert_eq!(found(&bytes).len(), 2);
        assert!(copied(&bytes, 2).ends_with(&bytes[bytes.len() - 20..]));
    }
}
