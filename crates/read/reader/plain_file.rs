//! An uncompressed file, which several threads can read at different offsets.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread::available_parallelism;

/// The smallest segment that is worth passing to another thread.
const SEGMENT_BYTES_MIN: u64 = 64 << 10;

/// A dump in a file. Offsets are relative to the dump.
#[derive(Clone)]
pub struct PlainFile {
    file: Arc<File>,
    /// Offset in the file at which the dump starts.
    start: u64,
    /// Offset in the dump at which it ends.
    end: u64,
    threads: usize,
    segment_bytes_min: u64,
    progress: Arc<dyn Fn(u64) + Send + Sync>,
}

impl fmt::Debug for PlainFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainFile")
            .field("file", &self.file)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl PlainFile {
    /// The dump from the file's position to its present end, for all processors. Several threads
    /// call `progress` with numbers of bytes read. Errors: the file has no size, or cannot seek.
    pub fn new(mut file: File, progress: impl Fn(u64) + Send + Sync + 'static) -> io::Result<Self> {
        let start = file.stream_position()?;
        let end = file.metadata()?.len().saturating_sub(start);
        Ok(Self {
            file: Arc::new(file),
            start,
            end,
            threads: available_parallelism().map_or(1, usize::from),
            segment_bytes_min: SEGMENT_BYTES_MIN,
            progress: Arc::new(progress),
        })
    }

    /// Sets the number of threads for segments of the heap of at least `segment_bytes_min`. With
    /// one thread, the caller reads all of them.
    pub fn dealt(mut self, threads: usize, segment_bytes_min: u64) -> Self {
        (self.threads, self.segment_bytes_min) = (threads, segment_bytes_min);
        self
    }

    /// Threads that read the heap.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Least bytes of a segment that another thread reads.
    pub(crate) fn segment_bytes_min(&self) -> u64 {
        self.segment_bytes_min
    }

    /// Offset at which the dump ends.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Reads bytes at an offset, as many as one system call gives; none at the end.
    pub(crate) fn read_at(&self, to: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let most = to.len().min(left);
        let to = to.get_mut(..most).unwrap_or_default();
        self.file.read_at(to, self.start.saturating_add(offset))
    }

    /// Reports that bytes have been read.
    pub(crate) fn note(&self, bytes: u64) {
        (self.progress)(bytes);
    }
}

/// A file from an offset on. Others may read the file at the same time.
#[derive(Debug)]
pub struct At {
    file: PlainFile,
    offset: u64,
}

impl At {
    /// The file from this offset on.
    pub fn new(file: PlainFile, offset: u64) -> Self {
        Self { file, offset }
    }
}

impl Read for At {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(to, self.offset)?;
        self.file.note(count as u64);
        self.offset += count as u64;
        Ok(count)
    }
}
