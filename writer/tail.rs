//! The position in a file after the head, from which another process continues. Writes can bypass
//! the page cache, and leave holes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::failed;
use crate::holes::write_around;
use crate::stream::Stream;
use crate::{Floor, GzipLevel, WriteError};

/// Bytes per write past the cache.
const CHUNK_BYTES: usize = 1 << 20;
/// Alignment of such a write in file and memory, and of its length: the largest block of any disk.
const BLOCK_BYTES: usize = 4096;

/// The position in a `.part` file after the head, from which another process continues.
///
/// It has its own descriptor, which shares the file offset with the first: each process writes
/// after what the other one has written. So only one of them may write at a time. For any thread,
/// and for a forked child.
#[derive(Debug)]
pub struct Tail {
    file: File,
    path: PathBuf,
    gzip: Option<GzipLevel>,
    cache: Cache,
    floor: Option<Floor>,
}

/// Whether appended bytes go through the page cache.
#[derive(Debug)]
enum Cache {
    /// Yes.
    Used,
    /// Bypassed if possible, because the file will not be read soon. Decided at the first bytes, in
    /// the process that writes.
    Unwanted,
    /// No.
    Passed(Chunk),
    /// Neither: it is a stream, which has no positions and no holes.
    Stream(Stream),
}

/// Bytes on their way to the disk, and the descriptor for writing them.
#[derive(Debug)]
struct Chunk {
    direct: File,
    /// One block longer than needed, so that the chunk can start at an aligned address.
    room: Vec<u8>,
    /// Index in `room` at which the chunk starts.
    start: usize,
    /// Bytes in it.
    filled: usize,
    /// The chunk's offset in the file: the start of a block, unless the chunk is empty.
    offset: u64,
}

impl Tail {
    /// A duplicate of this descriptor.
    pub(crate) fn of(
        file: &File,
        path: &Path,
        gzip: Option<GzipLevel>,
    ) -> Result<Self, WriteError> {
        let file = file
            .try_clone()
            .map_err(|error| failed(path, "having its descriptor duplicated", &error))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            gzip,
            cache: Cache::Used,
            floor: None,
        })
    }

    /// The non-blocking end of a stream; the path is for messages.
    pub(crate) fn of_stream(
        file: File,
        stream: Stream,
        path: &Path,
        gzip: Option<GzipLevel>,
    ) -> Self {
        Self {
            file,
            path: path.to_owned(),
            gzip,
            cache: Cache::Stream(stream),
            floor: None,
        }
    }

    /// Keeps this space free.
    pub(crate) fn above(mut self, floor: Option<Floor>) -> Self {
        self.floor = floor;
        self
    }

    /// Writes appended bytes past the page cache, if the file is on a disk that supports it.
    ///
    /// A dump is synced before it gets its name, so the cache would not make anything faster: the
    /// processor would copy every page into it, and evict the application's files from it, for a
    /// file that will not be read soon. Appended bytes are only in the file after [`Tail::flush`].
    pub(crate) fn past_the_cache(mut self) -> Self {
        self.cache = Cache::Unwanted;
        self
    }

    /// The compression level; `None` if the head is not compressed.
    pub fn gzip(&self) -> Option<GzipLevel> {
        self.gzip
    }

    /// The `.part` file, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes to the file; long runs of zeros become holes. The last bytes must not be
    /// zeros, or the file is too short.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.append_telling(bytes, &mut |_| {})
    }

    /// Like [`Tail::append`], and reports the size of each write: a slow reader of a stream needs
    /// many.
    pub(crate) fn append_telling(
        &mut self,
        bytes: &[u8],
        taken: &mut dyn FnMut(usize),
    ) -> Result<(), WriteError> {
        if matches!(self.cache, Cache::Unwanted) {
            self.cache = Chunk::of(&mut self.file).map_or(Cache::Used, Cache::Passed);
        }
        if let Some(floor) = &self.floor {
            floor.check(&self.file, &self.path, bytes.len())?;
        }
        let appended = match &mut self.cache {
            Cache::Passed(chunk) => chunk.append(&self.file, bytes),
            Cache::Stream(stream) => return stream.send(&mut self.file, bytes, taken),
            _ => append(&mut self.file, bytes),
        };
        appended.map_err(|error| failed(&self.path, "being written", &error))?;
        taken(bytes.len());
        Ok(())
    }

    /// Returns when everything appended is in the file, and other writers continue after it.
    pub(crate) fn flush(&mut self) -> Result<(), WriteError> {
        let Cache::Passed(chunk) = &mut self.cache else {
            return Ok(());
        };
        let flushed = chunk.flush(&self.file);
        let flushed = flushed.and_then(|()| self.file.seek(SeekFrom::Start(chunk.offset)));
        flushed
            .map(drop)
            .map_err(|error| failed(&self.path, "being written", &error))
    }

    /// The same position again.
    pub(crate) fn duplicate(&self) -> Result<Self, WriteError> {
        let duplicate = Self::of(&self.file, &self.path, self.gzip)?.above(self.floor);
        Ok(match &self.cache {
            Cache::Stream(stream) => Self {
                cache: Cache::Stream(stream.clone()),
                ..duplicate
            },
            _ => duplicate,
        })
    }
}

impl AsRawFd for Tail {
    /// The descriptor that a forked child must keep open.
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl Chunk {
    /// An empty chunk at the position of `file`; `None` if the file is not on a disk, or if there
    /// is no memory.
    fn of(file: &mut File) -> Option<Self> {
        // A file system without its own disk (in memory, network, overlay) has a device number with
        // major 0. Direct writes there have no effect, or an unknown one.
        let is_on_disk = libc::major(file.metadata().ok()?.dev()) != 0;
        if !is_on_disk {
            return None;
        }
        // Opened by descriptor, because the name may belong to another file by now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let direct = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(path)
            .ok()?;
        let mut room = Vec::new();
        room.try_reserve_exact(CHUNK_BYTES + BLOCK_BYTES).ok()?;
        room.resize(CHUNK_BYTES + BLOCK_BYTES, 0);
        let start = room.as_ptr().align_offset(BLOCK_BYTES);
        Some(Self {
            direct,
            room,
            start,
            filled: 0,
            offset: file.stream_position().ok()?,
        })
    }

    fn append(&mut self, file: &File, mut bytes: &[u8]) -> io::Result<()> {
        // Completes the block that an earlier write has begun.
        let missing = self.offset.next_multiple_of(BLOCK_BYTES as u64) - self.offset;
        if missing > 0 {
            let missing = usize::try_from(missing).unwrap_or(0).min(bytes.len());
            let (first, rest) = bytes.split_at(missing);
            file.write_all_at(first, self.offset)?;
            self.offset += missing as u64;
            bytes = rest;
        }
        while !bytes.is_empty() {
            let from = self.start + self.filled;
            let room = self.room.get_mut(from..self.start + CHUNK_BYTES);
            let room = room.unwrap_or_default();
            let (now, rest) = bytes.split_at(bytes.len().min(room.len()));
            if let Some(room) = room.get_mut(..now.len()) {
                room.copy_from_slice(now);
            }
            self.filled += now.len();
            bytes = rest;
            if self.filled == CHUNK_BYTES {
                self.write(file)?;
            }
        }
        Ok(())
    }

    /// Writes a full chunk: whole blocks, as are its pieces between holes.
    fn write(&mut self, file: &File) -> io::Result<()> {
        write_around(self.bytes(), self.offset, |piece, at| {
            // Bytes that the disk rejects here are written in the usual way, which reports any
            // error.
            let written = self.direct.write_at(piece, at).unwrap_or(0);
            let rest = piece.get(written..).unwrap_or_default();
            file.write_all_at(rest, at + written as u64)
        })?;
        self.empty();
        Ok(())
    }

    /// Writes the rest of the chunk through the cache.
    fn flush(&mut self, file: &File) -> io::Result<()> {
        file.write_all_at(self.bytes(), self.offset)?;
        self.empty();
        Ok(())
    }

    fn empty(&mut self) {
        self.offset += self.filled as u64;
        self.filled = 0;
    }

    fn bytes(&self) -> &[u8] {
        let bytes = self.room.get(self.start..self.start + self.filled);
        bytes.unwrap_or_default()
    }
}

/// Appends at the file's position. File systems that only support sequential writes get the zeros,
/// too.
fn append(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let start = file.stream_position()?;
    match write_around(bytes, start, |piece, at| file.write_all_at(piece, at)) {
        Err(error) if is_refused(&error) => append_all(file, bytes, start),
        Err(error) => Err(error),
        Ok(()) => file
            .seek(SeekFrom::Start(start + bytes.len() as u64))
            .map(drop),
    }
}

/// Writes zeros up to `start`, where the file has holes, and then these bytes, sequentially.
fn append_all(file: &mut File, bytes: &[u8], start: u64) -> io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    io::copy(&mut io::repeat(0).take(start.saturating_sub(end)), file)?;
    let written = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
    file.write_all(bytes.get(written..).unwrap_or_default())
}

/// Whether a write was rejected because of its position, and not because of a problem with the
/// disk.
fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, Unsupported};
    matches!(error.kind(), InvalidInput | Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Beside the test binary, which is on a disk: folders for temporary files may be in memory.
    fn directory() -> tempfile::TempDir {
        let test = std::env::current_exe().unwrap();
        tempfile::tempdir_in(test.parent().unwrap()).unwrap()
    }

    /// A file with a head of this many bytes, and its tail.
    fn tail(path: &Path, head_bytes: usize) -> (File, Tail) {
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .unwrap();
        file.write_all(&vec![b'h'; head_bytes]).unwrap();
        let tail = Tail::of(&file, path, None).unwrap().past_the_cache();
        (file, tail)
    }

    fn numbers(bytes: usize, seed: usize) -> Vec<u8> {
        let round = (0..251_u8).map(|number| number.wrapping_mul(31)).cycle();
        round.skip(seed).take(bytes).collect()
    }

    #[test]
    fn pieces_of_any_size_come_behind_the_head_in_their_order() {
        let directory = directory();
        for head_bytes in [0, 1, 4095, 4096, 5000] {
            let path = directory.path().join(head_bytes.to_string());
            let (mut file, mut tail) = tail(&path, head_bytes);
            let mut expected = vec![b'h'; head_bytes];
            let sizes = [1, 0, 4096, 3 << 20, 17, (1 << 20) - 17, 1 << 20, 70_000];
            for (seed, bytes) in sizes.into_iter().enumerate() {
                let piece = numbers(bytes, seed);
                tail.append(&piece).unwrap();
                expected.extend(piece);
                if seed == 4 {
                    tail.flush().unwrap();
                    assert!(fs::read(&path).unwrap() == expected, "{head_bytes}");
                }
            }
            tail.flush().unwrap();
            tail.flush().unwrap();
            // Another user of the descriptor continues after all that.
            file.write_all(b"end").unwrap();
            expected.extend(b"end");
            assert!(fs::read(&path).unwrap() == expected, "{head_bytes}");
        }
    }

    #[test]
    fn a_file_on_a_disk_is_written_past_the_cache() {
        let directory = directory();
        let (file, mut tail) = tail(&directory.path().join("a"), 10);
        tail.append(b"one").unwrap();
        let is_on_disk = libc::major(file.metadata().unwrap().dev()) != 0;
        assert_eq!(matches!(tail.cache, Cache::Passed(_)), is_on_disk);
    }

    #[test]
    fn a_file_in_memory_is_written_as_others_are() {
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = directory.path().join("a");
        let (_file, mut tail) = tail(&path, 2);
        tail.append(b"one").unwrap();
        assert!(matches!(tail.cache, Cache::Used));
        assert_eq!(fs::read(&path).unwrap(), b"hhone");
    }

    #[test]
    fn zeros_take_no_room() {
        let in_memory = tempfile::tempdir_in("/dev/shm").ok();
        for directory in [Some(directory()), in_memory].into_iter().flatten() {
            let path = directory.path().join("a");
            let (mut file, mut tail) = tail(&path, 100);
            let mut expected = vec![b'h'; 100];
            for zeros in [5 << 20, 3 << 20, (300 << 10) + 1, 1000] {
                let piece = [vec![0; zeros], vec![1], vec![0; zeros]].concat();
                tail.append(&piece).unwrap();
                expected.extend(piece);
            }
            tail.append(b"last").unwrap();
            tail.flush().unwrap();
            file.write_all(b"end").unwrap();
            expected.extend(b"lastend");
            assert!(fs::read(&path).unwrap() == expected);
            // What file systems do with holes varies, but this one is known.
            let taken_bytes = fs::metadata(&path).unwrap().blocks() * 512;
            let is_known = directory.path().starts_with("/dev/shm");
            assert!(!is_known || taken_bytes < 200 << 10, "{taken_bytes}");
        }
    }

    #[test]
    fn where_holes_are_refused_the_zeros_are_written() {
        let directory = directory();
        // A hole before these bytes, one in the middle of them, and none.
        for (written, start) in [(100, 300_000), (300_000, 200_000), (100, 100)] {
            let path = directory.path().join(start.to_string());
            let mut expected = numbers(written, 3);
            fs::write(&path, &expected).unwrap();
            expected.resize(written.max(start), 0);
            let mut bytes = expected[start..].to_vec();
            bytes.extend(numbers(200_000, 5));
            expected.truncate(start);
            expected.extend(&bytes);
            let mut file = File::options().write(true).open(&path).unwrap();
            append_all(&mut file, &bytes, start as u64).unwrap();
            file.write_all(b"end").unwrap();
            expected.extend(b"end");
            assert!(fs::read(&path).unwrap() == expected, "{written} {start}");
        }
    }

    #[test]
    fn what_the_disk_refuses_goes_the_usual_way() {
        let directory = directory();
        let path = directory.path().join("a");
        let (_file, mut tail) = tail(&path, 0);
        tail.append(b"").unwrap();
        if let Cache::Passed(chunk) = &mut tail.cache {
            // An address that no disk accepts.
            chunk.start += 1;
            chunk.room.push(0);
        }
        let piece = numbers(3 << 20, 0);
        tail.append(&piece).unwrap();
        tail.flush().unwrap();
        assert!(fs::read(&path).unwrap() == piece);
    }
}
