//! The file of a dump, compressed or not, which is read several times.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use reader::{At, Budget, FoundMembers, Members, PlainFile, Source};

/// Most bytes that are decompressed to reach an offset: HotSpot's members have at most 1 MiB, and
/// this agent's less.
const GAP_BYTES_MAX: u64 = 4 << 20;

/// A dump's file, and the facts about it.
pub struct Input<'p> {
    file: PlainFile,
    packed: bool,
    /// The members of a compressed file, if they are close enough to each other to read from any of
    /// them.
    members: Option<Members>,
    /// Bytes on disk that were read and not reported.
    read: Arc<AtomicU64>,
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
        file.seek(io::SeekFrom::Start(start))?;
        let read = Arc::new(AtomicU64::new(0));
        let to = Arc::clone(&read);
        let note = move |bytes| {
            to.fetch_add(bytes, Ordering::Relaxed);
        };
        Ok(Self {
            file: PlainFile::new(file, note)?,
            packed,
            members: None,
            read,
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
        Budget::for_file(self.file.end())
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
    pub(crate) fn whole(&self) -> io::Result<Source<'_>> {
        Ok(self.first()?.0)
    }

    /// Like [`Input::whole`]; also returns the members of a compressed file, which are found
    /// meanwhile.
    pub(crate) fn first(&self) -> io::Result<(Source<'_>, Option<FoundMembers>)> {
        if !self.packed {
            return Ok((self.parts(), None));
        }
        let (from, members) = reader::members_ahead(At::new(self.file.clone(), 0))?;
        let noting = Noting {
            from,
            read: &self.read,
            progress: self.progress,
        };
        Ok((Source::new(Box::new(noting)), Some(members)))
    }

    /// Parts of the dump, for a file that is no stream. For a compressed file, call `aim` first.
    pub(crate) fn parts(&self) -> Source<'_> {
        match &self.members {
            Some(members) => Source::of_members(self.file.clone(), members),
            None => Source::of_file(self.file.clone()),
        }
    }
}

/// The contents of a compressed file; reports the bytes read of it.
struct Noting<'p> {
    from: Box<dyn Read>,
    read: &'p AtomicU64,
    progress: &'p (dyn Fn(u64) + Sync),
}

impl Read for Noting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (self.progress)(self.read.swap(0, Ordering::Relaxed));
        self.from.read(into)
    }
}
