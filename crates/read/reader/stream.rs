//! A big-endian source of bytes that knows its offset and the end of the current record.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use format::kind::{Input, TEXT_BYTES_MAX};

use crate::error::ReadError;
use crate::plain_file::PlainFile;

/// Bytes per read of the file.
const BUFFER_BYTES: usize = 256 * 1024;

/// Bytes of the first read at a new offset of a file. Each further read takes twice as many: of
/// most records between heaps only the head is needed.
const FIRST_BYTES: usize = 4 * 1024;

/// The source of the bytes.
enum Inner<'r> {
    /// A stream, read from start to end.
    Stream(Box<dyn Read + 'r>),
    /// A file, readable at any offset.
    File(PlainFile),
}

/// Reads integers and identifiers from a file of any size, sequentially.
///
/// Offsets count uncompressed bytes from the first byte of the header. Reading past the limit
/// returns [`ReadError::PastLimit`], reading past the end of the file [`ReadError::Truncated`].
pub struct Source<'r> {
    inner: Inner<'r>,
    buffer: Vec<u8>,
    /// First byte of `buffer` not yet returned.
    position: usize,
    /// End of the bytes of `buffer` that came from the file.
    filled: usize,
    /// File offset of `buffer`'s first byte.
    buffer_offset: u64,
    /// Most bytes of the next read.
    read_bytes: usize,
    limit: u64,
    id_bytes: u32,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("offset", &self.offset())
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl<'r> Source<'r> {
    /// A source at offset 0, without a limit, with 8-byte identifiers.
    pub fn new(inner: Box<dyn Read + 'r>) -> Self {
        Self::with(Inner::Stream(inner), vec![0; BUFFER_BYTES], 0)
    }

    /// A source of an uncompressed file, otherwise like [`Source::new`]. Skipped bytes are not
    /// read.
    pub(crate) fn of_file(file: PlainFile) -> Self {
        Self::with(Inner::File(file), vec![0; BUFFER_BYTES], 0)
    }

    /// A source of just these bytes, starting at offset 0.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        let filled = bytes.len();
        Self::with(Inner::Stream(Box::new(io::empty())), bytes, filled)
    }

    fn with(inner: Inner<'r>, buffer: Vec<u8>, filled: usize) -> Self {
        Self {
            inner,
            buffer,
            position: 0,
            filled,
            buffer_offset: 0,
            read_bytes: BUFFER_BYTES,
            limit: u64::MAX,
            id_bytes: 8,
        }
    }

    /// The file, if it can be read at any place.
    pub(crate) fn file(&self) -> Option<&PlainFile> {
        match &self.inner {
            Inner::Stream(_) => None,
            Inner::File(file) => Some(file),
        }
    }

    /// Moves to a part of a file. A stream is always read from start to end.
    pub(crate) fn aim(&mut self, part: Range<u64>) {
        if let Inner::File(file) = &mut self.inner {
            file.note(self.position as u64);
            file.set_end(part.end);
            (self.position, self.filled, self.buffer_offset) = (0, 0, part.start);
            self.read_bytes = BUFFER_BYTES;
        }
    }

    /// Skips to a later offset of a file without reading the bytes between; another thread may read
    /// them.
    pub(crate) fn leap_to(&mut self, offset: u64) {
        if let Inner::File(file) = &self.inner {
            file.note(self.position as u64);
            (self.position, self.filled, self.buffer_offset) = (0, 0, offset.min(file.end()));
            self.read_bytes = FIRST_BYTES;
        }
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.buffer_offset + self.position as u64
    }

    /// Bytes of one identifier, 4 or 8.
    pub fn id_bytes(&self) -> u32 {
        self.id_bytes
    }

    /// Sets the size of identifiers; anything but 4 counts as 8.
    pub fn set_id_bytes(&mut self, id_bytes: u32) {
        self.id_bytes = if id_bytes == 4 { 4 } else { 8 };
    }

    /// Forbids reads at or after this offset; `u64::MAX` means no limit.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Bytes left before the limit.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.offset())
    }

    /// Whether the file is at its end, regardless of the limit.
    pub fn at_end(&mut self) -> Result<bool, ReadError> {
        self.fill(1)?;
        Ok(self.position == self.filled)
    }

    /// The next byte without consuming it, or `None` at the end of the file, regardless of the
    /// limit.
    pub fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        self.fill(1)?;
        Ok(self.buffered().first().copied())
    }

    /// The next bytes without consuming them: at least `count`, or fewer if the file ends,
    /// regardless of the limit. At most one buffer.
    pub(crate) fn look(&mut self, count: usize) -> Result<&[u8], ReadError> {
        self.fill(count)?;
        Ok(self.buffered())
    }

    /// Goes back to an offset whose bytes are still buffered. Returns whether they are.
    pub(crate) fn turn_back(&mut self, offset: u64) -> bool {
        let position = offset.checked_sub(self.buffer_offset);
        let position = position.and_then(|position| usize::try_from(position).ok());
        let position = position.filter(|position| *position <= self.position);
        self.position = position.unwrap_or(self.position);
        position.is_some()
    }

    /// An unsigned byte.
    pub fn u1(&mut self) -> Result<u8, ReadError> {
        let [byte] = self.take::<1>()?;
        Ok(byte)
    }

    /// An unsigned 16-bit number.
    pub fn u2(&mut self) -> Result<u16, ReadError> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    /// An unsigned 32-bit number.
    pub fn u4(&mut self) -> Result<u32, ReadError> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    /// An unsigned 64-bit number.
    pub fn u8(&mut self) -> Result<u64, ReadError> {
        Ok(u64::from_be_bytes(self.take()?))
    }

    /// Up to `most` bytes, and at least one unless `most` is 0: as many as are buffered.
    pub fn chunk(&mut self, most: u64) -> Result<&[u8], ReadError> {
        if most == 0 {
            return Ok(&[]);
        }
        self.require(1)?;
        let here = self.filled - self.position;
        let wanted = usize::try_from(most.min(self.left())).unwrap_or(usize::MAX);
        let start = self.position;
        self.position += here.min(wanted);
        Ok(self.buffer.get(start..self.position).unwrap_or_default())
    }

    /// Appends `count` bytes to `to`, which grows only by bytes that exist.
    pub fn append(&mut self, to: &mut Vec<u8>, count: u64) -> Result<(), ReadError> {
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
        let buffered_end = self.buffer_offset + self.filled as u64;
        if offset > buffered_end && offset <= self.limit {
            if let Inner::File(file) = &self.inner {
                file.note(offset.saturating_sub(self.offset()));
                self.leap_to(offset);
            }
        }
        while self.offset() < offset {
            let missing = offset - self.offset();
            self.chunk(missing)?;
        }
        Ok(())
    }

    #[cold]
    fn take_slowly<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        self.require(N)?;
        let bytes = self.buffered().first_chunk::<N>().copied();
        self.position += N;
        bytes.ok_or(ReadError::Truncated {
            offset: self.offset(),
        })
    }

    /// Ensures that `count` bytes (a small number) are buffered and lie before the limit.
    fn require(&mut self, count: usize) -> Result<(), ReadError> {
        let offset = self.offset();
        if self.left() < count as u64 {
            return Err(ReadError::PastLimit { offset });
        }
        self.fill(count)?;
        if self.filled - self.position < count {
            return Err(ReadError::Truncated { offset });
        }
        Ok(())
    }

    fn buffered(&self) -> &[u8] {
        self.buffer
            .get(self.position..self.filled)
            .unwrap_or_default()
    }

    /// Reads until `count` bytes are buffered or the file ends.
    fn fill(&mut self, count: usize) -> Result<(), ReadError> {
        if self.filled - self.position >= count {
            return Ok(());
        }
        self.buffer.copy_within(self.position..self.filled, 0);
        if let Inner::File(file) = &self.inner {
            file.note(self.position as u64);
        }
        self.buffer_offset += self.position as u64;
        self.filled -= self.position;
        self.position = 0;
        while self.filled < count {
            let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
            let most = free.len().min(self.read_bytes.max(count));
            let free = free.get_mut(..most).unwrap_or_default();
            self.read_bytes = BUFFER_BYTES.min(2 * self.read_bytes);
            let read = match &mut self.inner {
                Inner::Stream(stream) => stream.read(free),
                Inner::File(file) => file.read_at(free, self.buffer_offset + self.filled as u64),
            };
            match read {
                Ok(0) => break,
                Ok(more) => self.filled = (self.filled + more).min(self.buffer.len()),
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                // A truncated gzip stream; treated like a file that ends here.
                Err(fault) if fault.kind() == ErrorKind::UnexpectedEof => break,
                Err(fault) => return Err(self.io_error(fault)),
            }
        }
        Ok(())
    }

    fn io_error(&self, source: io::Error) -> ReadError {
        ReadError::Io {
            offset: self.buffer_offset + self.filled as u64,
            source,
        }
    }
}

impl Input for Source<'_> {
    type Error = ReadError;

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        if self.left() < N as u64 {
            return Err(ReadError::PastLimit {
                offset: self.offset(),
            });
        }
        if let Some(bytes) = self.buffered().first_chunk::<N>() {
            let bytes = *bytes;
            self.position += N;
            return Ok(bytes);
        }
        self.take_slowly()
    }

    fn id_bytes(&self) -> u32 {
        self.id_bytes
    }

    fn left(&self) -> u64 {
        self.limit.saturating_sub(self.offset())
    }

    fn rest(&mut self) -> Result<Vec<u8>, ReadError> {
        let left = self.left();
        let end = self.offset().saturating_add(left);
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
    use format::kind::{Kind, I4};

    fn source(bytes: &'static [u8]) -> Source<'static> {
        Source::new(Box::new(bytes))
    }

    #[test]
    fn numbers_are_big_endian_and_counted() {
        let mut from = source(&[1, 0, 2, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFE]);
        assert_eq!(from.u1().unwrap(), 1);
        assert_eq!(from.u2().unwrap(), 2);
        assert_eq!(from.u4().unwrap(), 3);
        assert_eq!(I4::read(&mut from).unwrap(), -2);
        assert_eq!(from.offset(), 11);
        assert!(from.at_end().unwrap());
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
        assert_eq!(from.u2().unwrap(), 0x102);
        let mut from = answering(vec![Ok(1), Err(ErrorKind::UnexpectedEof.into())]);
        assert!(matches!(from.u2(), Err(ReadError::Truncated { offset: 0 })));
        let mut from = answering(vec![Ok(1), Err(ErrorKind::Other.into())]);
        assert!(matches!(from.u2(), Err(ReadError::Io { offset: 1, .. })));
    }

    #[test]
    fn a_skip_ends_where_it_is_told() {
        let mut from = source(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(from.u1().unwrap(), 0);
        from.skip_to(10).unwrap();
        assert_eq!(from.offset(), 10);
        from.skip_to(3).unwrap();
        assert_eq!(from.u1().unwrap(), 10);
    }

    #[test]
    fn what_ends_at_the_limit_is_within() {
        let mut from = source(&[0, 0, 0, 5, 0]);
        from.set_limit(4);
        assert_eq!(from.u4().unwrap(), 5);
        assert!(matches!(from.u1(), Err(ReadError::PastLimit { offset: 4 })));
    }

    #[test]
    fn the_limit_comes_before_the_end() {
        let mut from = source(&[0; 10]);
        from.set_limit(3);
        assert!(matches!(from.u4(), Err(ReadError::PastLimit { offset: 0 })));
        assert!(from.u2().is_ok());
        from.set_limit(u64::MAX);
        assert!(matches!(from.u8(), Ok(0)));
        assert!(matches!(
            from.u1(),
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
}
