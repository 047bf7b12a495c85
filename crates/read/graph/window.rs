//! A file's uncompressed bytes from start to end, through one buffer that is refilled as it is
//! consumed.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt;

use crate::unpacking::Unpacking;

/// Bytes per read.
const BUFFER_BYTES: usize = 1 << 20;

/// The source of the bytes.
enum Origin<'f> {
    /// An uncompressed file, which can be read at any offset, and the offset at which the dump
    /// starts.
    File(&'f File, u64),
    /// A compressed file, which can be read from any of its members.
    Members(Unpacking<'f>),
    /// A stream, which can only be read forward.
    Stream(Box<dyn Read + 'f>),
}

/// A part of a file, with some of its bytes in memory.
pub(crate) struct Window<'f> {
    origin: Origin<'f>,
    buffer: Vec<u8>,
    /// First byte of `buffer` that is not consumed.
    start: usize,
    /// End of the bytes in `buffer` that came from the file.
    filled: usize,
    /// File offset of the byte at `start`.
    offset: u64,
    /// File offset where the part ends.
    end: u64,
}

impl<'f> Window<'f> {
    /// The bytes from `offset` up to `end` of the dump that starts at the offset `start` of an
    /// uncompressed file.
    pub(crate) fn of_file(file: &'f File, start: u64, offset: u64, end: u64) -> Self {
        Self::new(Origin::File(file, start), offset, end)
    }

    /// The bytes of a compressed file, starting where it is [aimed](Self::aim).
    pub(crate) fn of_members(members: Unpacking<'f>) -> Self {
        Self::new(Origin::Members(members), 0, 0)
    }

    /// All bytes of a stream.
    pub(crate) fn of_stream(stream: Box<dyn Read + 'f>) -> Self {
        Self::new(Origin::Stream(stream), 0, u64::MAX)
    }

    fn new(origin: Origin<'f>, offset: u64, end: u64) -> Self {
        Self {
            origin,
            buffer: Vec::new(),
            start: 0,
            filled: 0,
            offset,
            end,
        }
    }

    /// Moves to another part, and reuses the buffer. A stream can only move forward. Errors: I/O.
    pub(crate) fn aim(&mut self, offset: u64, end: u64) -> io::Result<()> {
        let read = self.offset + (self.filled - self.start) as u64;
        let restart = match &mut self.origin {
            Origin::File(..) => Some(offset),
            Origin::Members(members) => members.restart(offset, self.offset, read),
            Origin::Stream(_) => None,
        };
        if let Some(restart) = restart {
            (self.start, self.filled, self.offset) = (0, 0, restart);
        }
        // The bytes that follow belong to another part and are not decompressed in vain.
        self.end = offset;
        self.skip(offset.saturating_sub(self.offset))?;
        self.end = end;
        Ok(())
    }

    /// File offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next bytes: at least `count` of them, or fewer if the part or the file ends.
    #[inline]
    pub(crate) fn ask(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.filled - self.start < count {
            self.fill(count)?;
        }
        Ok(self.buffer.get(self.start..self.filled).unwrap_or_default())
    }

    /// Bytes left of an uncompressed file; `None` for others. Errors: I/O.
    pub(crate) fn rest(&self) -> io::Result<Option<u64>> {
        let Origin::File(file, start) = &self.origin else {
            return Ok(None);
        };
        let end = file.metadata()?.len().saturating_sub(*start);
        Ok(Some(end.saturating_sub(self.offset)))
    }

    /// The first bytes at a later offset of an uncompressed file, fewer at its end; `None` for
    /// others. Errors: I/O.
    pub(crate) fn look_at<const N: usize>(&self, offset: u64) -> io::Result<Option<Vec<u8>>> {
        let Origin::File(file, start) = &self.origin else {
            return Ok(None);
        };
        let mut bytes = [0; N];
        let read = file.read_at(&mut bytes, offset.saturating_add(*start))?;
        Ok(bytes.get(..read).map(<[u8]>::to_vec))
    }

    /// Consumes `count` bytes, or as many as are in memory.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        let count = count.min(self.filled - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Skips `count` bytes, without reading an uncompressed file. Returns whether the part has that
    /// many.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<bool> {
        let at_hand = (self.filled - self.start) as u64;
        if let (Ok(count), true) = (usize::try_from(count), count <= at_hand) {
            self.advance(count);
            return Ok(true);
        }
        if let Origin::File(file, start) = &self.origin {
            let target = self.offset.saturating_add(count);
            (self.start, self.filled, self.offset) = (0, 0, target.min(self.end));
            return Ok(target <= self.end.min(file.metadata()?.len().saturating_sub(*start)));
        }
        let mut left = count;
        while left > 0 {
            let here = self.ask(1)?.len() as u64;
            if here == 0 {
                return Ok(false);
            }
            let step = usize::try_from(here.min(left)).unwrap_or(usize::MAX);
            self.advance(step);
            left -= step as u64;
        }
        Ok(true)
    }

    #[cold]
    fn fill(&mut self, count: usize) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
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
            let most = free.len().min(left);
            let free = free.get_mut(..most).unwrap_or_default();
            let read = match &mut self.origin {
                _ if most == 0 => Ok(0),
                Origin::File(file, start) => file.read_at(free, at.saturating_add(*start)),
                Origin::Members(members) => members.read(free),
                Origin::Stream(stream) => stream.read(free),
            };
            match read {
                Ok(0) => break,
                Ok(more) => self.filled += more,
                Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
                // A truncated gzip stream; treated like a file that ends here.
                Err(fault) if fault.kind() == ErrorKind::UnexpectedEof => break,
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_part_ends_where_it_was_told_to() {
        let file = file(b"0123456789");
        let mut window = Window::of_file(&file, 0, 2, 5);
        assert_eq!(window.ask(2).unwrap(), b"234");
        window.advance(1);
        assert_eq!((window.offset(), window.ask(9).unwrap()), (3, &b"34"[..]));
    }

    #[test]
    fn what_is_skipped_is_not_seen() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
        let file = file(&bytes);
        let of_stream = Window::of_stream(Box::new(&bytes[..]));
        for mut window in [Window::of_file(&file, 0, 0, 3 << 20), of_stream] {
            window.ask(1).unwrap();
            assert!(window.skip((2 << 20) + 7).unwrap());
            assert_eq!(window.ask(1).unwrap()[0], 7);
            assert!(!window.skip(2 << 20).unwrap());
        }
    }
}
