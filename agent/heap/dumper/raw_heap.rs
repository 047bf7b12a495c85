//! HotSpot's file inside the application, which may need the disk and the memory that a translation
//! takes.

use crate::ending;
use crate::heap::error::DumpError;
use crate::heap::left::memory_left;
use headroom::MemoryLeft;
use std::io::{self, Read};
use translation::Surroundings;
use writer::{RawFile, RawReader};

/// Bytes of HotSpot's file that are given back at a time.
const GIVEN_BACK_BYTES: u64 = 64 << 20;

/// HotSpot's file.
#[derive(Debug)]
pub(super) struct RawHeap {
    file: RawFile,
    memory: MemoryLeft,
}

impl RawHeap {
    /// This file.
    pub(super) fn new(file: RawFile) -> Result<Self, DumpError> {
        Ok(Self {
            file,
            memory: memory_left()?,
        })
    }
}

impl Surroundings for RawHeap {
    fn open(&self) -> Box<dyn Read + '_> {
        Box::new(self.file.reader())
    }

    fn open_finally(&self) -> Box<dyn Read + '_> {
        Box::new(GivingBack {
            file: &self.file,
            reader: self.file.reader(),
            given_back: 0,
        })
    }

    fn show_life(&self) {
        ending::show_life();
    }

    fn too_little_memory(&self) -> Option<u64> {
        self.memory.too_little()
    }
}

/// Reads a file that nobody needs any more behind what was read.
struct GivingBack<'r> {
    file: &'r RawFile,
    reader: RawReader<'r>,
    given_back: u64,
}

impl Read for GivingBack<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.reader.offset() >= self.given_back + GIVEN_BACK_BYTES {
            self.file.give_back(self.given_back, GIVEN_BACK_BYTES);
            self.given_back += GIVEN_BACK_BYTES;
        }
        self.reader.read(buffer)
    }
}
