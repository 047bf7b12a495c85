//! The bytes of a file, through one buffer that is refilled as it is consumed, and the big-endian
//! numbers among them.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::ops::Range;

use format::codec::{Input, TEXT_BYTES_MAX};

use crate::error::ReadError;
use crate::members::Members;
use crate::plain_file::PlainFile;
use crate::unpacking::Unpacking;

/// Bytes per read of the file.
const BUFFER_BYTES: usize = 256 * 1024;

/// Bytes of the first read at a new offset of a file. Each further read takes twice as many: of
/// most records between heaps only the head is needed.
const FIRST_BYTES: usize = 4 * 1024;

/// Where the bytes come from.
enum Origin<'r> {
    /// A stream, read from start to end.
    Stream(Box<dyn Read + 'r>),
    /// An uncompressed file, readable at any offset.
    File(PlainFile),
    /// A compressed file, readable from any of its members.
    Members(Unpacking<'r>),
}

/// A file of any size or a part of it, with some of its bytes in memory.
///
/// Offsets count uncompressed bytes from the first byte of the header. Numbers past the limit are
/// [`ReadError::PastLimit`], those past the end of the file [`ReadError::Truncated`].
pub struct Source<'r> {
    origin: Origin<'r>,
    buffer: Vec<u8>,
    /// First byte of `buffer` that is not consumed.
    start: usize,
    /// End of the bytes of `buffer` that came from the file.
    filled: usize,
    /// File offset of the byte at `start`.
    offset: u64,
    /// File offset at which the part ends, as if the file ended there.
    end: u64,
    /// Most bytes of the next read.
    read_bytes: usize,
    limit: u64,
    id_bytes: u32,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("offset", &self.offset)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl<'r> Source<'r> {
    /// A stream at offset 0, without a limit, with 8-byte identifiers.
    pub fn new(stream: Box<dyn Read + 'r>) -> Self {
        Self::with(Origin::Stream(stream))
    }

    /// An uncompressed file, otherwise like [`Source::new`]. Skipped bytes are not read.
    pub fn of_file(file: PlainFile) -> Self {
        Self::with(Origin::File(file))
    }

    /// A compressed file, to be [aimed](Self::aim) at a part.
    pub fn of_members(file: PlainFile, members: &'r Members) -> Self {
        Self::with(Origin::Members(Unpacking::new(file, members)))
    }

    fn with(origin: Origin<'r>) -> Self {
        Self {
            origin,
            buffer: Vec::new(),
            start: 0,
            filled: 0,
            offset: 0,
            end: u64::MAX,
            read_bytes: BUFFER_BYTES,
            limit: u64::MAX,
            id_bytes: 8,
        }
    }

    /// The file, if it can be read at any place.
    pub(crate) fn file(&self) -> Option<&PlainFile> {
        match &self.origin {
            Origin::File(file) => Some(file),
            Origin::Stream(_) | Origin::Members(_) => None,
        }
    }

    /// Moves to another part, and reuses the buffer. A stream can only move forward.
    pub fn aim(&mut self, part: Range<u64>) -> Result<(), ReadError> {
        let read = self.offset + self.at_hand().len() as u64;
        let restart = match &mut self.origin {
            Origin::File(file) => {
                file.note(self.start as u64);
                Some(part.start)
            }
            Origin::Members(members) => members.restart(part.start, self.offset, read),
            Origin::Stream(_) => None,
        };
        if let Some(restart) = restart {
            (self.start, self.filled, self.offset) = (0, 0, restart);
        }
        self.read_bytes = BUFFER_BYTES;
        // The bytes that follow belong to another part and are not decompressed in vain.
        self.end = part.start;
        self.skip(part.start.saturating_sub(self.offset))?;
        self.end = part.end;
        Ok(())
    }

    /// Skips to a later offset of a file without reading the bytes between; another thread may read
    /// them.
    pub(crate) fn leap_to(&mut self, offset: u64) {
        if let Origin::File(file) = &self.origin {
            file.note(self.start as u64);
            (self.start, self.filled, self.offset) = (0, 0, offset.min(self.end));
            self.read_bytes = FIRST_BYTES;
        }
    }

    /// Offset of the next byte.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Sets the size of identifiers; anything but 4 counts as 8.
    pub fn set_id_bytes(&mut self, id_bytes: u32) {
        self.id_bytes = if id_bytes == 4 { 4 } else { 8 };
    }

    /// Forbids numbers at or after this offset; `u64::MAX` means no limit.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Bytes left of an uncompressed file or its part; `None` for others.
    pub fn rest_of_file(&self) -> Option<u64> {
        let end = self.end.min(self.file()?.end());
        Some(end.saturating_sub(self.offset))
    }

    /// The first bytes at a later offset of an uncompressed file, fewer at its end; `None` for
    /// others.
    pub fn look_at<const N: usize>(&self, offset: u64) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(file) = self.file() else {
            return Ok(None);
        };
        let mut bytes = [0; N];
        let read = file.read_at(&mut bytes, offset);
        let read = read.map_err(|source| ReadError::Io { offset, source })?;
        Ok(bytes.get(..read).map(<[u8]>::to_vec))
    }

    /// The next bytes without consuming them: at least `count`, or fewer if the part or the file
    /// ends, regardless of the limit.
    #[inline]
    pub fn look(&mut self, count: usize) -> Result<&[u8], ReadError> {
        if self.filled - self.start < count {
            self.fill(count)?;
        }
        Ok(self.at_hand())
    }

    /// Consumes `count` bytes, or as many as are in memory.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        let count = count.min(self.filled - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Goes back to an offset whose bytes are still in memory. Returns whether they are.
    pub(crate) fn turn_back(&mut self, offset: u64) -> bool {
        let back = self.offset.checked_sub(offset);
        let back = back.and_then(|back| usize::try_from(back).ok());
        let Some(start) = back.and_then(|back| self.start.checked_sub(back)) else {
            return false;
        };
        (self.start, self.offset) = (start, offset);
        true
    }

    /// Up to `most` bytes, and at least one unless `most` is 0: as many as are in memory.
    pub(crate) fn chunk(&mut self, most: u64) -> Result<&[u8], ReadError> {
        if most == 0 {
            return Ok(&[]);
        }
        self.require(1)?;
        let from = self.start;
        self.advance(usize::try_from(most.min(self.left())).unwrap_or(usize::MAX));
        Ok(self.buffer.get(from..self.start).unwrap_or_default())
    }

    /// Appends `count` bytes to `to`, which grows only by bytes that exist.
    pub(crate) fn append(&mut self, to: &mut Vec<u8>, count: u64) -> Result<(), ReadError> {
        let mut missing = count;
        while missing > 0 {
            let chunk = self.chunk(missing)?;
            to.extend_from_slice(chunk);
            missing -= chunk.len() as u64;
        }
        Ok(())
    }

    /// Skips to `offset`; does nothing if it is already past it.
    pub fn skip_to(&mut self, offset: u64) -> Result<(), ReadError> {
        let within = offset.min(self.limit).saturating_sub(self.offset);
        let there = self.rest_of_file().map_or(within, |rest| rest.min(within));
        if !self.skip(there)? || there < within {
            let offset = self.offset;
            return Err(ReadError::Truncated { offset });
        }
        match offset > self.offset {
            true => Err(ReadError::PastLimit {
                offset: self.offset,
            }),
            false => Ok(()),
        }
    }

    /// Skips `count` bytes, regardless of the limit, without reading an uncompressed file. Returns
    /// whether the part has that many.
    pub fn skip(&mut self, count: u64) -> Result<bool, ReadError> {
        let here = self.at_hand().len();
        if let (Ok(count), true) = (usize::try_from(count), count <= here as u64) {
            self.advance(count);
            return Ok(true);
        }
        let target = self.offset.saturating_add(count);
        if let Origin::File(file) = &self.origin {
            file.note(count);
            let has_all = target <= self.end.min(file.end());
            self.leap_to(target);
            return Ok(has_all);
        }
        while self.offset < target {
            if self.look(1)?.is_empty() {
                return Ok(false);
            }
            self.advance(usize::try_from(target - self.offset).unwrap_or(usize::MAX));
        }
        Ok(true)
    }

    #[cold]
    fn take_slowly<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        self.require(N)?;
        let bytes = self.at_hand().first_chunk::<N>().copied();
        self.advance(N);
        bytes.ok_or(ReadError::Truncated {
            offset: self.offset,
        })
    }

    /// Ensures that `count` bytes (a small number) are in memory and lie before the limit.
    fn require(&mut self, count: usize) -> Result<(), ReadError> {
        let offset = self.offset;
        if self.left() < count as u64 {
            return Err(ReadError::PastLimit { offset });
        }
        if self.look(count)?.len() < count {
            return Err(ReadError::Truncated { offset });
        }
        Ok(())
    }

    #[inline]
    fn at_hand(&self) -> &[u8] {
        self.buffer.get(self.start..self.filled).unwrap_or_default()
    }

    /// Reads until `count` bytes are in memory, or the part or the file ends.
    #[cold]
    fn fill(&mut self, count: usize) -> Result<(), ReadError> {
        self.buffer.copy_within(self.start..self.filled, 0);
        if let Origin::File(file) = &self.origin {
            file.note(self.start as u64);
        }
        self.filled -= self.start;
        self.start = 0;
        let part = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let room = count.max(BUFFER_BYTES.min(part));
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        while self.filled < count {
            let at = self.offset + self.filled as u64;
            let left = usize::try_from(self.end.saturating_sub(at)).unwrap_or(usize::MAX);
            let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
            let most = free.len().min(left).min(self.read_bytes.max(count));
            let free = free.get_mut(..most).unwrap_or_default();
            self.read_bytes = BUFFER_BYTES.min(2 * self.read_bytes);
            let read = match &mut self.origin {
                _ if most == 0 => Ok(0),
                Origin::File(file) => file.read_at(free, at),
                Origin::Members(members) => members.read(free),
                Origin::Stream(stream) => stream.read(free),
            };
            match read {
                Ok(0) => break,
                Ok(more) => self.filled = (self.filled + more).min(self.buffer.len()),
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                // A truncated gzip stream; treated like a file that ends here.
                Err(fault) if fault.kind() == ErrorKind::UnexpectedEof => break,
                Err(source) => return Err(ReadError::Io { offset: at, source }),
            }
        }
        Ok(())
    }
}

impl Input for Source<'_> {
    type Error = ReadError;

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        if self.left() < N as u64 {
            return Err(ReadError::PastLimit {
                offset: self.offset,
            });
        }
        match self.at_hand().first_chunk::<N>().copied() {
            Some(bytes) => {
                self.advance(N);
                Ok(bytes)
            }
            None => self.take_slowly(),
        }
    }

    fn id_bytes(&self) -> u32 {
        self.id_bytes
    }

    fn left(&self) -> u64 {
        self.limit.saturating_sub(self.offset)
    }

    fn rest(&mut self) -> Result<Vec<u8>, ReadError> {
        let left = self.left();
        let end = self.offset.saturating_add(left);
        let mut kept = Vec::new();
        self.append(&mut kept, left.min(TEXT_BYTES_MAX))?;
        self.skip_to(end)?;
        Ok(kept)
    }

    fn unknown_type(&self, code: u8) -> ReadError {
        ReadError::UnknownType { code }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::codec::{FieldCodec, I4, U1, U2, U4, U8};
    use std::io::{self, Seek, Write};

    fn source(bytes: &'static [u8]) -> Source<'static> {
        Source::new(Box::new(bytes))
    }

    #[test]
    fn numbers_are_big_endian_and_counted() {
        let mut from = source(&[1, 0, 2, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFE]);
        assert_eq!(U1::read(&mut from).unwrap(), 1);
        assert_eq!(U2::read(&mut from).unwrap(), 2);
        assert_eq!(U4::read(&mut from).unwrap(), 3);
        assert_eq!(I4::read(&mut from).unwrap(), -2);
        assert_eq!(from.offset(), 11);
        assert!(from.look(1).unwrap().is_empty());
    }

    /// The results of successive reads; then the end.
    struct Answers(Vec<io::Result<u8>>);

    impl Read for Answers {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(answer) = self.0.pop() else {
                return Ok(0);
            };
            buffer[0] = answer?;
            Ok(1)
        }
    }

    fn answering(mut answers: Vec<io::Result<u8>>) -> Source<'static> {
        answers.reverse();
        Source::new(Box::new(Answers(answers)))
    }

    #[test]
    fn a_signal_is_no_fault_and_a_cut_stream_ends() {
        let signal = || Err(ErrorKind::Interrupted.into());
        let mut from = answering(vec![signal(), Ok(1), signal(), Ok(2)]);
        assert_eq!(U2::read(&mut from).unwrap(), 0x102);
        let mut from = answering(vec![Ok(1), Err(ErrorKind::UnexpectedEof.into())]);
        assert!(matches!(
            U2::read(&mut from),
            Err(ReadError::Truncated { offset: 0 })
        ));
        let mut from = answering(vec![Ok(1), Err(ErrorKind::Other.into())]);
        assert!(matches!(
            U2::read(&mut from),
            Err(ReadError::Io { offset: 1, .. })
        ));
    }

    #[test]
    fn a_skip_ends_where_it_is_told() {
        let mut from = source(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(U1::read(&mut from).unwrap(), 0);
        from.skip_to(10).unwrap();
        assert_eq!(from.offset(), 10);
        from.skip_to(3).unwrap();
        assert_eq!(U1::read(&mut from).unwrap(), 10);
    }

    #[test]
    fn what_ends_at_the_limit_is_within() {
        let mut from = source(&[0, 0, 0, 5, 0]);
        from.set_limit(4);
        assert_eq!(U4::read(&mut from).unwrap(), 5);
        assert!(matches!(
            U1::read(&mut from),
            Err(ReadError::PastLimit { offset: 4 })
        ));
    }

    #[test]
    fn the_limit_comes_before_the_end() {
        let mut from = source(&[0; 10]);
        from.set_limit(3);
        assert!(matches!(
            U4::read(&mut from),
            Err(ReadError::PastLimit { offset: 0 })
        ));
        assert!(U2::read(&mut from).is_ok());
        from.set_limit(u64::MAX);
        assert!(matches!(U8::read(&mut from), Ok(0)));
        assert!(matches!(
            U1::read(&mut from),
            Err(ReadError::Truncated { offset: 10 })
        ));
    }

    #[test]
    fn append_takes_only_what_is_there() {
        let mut from = source(&[7; 10]);
        let mut to = Vec::new();
        assert!(from.append(&mut to, u64::from(u32::MAX)).is_err());
        assert_eq!(to, [7; 10]);
    }

    fn file(bytes: &[u8]) -> PlainFile {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        PlainFile::new(file, |_| ()).unwrap()
    }

    #[test]
    fn a_part_ends_where_it_was_told_to() {
        let file = file(b"0123456789");
        let mut source = Source::of_file(file);
        source.aim(2..5).unwrap();
        assert_eq!(source.look(2).unwrap(), b"234");
        source.advance(1);
        assert_eq!((source.offset(), source.look(9).unwrap()), (3, &b"34"[..]));
    }

    #[test]
    fn what_is_skipped_is_not_seen() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
        let of_stream = Source::new(Box::new(&bytes[..]));
        for mut source in [Source::of_file(file(&bytes)), of_stream] {
            source.look(1).unwrap();
            assert!(source.skip((2 << 20) + 7).unwrap());
            assert_eq!(source.look(1).unwrap()[0], 7);
            assert!(!source.skip(2 << 20).unwrap());
        }
    }
}
