//! A compressed file whose members are known, decompressed from any of them.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use crate::members::Members;
use crate::plain_file::{At, PlainFile};

/// Decompresses from a member on.
pub(crate) struct Unpacking<'f> {
    file: PlainFile,
    members: &'f Members,
    /// The following bytes; `None` before the first request.
    stream: Option<Box<MultiGzDecoder<At>>>,
}

impl<'f> Unpacking<'f> {
    /// The compressed file that has these members.
    pub(crate) fn new(file: PlainFile, members: &'f Members) -> Self {
        Self {
            file,
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
        let from = At::new(self.file.clone(), packed);
        self.stream = Some(Box::new(MultiGzDecoder::new(from)));
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
