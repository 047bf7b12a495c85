//! A compressed file whose members are known, decompressed from any of them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use reader::{unpacked_from, Members};

/// Decompresses from a member on.
pub(crate) struct Unpacking<'f> {
    file: &'f File,
    /// Offset in the file at which the dump starts.
    start: u64,
    members: &'f Members,
    /// The following bytes; `None` before the first request.
    stream: Option<Box<dyn Read + 'f>>,
}

impl<'f> Unpacking<'f> {
    /// The dump that starts at this offset of a file and has these members.
    pub(crate) fn new(file: &'f File, start: u64, members: &'f Members) -> Self {
        Self {
            file,
            start,
            members,
            stream: None,
        }
    }

    /// Goes to the last member before a wanted offset of the dump, unless reading on from the bytes
    /// at hand, `from` to `read`, is as short. Returns the start of the member.
    pub(crate) fn restart(&mut self, wanted: u64, from: u64, read: u64) -> Option<u64> {
        let (plain, packed) = self.members.before(wanted);
        if self.stream.is_some() && wanted >= from && plain <= read {
            return None;
        }
        self.stream = Some(unpacked_from(At {
            file: self.file,
            offset: self.start.saturating_add(packed),
        }));
        Some(plain)
    }
}

impl Read for Unpacking<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match &mut self.stream {
            Some(stream) => stream.read(to),
            None => Ok(0),
        }
    }
}

/// A file from an offset on. Others may read the file at the same time.
struct At<'f> {
    file: &'f File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(to, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}
