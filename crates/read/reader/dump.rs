//! The pull reader for a whole file: one event for each record, sub-record or damaged place.

use std::io::{self, Read};
use std::ops::Range;

use format::{record as tag, RECORD_HEADER_BYTES};

use crate::budget::Budget;
use crate::damage::{Damage, DamageKind};
use crate::error::ReadError;
use crate::header::Header;
use crate::heap_length::{
    bytes_beyond, heap_bytes, record_starts, sub_records_follow, BEYOND_BYTES_MAX, LOOK_BYTES,
    START_BYTES,
};
use crate::plain_file::PlainFile;
use crate::record::RecordHead;
use crate::source::Source;
use format::codec::{FieldCodec, Id, Input, U1};
use format::record::Record;
use format::sub_record::HeapRecord;

/// The next item in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A record outside the heap.
    Record(RecordHead, Record),
    /// The start of a HEAP DUMP or HEAP DUMP SEGMENT; its sub-records follow.
    HeapStart(RecordHead),
    /// A sub-record and its offset. Its data can be read until the next event is requested.
    Heap(u64, HeapRecord),
    /// The end of the heap record.
    HeapEnd,
    /// Bytes that do not fit the format.
    Damage(Damage),
}

/// Reads a file sequentially; keeps one record in memory, but never the data of an object.
#[derive(Debug)]
pub struct DumpReader<'r> {
    from: Source<'r>,
    header: Header,
    /// Offset after the current heap record; `u64::MAX` if only the file's end ends it.
    heap_end: Option<u64>,
    /// Whether the rest of the current heap record is skipped.
    heap_is_lost: bool,
    /// Offset after the data, or the leftover bytes, of the last event.
    skip_end: u64,
    pending: Option<Damage>,
    dump_ended: bool,
    finished: bool,
    /// Whether primitive arrays have a length but no elements.
    is_stripped: bool,
    budget: Budget,
}

/// Opens the file's uncompressed bytes anew for each pass.
pub type Open<'o, 'r> = dyn FnMut() -> io::Result<Box<dyn Read + 'r>> + 'o;

impl<'r> DumpReader<'r> {
    /// Opens a file and reads its header, see [`DumpReader::new`].
    pub fn open(open: &mut Open<'_, 'r>, budget: Budget) -> Result<Self, ReadError> {
        let opened = open().map_err(|source| ReadError::Io { offset: 0, source })?;
        Ok(Self::new(opened)?.with_budget(budget))
    }

    /// Reads the header. Errors: not an HPROF file, an impossible identifier size, I/O.
    pub fn new(inner: Box<dyn Read + 'r>) -> Result<Self, ReadError> {
        let mut from = Source::new(inner);
        let header = Header::read(&mut from)?;
        Ok(Self::with(from, header))
    }

    /// Like [`DumpReader::new`], for a file whose parts several threads can read.
    pub fn of_file(file: PlainFile) -> Result<Self, ReadError> {
        let mut from = Source::of_file(file);
        let header = Header::read(&mut from)?;
        Ok(Self::with(from, header))
    }

    fn with(from: Source<'r>, header: Header) -> Self {
        Self {
            skip_end: from.offset(),
            from,
            header,
            heap_end: None,
            heap_is_lost: false,
            pending: None,
            dump_ended: false,
            finished: false,
            is_stripped: false,
            budget: Budget::default(),
        }
    }

    /// A reader for segments of a file with this header; call [`aim`](Self::aim) before the first
    /// read.
    pub(crate) fn of_segments(file: PlainFile, header: Header) -> Self {
        let mut from = Source::of_file(file);
        from.set_id_bytes(header.id_bytes);
        Self::with(from, header)
    }

    /// Moves to a heap record of a file. The file seems to end at the end of the range.
    pub(crate) fn aim(&mut self, record: Range<u64>) -> Result<(), ReadError> {
        self.skip_end = record.start;
        self.from.set_limit(u64::MAX);
        (self.heap_end, self.pending, self.finished) = (None, None, false);
        self.from.aim(record)
    }

    /// Whether any heap can be read again, see [`crate::thread_names_at`].
    pub fn is_of_file(&self) -> bool {
        self.from.file().is_some()
    }

    /// The file, if several threads may read it.
    pub(crate) fn shared_file(&self) -> Option<&PlainFile> {
        self.from.file().filter(|file| file.threads() > 1)
    }

    /// Offset at which a file ends; 0 for a stream.
    pub(crate) fn file_end(&self) -> u64 {
        self.from.file().map_or(0, PlainFile::end)
    }

    /// Skips the heap record that has just started, so that another reader can read it. Returns its
    /// range. `None` if this reader must read it: the record is small, the file is a stream or ends
    /// inside the record, or the length is unknown or false.
    pub(crate) fn pass_heap(&mut self) -> Option<Range<u64>> {
        let (file, end) = (self.shared_file()?, self.heap_end?);
        let start = self.from.offset();
        if end > file.end() || end - start < file.segment_bytes_min() {
            return None;
        }
        let after = self.from.look_at::<START_BYTES>(end).ok()??;
        if !record_starts(&after, self.header.id_bytes) {
            return None;
        }
        self.heap_end = None;
        self.skip_end = end;
        self.from.leap_to(end);
        Some(start.saturating_sub(RECORD_HEADER_BYTES as u64)..end)
    }

    /// Sets the limit for the tables that are built from this file.
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Reads primitive arrays as if a tool had cut their elements out and left their lengths.
    pub(crate) fn stripped(mut self) -> Self {
        self.is_stripped = true;
        self
    }

    /// The limit for the tables that are built from this file.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The file's header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// Offset of the next byte; after the last event the size of the (uncompressed) file.
    pub fn offset(&self) -> u64 {
        self.from.offset()
    }

    /// The next event, or `None` after the last. Only I/O failures are errors; bytes that do not
    /// fit the format are returned as [`Event::Damage`].
    pub fn next_event(&mut self) -> Result<Option<Event>, ReadError> {
        if let Some(damage) = self.pending.take() {
            return Ok(Some(Event::Damage(damage)));
        }
        if self.finished {
            return Ok(None);
        }
        match self.step() {
            Err(ReadError::Truncated { offset } | ReadError::PastLimit { offset }) => {
                Ok(Some(self.finish(offset, DamageKind::Truncated)))
            }
            other => other,
        }
    }

    /// Appends the data of the last event's sub-record to `to`: all of it, or what a truncated file
    /// still has.
    pub fn read_data(&mut self, to: &mut Vec<u8>) -> Result<(), ReadError> {
        let count = self.skip_end.saturating_sub(self.from.offset());
        match self.from.append(to, count) {
            Err(fault) if fault.is_shortage() => Ok(()),
            other => other,
        }
    }

    /// The next piece of the data of the last event's sub-record; empty at its end.
    pub fn next_chunk(&mut self) -> Result<&[u8], ReadError> {
        let count = self.skip_end.saturating_sub(self.from.offset());
        match self.from.chunk(count) {
            Err(fault) if fault.is_shortage() => Ok(&[]),
            other => other,
        }
    }

    /// The next identifier in the data of the last event's sub-record, or `None` if no complete one
    /// is left.
    pub fn next_id(&mut self) -> Result<Option<u64>, ReadError> {
        let left = self.skip_end.saturating_sub(self.from.offset());
        if left < u64::from(self.header.id_bytes) {
            return Ok(None);
        }
        match Id::read(&mut self.from) {
            Ok(id) => Ok(Some(id)),
            Err(fault) if fault.is_shortage() => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn step(&mut self) -> Result<Option<Event>, ReadError> {
        self.from.skip_to(self.skip_end)?;
        if let Some(end) = self.heap_end {
            return if self.heap_is_over(end)? {
                self.heap_end = None;
                Ok(Some(Event::HeapEnd))
            } else {
                self.heap_record().map(Some)
            };
        }
        self.from.set_limit(u64::MAX);
        if self.from.look(1)?.is_empty() {
            self.finished = true;
            return Ok(None);
        }
        self.record().map(Some)
    }

    fn heap_is_over(&mut self, end: u64) -> Result<bool, ReadError> {
        if end < u64::MAX {
            let offset = self.from.offset();
            return Ok(offset >= end && (self.heap_is_lost || !self.extend_heap(offset, 0)?));
        }
        let tag = self.from.look(1)?.first().copied();
        if tag.and_then(HeapRecord::name_of).is_some() {
            return Ok(false);
        }
        let is_end = tag == Some(tag::HEAP_DUMP_END);
        Ok(is_end || record_starts(self.from.look(START_BYTES)?, self.header.id_bytes))
    }

    fn heap_record(&mut self) -> Result<Event, ReadError> {
        let (offset, left) = (self.from.offset(), self.from.left());
        if left < BEYOND_BYTES_MAX as u64 {
            // Near the end, a sub-record may have to be read again.
            self.from.look(usize::try_from(left).unwrap_or_default())?;
        }
        let read = U1::read(&mut self.from)
            .and_then(|tag| Ok(HeapRecord::read(tag, &mut self.from)?.ok_or(tag)));
        let kind = match read {
            Ok(Err(tag)) => DamageKind::UnknownHeapRecord { tag },
            Ok(Ok(record)) => {
                let data_bytes = match record {
                    HeapRecord::PrimitiveArray(_) if self.is_stripped => 0,
                    _ => record.data_bytes(self.header.id_bytes),
                };
                if data_bytes <= self.from.left() {
                    self.skip_end = self.from.offset().saturating_add(data_bytes);
                    return Ok(Event::Heap(offset, record));
                }
                DamageKind::HeapRecordCut
            }
            Err(ReadError::PastLimit { .. }) => DamageKind::HeapRecordCut,
            Err(ReadError::UnknownType { code }) => DamageKind::UnknownType { code },
            Err(fault) => return Err(fault),
        };
        if self.heap_end == Some(u64::MAX) {
            return Ok(self.finish(offset, kind));
        }
        if kind == DamageKind::HeapRecordCut && self.extend_heap(offset, left)? {
            return self.heap_record();
        }
        self.skip_end = offset.saturating_add(left);
        self.heap_is_lost = true;
        Ok(Event::Damage(Damage { offset, kind }))
    }

    /// Extends the heap record to the next record, if its length is false: it has only `left` bytes
    /// of the sub-record at this offset, to which the reader goes back. Returns whether it did.
    fn extend_heap(&mut self, offset: u64, left: u64) -> Result<bool, ReadError> {
        if left >= BEYOND_BYTES_MAX as u64 || self.is_stripped || !self.from.turn_back(offset) {
            return Ok(false);
        }
        if left == 0 && record_starts(self.from.look(START_BYTES)?, self.header.id_bytes) {
            return Ok(false);
        }
        let bytes = self.from.look(BEYOND_BYTES_MAX)?;
        let Some(length) = bytes_beyond(bytes, left, self.header.id_bytes) else {
            return Ok(false);
        };
        let end = offset.saturating_add(length);
        self.heap_end = Some(end);
        self.from.set_limit(end);
        self.pending = Some(Damage {
            offset,
            kind: DamageKind::HeapLengthShort,
        });
        Ok(true)
    }

    fn record(&mut self) -> Result<Event, ReadError> {
        let head = match RecordHead::read(&mut self.from) {
            Err(ReadError::Truncated { .. }) if self.dump_ended => {
                return Ok(self.finish(self.from.offset(), DamageKind::TrailingBytes));
            }
            head => head?,
        };
        let offset = self.from.offset();
        if head.tag == tag::HEAP_DUMP || head.tag == tag::HEAP_DUMP_SEGMENT {
            let bytes = heap_bytes(head.length, self.from.rest_of_file());
            let end = offset.saturating_add(bytes);
            self.from.set_limit(end);
            return self.heap_start(head, end);
        }
        let end = offset.saturating_add(u64::from(head.length));
        self.skip_end = end;
        self.from.set_limit(end);
        if Record::name_of(head.tag).is_none() {
            return self.unknown_record(head);
        }
        match Record::read(head.tag, &mut self.from) {
            Ok(Some(record)) => {
                self.note_end(&head, end);
                Ok(Event::Record(head, record))
            }
            Ok(None) => self.unknown_record(head),
            Err(ReadError::PastLimit { .. }) => Ok(Event::Damage(Damage {
                offset: head.offset,
                kind: DamageKind::RecordTooShort {
                    tag: head.tag,
                    length: head.length,
                },
            })),
            Err(fault) => Err(fault),
        }
    }

    fn heap_start(&mut self, head: RecordHead, end: u64) -> Result<Event, ReadError> {
        self.dump_ended = false;
        self.skip_end = self.from.offset();
        self.heap_end = Some(end);
        self.heap_is_lost = false;
        let id_bytes = self.header.id_bytes;
        if head.length == 0 && sub_records_follow(self.from.look(LOOK_BYTES)?, id_bytes) {
            self.heap_end = Some(u64::MAX);
            self.from.set_limit(u64::MAX);
            self.pending = Some(Damage {
                offset: head.offset,
                kind: DamageKind::HeapLengthZero,
            });
        }
        Ok(Event::HeapStart(head))
    }

    fn unknown_record(&mut self, head: RecordHead) -> Result<Event, ReadError> {
        let (offset, tag, length) = (head.offset, head.tag, head.length);
        match self.from.skip_to(self.skip_end) {
            Ok(()) => {}
            Err(fault) if fault.is_shortage() && self.dump_ended => {
                return Ok(self.finish(offset, DamageKind::TrailingBytes));
            }
            Err(fault) if fault.is_shortage() => {
                self.finished = true;
                self.pending = Some(Damage {
                    offset: self.from.offset(),
                    kind: DamageKind::Truncated,
                });
            }
            Err(fault) => return Err(fault),
        }
        let kind = DamageKind::UnknownRecord { tag, length };
        Ok(Event::Damage(Damage { offset, kind }))
    }

    /// Notes the end of the dump, or leftover bytes in a record.
    fn note_end(&mut self, head: &RecordHead, end: u64) {
        if head.tag == tag::HEAP_DUMP_END {
            // If its length is not 0, only this record is at fault.
            self.dump_ended = true;
        } else if self.from.offset() < end {
            self.pending = Some(Damage {
                offset: head.offset,
                kind: DamageKind::RecordTooLong {
                    tag: head.tag,
                    extra_bytes: end - self.from.offset(),
                },
            });
        }
    }

    fn finish(&mut self, offset: u64, kind: DamageKind) -> Event {
        self.finished = true;
        Event::Damage(Damage { offset, kind })
    }
}
