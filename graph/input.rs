//! The file of a dump, plain or compressed, which is read several times.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use reader::Budget;

use crate::window::Window;

/// A dump's file, and the facts about it.
pub struct Input<'p> {
    file: File,
    /// Offset in the file at which the dump starts.
    start: u64,
    packed: bool,
    /// Bytes on disk.
    disk_bytes: u64,
    progress: &'p (dyn Fn(u64) + Sync),
}

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("file", &self.file)
            .field("packed", &self.packed)
            .finish_non_exhaustive()
    }
}

impl<'p> Input<'p> {
    /// The dump that starts at the file's position. `progress` is called with the number of bytes read; each pass
    /// reports the whole file once. Errors: the file cannot be read, or cannot seek (a pipe, for example).
    pub fn new(mut file: File, progress: &'p (dyn Fn(u64) + Sync)) -> io::Result<Self> {
        let start = file.stream_position()?;
        let packed = reader::opened(&file)?.1;
        let disk_bytes = file.metadata()?.len().saturating_sub(start);
        Ok(Self {
            file,
            start,
            packed,
            disk_bytes,
            progress,
        })
    }

    /// Whether the file is gzip, so that it can only be read from the start.
    pub(crate) fn is_packed(&self) -> bool {
        self.packed
    }

    /// Most memory for the tables built from the file.
    pub(crate) fn budget(&self) -> Budget {
        Budget::for_file(self.disk_bytes)
    }

    /// Reports bytes that have been read.
    pub(crate) fn note(&self, bytes: u64) {
        (self.progress)(bytes);
    }

    /// The uncompressed bytes from the start.
    pub(crate) fn whole(&self) -> io::Result<Window<'_>> {
        if !self.packed {
            return Ok(self.part(0, u64::MAX - self.start));
        }
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(self.start))?;
        let read = Arc::default();
        let counted = Counted {
            file,
            read: Arc::clone(&read),
        };
        Ok(Window::of_stream(Box::new(Noting {
            from: reader::opened_ahead(counted)?.0,
            read,
            progress: self.progress,
        })))
    }

    /// A part of an uncompressed file, by offsets in the dump.
    pub(crate) fn part(&self, offset: u64, end: u64) -> Window<'_> {
        Window::of_file(&self.file, self.start, offset, end)
    }
}

/// A compressed file that counts how far it has been read.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// What such a file contains; reports the count.
struct Noting<'p> {
    from: Box<dyn Read>,
    read: Arc<AtomicU64>,
    progress: &'p (dyn Fn(u64) + Sync),
}

impl Read for Noting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (self.progress)(self.read.swap(0, Ordering::Relaxed));
        self.from.read(into)
    }
}
