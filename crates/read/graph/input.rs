//! The file of a dump, compressed or not, which is read several times.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use reader::{Budget, FoundMembers, Members};

use crate::unpacking::Unpacking;
use crate::window::Window;

/// Most bytes that are decompressed to reach an offset: HotSpot's members have at most 1 MiB, and
/// this agent's less.
const GAP_BYTES_MAX: u64 = 4 << 20;

/// A dump's file, and the facts about it.
pub struct Input<'p> {
    file: File,
    /// Offset in the file at which the dump starts.
    start: u64,
    packed: bool,
    /// The members of a compressed file, if they are close enough to each other to read from any of
    /// them.
    members: Option<Members>,
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
    /// The dump that starts at the file's position. `progress` is called with the number of bytes
    /// read; each pass reports the whole file once. Errors: the file cannot be read, or cannot seek
    /// (a pipe, for example).
    pub fn new(mut file: File, progress: &'p (dyn Fn(u64) + Sync)) -> io::Result<Self> {
        let start = file.stream_position()?;
        let packed = reader::opened(&file)?.1;
        let disk_bytes = file.metadata()?.len().saturating_sub(start);
        Ok(Self {
            file,
            start,
            packed,
            members: None,
            disk_bytes,
            progress,
        })
    }

    /// Whether the file is gzip.
    pub(crate) fn is_packed(&self) -> bool {
        self.packed
    }

    /// Whether the file can only be read from the start.
    pub(crate) fn is_stream(&self) -> bool {
        self.packed && self.members.is_none()
    }

    /// Stores the members that were found while `read_bytes` of the dump were read.
    pub(crate) fn learn(&mut self, members: Members, read_bytes: u64) {
        let are_near = members.gap_bytes(read_bytes) <= GAP_BYTES_MAX;
        self.members = are_near.then_some(members);
    }

    /// Most memory for the tables built from the file.
    pub(crate) fn budget(&self) -> Budget {
        Budget::for_file(self.disk_bytes)
    }

    /// The memory limit for a gzip file: its contents may be a thousand times as long.
    pub(crate) fn packed_budget(&self) -> Option<Budget> {
        self.packed.then(|| self.budget())
    }

    /// Reports that a part has been read, by offsets in the dump.
    pub(crate) fn note(&self, offset: u64, end: u64) {
        let on_disk = |at: u64| self.members.as_ref().map_or(at, |all| all.before(at).1);
        (self.progress)(on_disk(end).saturating_sub(on_disk(offset)));
    }

    /// The uncompressed bytes from the start.
    pub(crate) fn whole(&self) -> io::Result<Window<'_>> {
        Ok(self.first()?.0)
    }

    /// Like [`Input::whole`]; also returns the members of a compressed file, which are found
    /// meanwhile.
    pub(crate) fn first(&self) -> io::Result<(Window<'_>, Option<FoundMembers>)> {
        if !self.packed {
            return Ok((self.part(0, u64::MAX - self.start), None));
        }
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(self.start))?;
        let read = Arc::default();
        let counted = Counted {
            file,
            read: Arc::clone(&read),
        };
        let (from, members) = reader::members_ahead(counted)?;
        let window = Window::of_stream(Box::new(Noting {
            from,
            read,
            progress: self.progress,
        }));
        Ok((window, Some(members)))
    }

    /// A part of the dump, for a file that is no stream. For a compressed file, call `aim` first.
    pub(crate) fn part(&self, offset: u64, end: u64) -> Window<'_> {
        match &self.members {
            Some(members) => Window::of_members(Unpacking::new(&self.file, self.start, members)),
            None => Window::of_file(&self.file, self.start, offset, end),
        }
    }
}

/// A compressed file that counts the bytes read.
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

/// The contents of such a file; reports the count.
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
