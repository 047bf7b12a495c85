//! Segments: packs whole sub-records into heap dump segments of a quarter of a megabyte.
//!
//! Source: format text, HEAP DUMP SEGMENT. The limits are the readers': no empty segment, no
//! sub-record across two segments, nothing that exceeds a u4.

use std::ops::Range;

use format::BasicType;

use crate::encoder::{patch_length, put_record_header, u4};
use crate::heap_record::{count_elements, encode_head};
use crate::WriteError;
use format::sub_record::{ObjectArray, PrimitiveArray};
use format::{record, sub_record, ID_SIZE_BYTES, RECORD_HEADER_BYTES};

/// Bytes of a full segment, including its header: small enough to be still in the processor's
/// caches when it is written.
const SEGMENT_BYTES: usize = 256 << 10;
/// Space after a full segment, so that the record that overfills it seldom makes the buffer grow.
const SLACK_BYTES: usize = 16 << 10;
/// Most bytes of nearly every delivered buffer.
pub(crate) const BUFFER_BYTES: usize = SEGMENT_BYTES + SLACK_BYTES;
/// Bytes of one piece of an array that has its own segment.
const PIECE_BYTES: usize = SEGMENT_BYTES;
/// The rest of an array is added to the last piece if it is at most a 32nd of a piece.
const PIECE_TO_LEAST: usize = 32;

/// More than a segment's header and an array's header together.
const HEADERS_BYTES: usize = 64;
const ARRAY_LENGTH: &str = "the length of an array";

/// Receives finished bytes, in file order.
///
/// A buffer is a whole segment, or a piece of one that is larger than the limit. Only all buffers
/// together are sure to be complete. An error ends the dump.
pub trait Deliver {
    /// Takes one buffer; may block until there is space for it.
    fn deliver(&mut self, bytes: Vec<u8>) -> Result<(), WriteError>;

    /// An empty buffer with capacity for `bytes` bytes, to be filled and delivered. It reuses a
    /// written buffer if possible, because a new one costs a page fault for every 4 KiB. The error
    /// is [`WriteError::NoMemory`].
    fn buffer(&mut self, bytes: usize) -> Result<Vec<u8>, WriteError> {
        buffer_of(bytes)
    }

    /// Several buffers that belong together follow: other threads that deliver to the same place
    /// wait until [`Deliver::release`]. May block while another thread holds.
    fn hold(&mut self) {}

    /// Ends [`Deliver::hold`]; does nothing without it.
    fn release(&mut self) {}
}

impl<F: FnMut(Vec<u8>) -> Result<(), WriteError>> Deliver for F {
    fn deliver(&mut self, bytes: Vec<u8>) -> Result<(), WriteError> {
        self(bytes)
    }
}

/// Counts of what passed through a [`Segments`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentTotals {
    /// Sub-records.
    pub records: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes, including the segments' headers.
    pub bytes: u64,
}

/// Packs sub-records into segments and delivers each when it is full.
///
/// For one thread: the walk owns it. Call [`Segments::finish`]: dropping it loses what is not
/// delivered. It must not be used after an error.
#[derive(Debug)]
pub struct Segments<D> {
    deliver: D,
    // Empty, or a record header and at least one whole sub-record.
    buffer: Vec<u8>,
    segment_bytes: usize,
    piece_bytes: usize,
    max_body_bytes: u32,
    totals: SegmentTotals,
}

impl<D: Deliver> Segments<D> {
    /// Segments of about 256 KiB, delivered to `deliver`. Allocates nothing before the first
    /// record.
    pub fn new(deliver: D) -> Self {
        Self::with_limits(deliver, SEGMENT_BYTES, PIECE_BYTES, u32::MAX)
    }

    /// The same with other limits, because tests need small ones.
    fn with_limits(deliver: D, segment_bytes: usize, piece_bytes: usize, max_body: u32) -> Self {
        Self {
            deliver,
            buffer: Vec::new(),
            segment_bytes,
            piece_bytes,
            max_body_bytes: max_body,
            totals: SegmentTotals::default(),
        }
    }

    /// Adds the one sub-record that `encode` appends.
    ///
    /// A record that does not fit into the current segment starts the next one; a record larger
    /// than a segment gets its own. If `encode` fails, the bytes that it appended are dropped and
    /// its error is returned. Other errors are the receiver's, and [`WriteError::NoMemory`].
    pub fn record(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        self.begin_segment()?;
        let start = self.buffer.len();
        if let Err(error) = encode(&mut self.buffer) {
            self.buffer.truncate(start);
            return Err(error);
        }
        self.totals.records += 1;
        if self.buffer.len() <= self.segment_bytes {
            return Ok(());
        }
        if start > RECORD_HEADER_BYTES {
            self.cut_at(start)?;
        }
        if self.buffer.len() > self.segment_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds an array of primitive values; `elements` are its bytes in the host's byte order.
    ///
    /// A large array is not copied as a whole but delivered in pieces, in its own segment. Returns
    /// the number of elements missing from the file: 0, unless the record would have exceeded 4
    /// GiB.
    pub fn primitive_array(
        &mut self,
        head: &PrimitiveArray,
        elements: &[u8],
    ) -> Result<u64, WriteError> {
        let element_type = head.kind;
        let width = element_type.size_bytes(ID_SIZE_BYTES);
        self.array(
            width,
            count_elements(elements.len(), width)?,
            |length, out| put_values_head(head, length, out),
            |range, out| {
                put_elements(element_type, slice_of(elements, range, width), out);
                Ok(())
            },
        )
    }

    /// Adds an array of `elements` zeros of a primitive type, in place of the array's values in the
    /// heap.
    ///
    /// Pieces and result as for [`Segments::primitive_array`].
    pub fn zeroed_array(
        &mut self,
        head: &PrimitiveArray,
        elements: u32,
    ) -> Result<u64, WriteError> {
        let width = head.kind.size_bytes(ID_SIZE_BYTES);
        self.array(
            width,
            elements as usize,
            |length, out| put_values_head(head, length, out),
            |range, out| {
                out.resize(out.len() + range.len() * width as usize, 0);
                Ok(())
            },
        )
    }

    /// Adds an array of references; `element_bytes` are their ids, big-endian, 8 bytes each.
    ///
    /// Pieces and result as for [`Segments::primitive_array`].
    pub fn object_array(
        &mut self,
        head: &ObjectArray,
        element_bytes: &[u8],
    ) -> Result<u64, WriteError> {
        self.array(
            ID_SIZE_BYTES,
            count_elements(element_bytes.len(), ID_SIZE_BYTES)?,
            |length, out| put_references_head(head, length, out),
            |range, out| {
                out.extend_from_slice(slice_of(element_bytes, range, ID_SIZE_BYTES));
                Ok(())
            },
        )
    }

    /// Adds an array of `elements` references; `put` appends their ids on demand, big-endian, 8
    /// bytes each.
    ///
    /// `put` is called with ranges of elements, in order and without gaps: once for a small array,
    /// piece by piece for a large one, so that this is never in memory as a whole. Result as for
    /// [`Segments::primitive_array`]; `put` is not called for elements that are missing from the
    /// file. Errors: those of `put` and of the receiver, `NoMemory`, and `BrokenArray` if `put`
    /// appends more or fewer bytes than it should.
    pub fn object_array_with(
        &mut self,
        head: &ObjectArray,
        elements: u64,
        mut put: impl FnMut(Range<u64>, &mut Vec<u8>) -> Result<(), WriteError>,
    ) -> Result<u64, WriteError> {
        let count = usize::try_from(elements).map_err(|_| WriteError::TooLarge {
            what: ARRAY_LENGTH,
            value: elements,
        })?;
        self.array(
            ID_SIZE_BYTES,
            count,
            |length, out| put_references_head(head, length, out),
            |range, out| put(range.start as u64..range.end as u64, out),
        )
    }

    /// Delivers the last segment and returns the totals.
    pub fn finish(mut self) -> Result<SegmentTotals, WriteError> {
        self.flush()?;
        Ok(self.totals)
    }

    /// The totals so far. Segments and bytes count when a segment is delivered, records when they
    /// are added.
    pub fn totals(&self) -> SegmentTotals {
        self.totals
    }

    /// An array of `wanted` elements, which `put` appends by ranges.
    fn array(
        &mut self,
        width: u32,
        wanted: usize,
        put_header: impl Fn(u32, &mut Vec<u8>),
        mut put: impl FnMut(Range<usize>, &mut Vec<u8>) -> Result<(), WriteError>,
    ) -> Result<u64, WriteError> {
        let width_bytes = width.max(1) as usize;
        // The common case needs no additional memory.
        if wanted.saturating_mul(width_bytes) <= self.segment_bytes.saturating_sub(HEADERS_BYTES) {
            let count = u4(ARRAY_LENGTH, wanted)?;
            // It would be cut off, and from then on the buffer would be larger than all others.
            let end = self.buffer.len() + HEADERS_BYTES + wanted * width_bytes;
            if end > self.segment_bytes + SLACK_BYTES {
                self.flush()?;
            }
            self.record(|out| {
                put_header(count, out);
                put_measured(0..wanted, width, &mut put, out)
            })?;
            return Ok(0);
        }
        let mut header = Vec::with_capacity(HEADERS_BYTES);
        put_header(0, &mut header);
        let room = (self.max_body_bytes as usize).saturating_sub(header.len());
        let kept = wanted.min(room / width_bytes);
        header.clear();
        put_header(u4(ARRAY_LENGTH, kept)?, &mut header);
        self.flush()?;
        self.deliver.hold();
        let streamed = self.stream(&header, kept, width, put);
        self.deliver.release();
        streamed?;
        Ok((wanted - kept) as u64)
    }

    /// One sub-record as its own segment, in pieces; its length is known beforehand.
    fn stream(
        &mut self,
        header: &[u8],
        elements: usize,
        width: u32,
        mut put: impl FnMut(Range<usize>, &mut Vec<u8>) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let width_bytes = width.max(1) as usize;
        let body_bytes = u4(
            "the length of a record",
            header.len() + elements * width_bytes,
        )?;
        let mut buffer = self.buffer(RECORD_HEADER_BYTES + header.len() + self.piece_bytes)?;
        put_record_header(&mut buffer, record::HEAP_DUMP_SEGMENT, body_bytes);
        buffer.extend_from_slice(header);
        self.totals.records += 1;
        self.totals.segments += 1;
        let mut start = 0;
        while start < elements {
            let mut end = elements.min(start + self.piece_bytes / width_bytes);
            if elements - end <= self.piece_bytes / PIECE_TO_LEAST / width_bytes {
                end = elements;
            }
            put_measured(start..end, width, &mut put, &mut buffer)?;
            start = end;
            let next = if start < elements {
                self.buffer(self.piece_bytes)?
            } else {
                Vec::new()
            };
            let full = std::mem::replace(&mut buffer, next);
            self.deliver(full)?;
        }
        // Without elements nothing has been delivered yet.
        if buffer.is_empty() {
            Ok(())
        } else {
            self.deliver(buffer)
        }
    }

    /// Ensures that the buffer starts with a record header.
    fn begin_segment(&mut self) -> Result<(), WriteError> {
        if self.buffer.is_empty() {
            self.buffer = self.buffer(self.segment_bytes)?;
            put_record_header(&mut self.buffer, record::HEAP_DUMP_SEGMENT, 0);
        }
        Ok(())
    }

    /// Delivers the bytes before `start`; the rest starts the next segment.
    fn cut_at(&mut self, start: usize) -> Result<(), WriteError> {
        let overhang = self.buffer.len() - start;
        let mut next = self.buffer(overhang + SLACK_BYTES)?;
        put_record_header(&mut next, record::HEAP_DUMP_SEGMENT, 0);
        next.extend(self.buffer.drain(start..));
        self.flush()?;
        self.buffer = next;
        Ok(())
    }

    /// An empty buffer for at least `bytes` bytes. Nearly all have the same size, so that they are
    /// interchangeable.
    fn buffer(&mut self, bytes: usize) -> Result<Vec<u8>, WriteError> {
        let usual = self.segment_bytes + SLACK_BYTES;
        self.deliver.buffer(bytes.max(usual))
    }

    /// Delivers the buffer if it contains a sub-record.
    fn flush(&mut self) -> Result<(), WriteError> {
        let mut segment = std::mem::take(&mut self.buffer);
        if segment.len() <= RECORD_HEADER_BYTES {
            return Ok(());
        }
        patch_length(&mut segment, 0)?;
        self.totals.segments += 1;
        self.deliver(segment)
    }

    fn deliver(&mut self, bytes: Vec<u8>) -> Result<(), WriteError> {
        self.totals.bytes += bytes.len() as u64;
        self.deliver.deliver(bytes)
    }
}

/// A written buffer, emptied and with capacity for `bytes` bytes.
pub(crate) fn emptied(mut buffer: Vec<u8>, bytes: usize) -> Result<Vec<u8>, WriteError> {
    buffer.clear();
    let reserved = buffer.try_reserve_exact(bytes);
    reserved.map_err(|_| WriteError::NoMemory {
        bytes: bytes as u64,
    })?;
    Ok(buffer)
}

/// An empty buffer. Returns an error instead of aborting if there is no memory, because the host
/// process must live on.
pub(crate) fn buffer_of(bytes: usize) -> Result<Vec<u8>, WriteError> {
    emptied(Vec::new(), bytes)
}

/// Calls `put` for these elements and checks the number of bytes: with a wrong length, no reader
/// could read on.
fn put_measured(
    range: Range<usize>,
    width: u32,
    put: &mut impl FnMut(Range<usize>, &mut Vec<u8>) -> Result<(), WriteError>,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let start = out.len();
    let expected = range.len() * width as usize;
    put(range, out)?;
    let bytes = out.len().saturating_sub(start);
    if bytes == expected {
        return Ok(());
    }
    Err(WriteError::BrokenArray {
        bytes: bytes as u64,
        element_bytes: width,
    })
}

/// The bytes of these elements, which exist.
fn slice_of(bytes: &[u8], elements: Range<usize>, width: u32) -> &[u8] {
    let width = width as usize;
    bytes
        .get(elements.start * width..elements.end * width)
        .unwrap_or_default()
}

/// Appends elements in the file's byte order. Readers expect a boolean to be 0 or 1.
fn put_elements(element_type: BasicType, native: &[u8], out: &mut Vec<u8>) {
    match element_type {
        BasicType::Boolean => out.extend(native.iter().map(|&byte| u8::from(byte != 0))),
        BasicType::Byte => out.extend_from_slice(native),
        BasicType::Char | BasicType::Short => {
            put_each(native, out, |bytes| u16::from_ne_bytes(bytes).to_be_bytes());
        }
        BasicType::Float | BasicType::Int => {
            put_each(native, out, |bytes| u32::from_ne_bytes(bytes).to_be_bytes());
        }
        BasicType::Double | BasicType::Long | BasicType::Object => {
            put_each(native, out, |bytes| u64::from_ne_bytes(bytes).to_be_bytes());
        }
    }
}

/// Copies first, then swaps in place: the compiler vectorises this loop.
fn put_each<const N: usize>(
    native: &[u8],
    out: &mut Vec<u8>,
    big_endian: impl Fn([u8; N]) -> [u8; N],
) {
    let start = out.len();
    out.extend_from_slice(native);
    let Some(copied) = out.get_mut(start..) else {
        return;
    };
    for element in copied.chunks_exact_mut(N) {
        if let Ok(bytes) = <[u8; N]>::try_from(&*element) {
            element.copy_from_slice(&big_endian(bytes));
        }
    }
}

/// Appends the head of an array with so many elements.
fn put_values_head(head: &PrimitiveArray, length: u32, out: &mut Vec<u8>) {
    let head = PrimitiveArray { length, ..*head };
    encode_head(sub_record::PRIM_ARRAY_DUMP, &head, out);
}

/// Likewise.
fn put_references_head(head: &ObjectArray, length: u32, out: &mut Vec<u8>) {
    let head = ObjectArray { length, ..*head };
    encode_head(sub_record::OBJ_ARRAY_DUMP, &head, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 128;

    /// Runs `fill` with small limits and returns everything delivered, with the totals.
    fn delivered(
        max_body: u32,
        fill: impl FnOnce(&mut Segments<&mut dyn FnMut(Vec<u8>) -> Result<(), WriteError>>),
    ) -> (Vec<u8>, SegmentTotals) {
        let mut file = Vec::new();
        let mut receive = |bytes: Vec<u8>| {
            assert!(!bytes.is_empty());
            file.extend(bytes);
            Ok(())
        };
        let mut segments = Segments::with_limits(&mut receive as &mut _, LIMIT, 32, max_body);
        fill(&mut segments);
        let totals = segments.finish().unwrap();
        assert_eq!(totals.bytes, file.len() as u64);
        (file, totals)
    }

    /// The bodies of the segments in a file; panics if the file contains anything else.
    fn bodies(mut file: &[u8]) -> Vec<Vec<u8>> {
        let mut bodies = Vec::new();
        while !file.is_empty() {
            assert_eq!(file[..5], [record::HEAP_DUMP_SEGMENT, 0, 0, 0, 0]);
            let length = u32::from_be_bytes(file[5..9].try_into().unwrap()) as usize;
            assert!(length > 0, "an empty segment");
            bodies.push(file[9..9 + length].to_vec());
            file = &file[9 + length..];
        }
        bodies
    }

    #[test]
    fn a_zeroed_array_is_as_long_as_one_with_values() {
        let header = PrimitiveArray {
            object: 8,
            trace: 1,
            length: 0,
            kind: BasicType::Int,
        };
        // In a segment with others, in pieces of its own segment, and cut because it would exceed
        // the limit.
        for (elements, max_body) in [(3, u32::MAX), (1000, u32::MAX), (1000, 400)] {
            let values = vec![7; elements as usize * 4];
            let (with_values, _) = delivered(max_body, |segments| {
                segments.primitive_array(&header, &values).unwrap();
            });
            let (zeroed, _) = delivered(max_body, |segments| {
                segments.zeroed_array(&header, elements).unwrap();
            });
            assert_eq!(zeroed.len(), with_values.len());
            let (heads, body) = (9 + 18, bodies(&zeroed).concat());
            assert_eq!(body[..18], with_values[9..heads], "the same header");
            assert!(body[18..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn an_array_is_as_long_as_the_length_of_a_record_can_say() {
        let header = PrimitiveArray {
            object: 8,
            trace: 1,
            length: 0,
            kind: BasicType::Long,
        };
        // 18 bytes of a head come before the elements.
        let most = (u32::MAX - 18) / 8;
        for elements in [most, most + 1] {
            let mut length = 0;
            // The first piece has the length of the record; the others would be gigabytes.
            let mut segments = Segments::new(|piece: Vec<u8>| {
                length = u32::from_be_bytes(piece[5..9].try_into().unwrap());
                Err(WriteError::Closed)
            });
            let ended = segments.zeroed_array(&header, elements);
            assert!(matches!(ended, Err(WriteError::Closed)));
            assert_eq!(length, 18 + 8 * most, "{elements} elements");
        }
    }

    /// Encodes these bytes as a record.
    fn plain(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.extend_from_slice(bytes);
        Ok(())
    }

    fn ints(count: i32) -> (PrimitiveArray, Vec<u8>, Vec<u8>) {
        let header = PrimitiveArray {
            object: 16,
            trace: 1,
            length: 0,
            kind: BasicType::Int,
        };
        let native = (0..count).flat_map(i32::to_ne_bytes).collect();
        let mut expected = Vec::new();
        put_values_head(&header, count.unsigned_abs(), &mut expected);
        expected.extend((0..count).flat_map(i32::to_be_bytes));
        (header, native, expected)
    }

    #[test]
    fn nothing_in_nothing_out() {
        let (file, totals) = delivered(u32::MAX, |segments| {
            let failed = segments.record(|out| {
                out.push(1);
                Err(WriteError::WriterGone)
            });
            assert!(failed.is_err());
        });
        assert!(file.is_empty());
        assert_eq!(totals, SegmentTotals::default());
    }

    #[test]
    fn a_large_array_comes_in_pieces_of_one_segment() {
        let (header, native, expected) = ints(100);
        let (file, totals) = delivered(u32::MAX, |segments| {
            segments.record(|out| plain(&[0xAA], out)).unwrap();
            assert_eq!(segments.primitive_array(&header, &native), Ok(0));
            segments.record(|out| plain(&[0xBB], out)).unwrap();
        });
        assert_eq!(bodies(&file), [vec![0xAA], expected, vec![0xBB]]);
        assert_eq!((totals.records, totals.segments), (3, 3));
    }

    /// Lengths of the delivered buffers for arrays of these numbers of ints, with the usual limits;
    /// none may have grown.
    fn buffers_of(counts: &[i32]) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut segments = Segments::new(|bytes: Vec<u8>| {
            assert_eq!(bytes.capacity(), BUFFER_BYTES, "of {} bytes", bytes.len());
            lengths.push(bytes.len());
            Ok(())
        });
        for &count in counts {
            let (header, native, _) = ints(count);
            segments.primitive_array(&header, &native).unwrap();
        }
        segments.finish().unwrap();
        lengths
    }

    #[test]
    fn no_array_makes_a_buffer_larger() {
        assert_eq!(
            buffers_of(&[60_000, 10_000, 2_000, 64_000, 65_000, 1]).len(),
            4
        );
    }

    #[test]
    fn no_piece_is_tiny() {
        let piece = i32::try_from(PIECE_BYTES / 4).unwrap();
        let cases = [
            (piece + 1, 1),
            (piece + 2048, 1),
            (piece + 2049, 2),
            (2 * piece + 9, 2),
        ];
        for (count, expected) in cases {
            let lengths = buffers_of(&[count]);
            assert_eq!(lengths.len(), expected, "{count}: {lengths:?}");
            let least = PIECE_BYTES / PIECE_TO_LEAST;
            assert!(lengths.iter().all(|&length| length > least));
        }
    }

    #[test]
    fn an_array_beyond_the_length_field_is_cut() {
        let (header, native, _) = ints(100);
        let (file, _) = delivered(18 + 40 * 4 + 3, |segments| {
            assert_eq!(segments.primitive_array(&header, &native), Ok(60));
        });
        let (_, _, expected) = ints(40);
        assert_eq!(bodies(&file), [expected]);
    }

    #[test]
    fn references_keep_their_bytes() {
        let header = references();
        let ids: Vec<u8> = (0..50_u64).flat_map(u64::to_be_bytes).collect();
        for elements in [&ids[..], &ids[..16], &[]] {
            let (file, _) = delivered(u32::MAX, |segments| {
                assert_eq!(segments.object_array(&header, elements), Ok(0));
            });
            let mut expected = Vec::new();
            put_references_head(
                &header,
                u32::try_from(elements.len() / 8).unwrap(),
                &mut expected,
            );
            expected.extend_from_slice(elements);
            assert_eq!(bodies(&file), [expected]);
        }
    }

    fn references() -> ObjectArray {
        ObjectArray {
            object: 8,
            trace: 1,
            length: 0,
            class: 24,
        }
    }

    /// Appends the elements' numbers as their ids.
    fn numbers(range: Range<u64>, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.extend(range.flat_map(u64::to_be_bytes));
        Ok(())
    }

    #[test]
    fn references_on_demand_are_those_at_hand() {
        for elements in [0, 1, 8, 9, 50] {
            let mut ids = Vec::new();
            numbers(0..elements, &mut ids).unwrap();
            let expected = delivered(u32::MAX, |segments| {
                segments.object_array(&references(), &ids).unwrap();
            });
            let mut asked = Vec::new();
            let found = delivered(u32::MAX, |segments| {
                let put = |range: Range<u64>, out: &mut Vec<u8>| {
                    asked.push(range.clone());
                    numbers(range, out)
                };
                let missing = segments.object_array_with(&references(), elements, put);
                assert_eq!(missing, Ok(0));
            });
            assert_eq!(found, expected);
            assert!(asked.iter().all(|range| range.end - range.start <= 8));
            assert_eq!(asked.last().unwrap().end, elements);
            let gaps = asked.windows(2).any(|pair| pair[0].end != pair[1].start);
            assert!(!gaps, "{asked:?}");
        }
    }

    #[test]
    fn references_beyond_the_length_field_are_not_asked_for() {
        let mut ids = Vec::new();
        numbers(0..40, &mut ids).unwrap();
        let (expected, _) = delivered(u32::MAX, |segments| {
            segments.object_array(&references(), &ids).unwrap();
        });
        let (file, _) = delivered(25 + 40 * 8 + 7, |segments| {
            let missing = segments.object_array_with(&references(), 1 << 50, numbers);
            assert_eq!(missing, Ok((1 << 50) - 40));
        });
        assert_eq!(file, expected);
    }

    #[test]
    fn appended_bytes_are_measured() {
        for (elements, given, element_bytes) in [(2, 15, 8), (2, 24, 8), (2, 8, 8), (50, 33, 8)] {
            let mut segments = Segments::with_limits(|_| Ok(()), LIMIT, 32, u32::MAX);
            let error = segments.object_array_with(&references(), elements, |_, out| {
                out.extend(vec![0; given]);
                Ok(())
            });
            let bytes = given as u64;
            let expected = WriteError::BrokenArray {
                bytes,
                element_bytes,
            };
            assert_eq!(error, Err(expected));
        }
    }

    /// Records the calls, each as a word.
    struct Notes(Vec<&'static str>);

    impl Deliver for &mut Notes {
        fn deliver(&mut self, _: Vec<u8>) -> Result<(), WriteError> {
            self.0.push("deliver");
            Ok(())
        }

        fn hold(&mut self) {
            self.0.push("hold");
        }

        fn release(&mut self) {
            self.0.push("release");
        }
    }

    #[test]
    fn pieces_are_held_together_and_released_on_an_error() {
        let mut notes = Notes(Vec::new());
        let mut segments = Segments::with_limits(&mut notes, LIMIT, 32, u32::MAX);
        segments.record(|out| plain(&[1], out)).unwrap();
        segments
            .object_array_with(&references(), 50, |range, out| match range.start {
                0..8 => numbers(range, out),
                _ => Err(WriteError::WriterGone),
            })
            .unwrap_err();
        assert_eq!(
            notes.0,
            ["deliver", "hold", "deliver", "deliver", "release"]
        );
    }

    #[test]
    fn booleans_are_0_or_1() {
        let mut out = Vec::new();
        put_elements(BasicType::Boolean, &[0, 1, 2, 255], &mut out);
        assert_eq!(out, [0, 1, 1, 1]);
        out.clear();
        put_elements(BasicType::Char, &0x1234_u16.to_ne_bytes(), &mut out);
        put_elements(BasicType::Long, &1_i64.to_ne_bytes(), &mut out);
        assert_eq!(out, [0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn half_an_element_is_refused() {
        let (header, _, _) = ints(0);
        let mut segments = Segments::new(|_| Ok(()));
        let error = segments.primitive_array(&header, &[0; 6]);
        assert_eq!(
            error,
            Err(WriteError::BrokenArray {
                bytes: 6,
                element_bytes: 4
            })
        );
    }

    #[test]
    fn the_receivers_error_comes_back() {
        let mut segments = Segments::with_limits(|_| Err(WriteError::Closed), LIMIT, 32, u32::MAX);
        segments.record(|out| plain(&[1], out)).unwrap();
        assert_eq!(
            segments.record(|out| plain(&[0; 300], out)),
            Err(WriteError::Closed)
        );
    }

    proptest! {
        #[test]
        fn whatever_goes_in_comes_out(
            records in prop::collection::vec((1_usize..400, any::<u8>(), any::<bool>()), 0..60),
        ) {
            let mut expected = Vec::new();
            let (file, totals) = delivered(u32::MAX, |segments| {
                for &(length, byte, as_array) in &records {
                    if as_array {
                        let (header, native, bytes) = ints(i32::try_from(length).unwrap());
                        assert_eq!(segments.primitive_array(&header, &native), Ok(0));
                        expected.push(bytes);
                    } else {
                        let bytes = vec![byte; length];
                        segments.record(|out| plain(&bytes, out)).unwrap();
                        expected.push(bytes);
                    }
                }
            });
            let bodies = bodies(&file);
            prop_assert_eq!(totals.records, records.len() as u64);
            prop_assert_eq!(totals.segments, bodies.len() as u64);
            prop_assert_eq!(bodies.concat(), expected.concat());
            let mut rest = expected.into_iter();
            for body in bodies {
                let mut length = 0;
                let mut count = 0;
                while length < body.len() {
                    length += rest.next().unwrap().len();
                    count += 1;
                }
                prop_assert_eq!(length, body.len(), "a record across two segments");
                prop_assert!(count == 1 || body.len() + RECORD_HEADER_BYTES <= LIMIT);
            }
        }
    }
}
