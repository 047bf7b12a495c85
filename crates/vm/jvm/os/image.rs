//! An image of memory that a fork does not copy, because it is mapped shared: copied before the
//! fork, it takes that memory's place in the child.

use super::answers::done;
use super::memory_file::memory_file;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;

/// Memory is populated and copied in pieces of at most this many bytes.
const PIECE_BYTES: u64 = 4 << 20;
const PAGE_BYTES: u64 = 4096;

/// Room for an image, and then the image.
#[derive(Debug)]
pub struct Image {
    /// The memory as a file, for the child's mappings.
    file: OwnedFd,
    /// Mappings to read, each with its place in its file.
    seconds: Vec<(SecondMapping, FilePlace)>,
    /// Where this process has mapped it.
    start: u64,
    bytes: u64,
    pieces: OnceLock<Vec<Piece>>,
    /// How many pieces a thread has taken, and how many are copied.
    taken: AtomicUsize,
    copied: AtomicUsize,
    failed: AtomicBool,
}

/// A range of addresses, and its place in the image.
#[derive(Clone, Debug)]
struct Piece {
    range: Range<u64>,
    place: u64,
    /// Where a second mapping has the same memory; `None` if it is mapped when it is copied.
    source: Option<u64>,
}

/// The inode of a file, and an offset in it.
pub type FilePlace = (u64, u64);

/// Shared memory that this process has mapped once more, at addresses that nothing else knows. Its
/// pages are there, so that reading them meets no page fault. It is unmapped on drop.
#[derive(Debug)]
pub struct SecondMapping(Range<u64>);

impl SecondMapping {
    /// Maps again what is mapped shared from here on; `None` if it is not, or the system refuses.
    /// No forked process has it.
    pub fn of(range: &Range<u64>) -> Option<Self> {
        let bytes = usize::try_from(range.end - range.start).ok()?;
        // SAFETY: the kernel checks the source (mremap(2)), and chooses new addresses.
        let start = unsafe {
            let start = libc::mremap(range.start as *mut _, 0, bytes, libc::MREMAP_MAYMOVE);
            if start == libc::MAP_FAILED {
                return None;
            }
            libc::madvise(start, bytes, libc::MADV_DONTFORK);
            start as u64
        };
        let second = Self(start..start + (range.end - range.start));
        for part in parts(second.0.clone()) {
            let bytes = usize::try_from(part.end - part.start).ok()?;
            // SAFETY: the range is a part of this value's mapping. An error leaves page faults.
            unsafe { libc::madvise(part.start as *mut _, bytes, libc::MADV_POPULATE_READ) };
        }
        Some(second)
    }

    /// Its addresses.
    pub fn range(&self) -> &Range<u64> {
        &self.0
    }

    /// Where it has this part of its file; `own` is its own place there.
    fn source(&self, own: FilePlace, wanted: FilePlace, bytes: u64) -> Option<u64> {
        let from = wanted.1.checked_sub(own.1)?;
        let is_within = from.checked_add(bytes)? <= self.0.end - self.0.start;
        (own.0 == wanted.0 && is_within).then(|| self.0.start + from)
    }
}

impl Drop for SecondMapping {
    fn drop(&mut self) {
        let bytes = usize::try_from(self.0.end - self.0.start).unwrap_or(0);
        // SAFETY: this value's own mapping, which nothing reads any more.
        unsafe { libc::munmap(self.0.start as *mut _, bytes) };
    }
}

impl Image {
    /// Takes this much memory from the system, piece by piece, as long as `may_go_on` allows it. It
    /// is given back when the value is dropped and no child has mapped it any more.
    pub fn with_room(bytes: u64, may_go_on: impl Fn() -> bool) -> io::Result<Self> {
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        check_length(bytes)?;
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        let file = memory_file(c"hprof image")?;
        // SAFETY: system calls with plain numbers; the mapping is new memory.
        let start = unsafe {
            let fd = file.as_raw_fd();
            let end = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
            done(libc::ftruncate(fd, end))?;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(null_mut(), length, protection, libc::MAP_SHARED, fd, 0);
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            start as u64
        };
        let image = Self {
            file,
            seconds: Vec::new(),
            start,
            bytes,
            pieces: OnceLock::new(),
            taken: AtomicUsize::new(0),
            copied: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        };
        for part in parts(start..start + bytes) {
            if !may_go_on() {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            image.populate(&part)?;
        }
        Ok(image)
    }

    /// Has the kernel provide these pages, so that copying meets no page fault.
    fn populate(&self, part: &Range<u64>) -> io::Result<()> {
        let bytes = usize::try_from(part.end - part.start).map_err(io::Error::other)?;
        let offset = i64::try_from(part.start - self.start).map_err(io::Error::other)?;
        let length = i64::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: the range is a part of this value's mapping, which nothing reads yet.
        unsafe {
            if libc::madvise(part.start as *mut _, bytes, libc::MADV_POPULATE_WRITE) == 0 {
                return Ok(());
            }
            // Before Linux 5.14.
            done(libc::fallocate(self.file.as_raw_fd(), 0, offset, length))
        }
    }

    /// Has pieces be read through these mappings where they have their memory: copying takes half
    /// the time if no memory has to be mapped for it.
    pub fn read_through(&mut self, seconds: Vec<(SecondMapping, FilePlace)>) {
        self.seconds = seconds;
    }

    /// What shall be copied, page by page, for the first call; `false` if there is no room for it.
    /// `place_in_file` tells where in its file a range is mapped from now on until it is copied.
    pub fn plan(
        &self,
        ranges: &[Range<u64>],
        place_in_file: impl Fn(&Range<u64>) -> Option<FilePlace>,
    ) -> bool {
        let mut place = 0;
        let mut pieces = Vec::new();
        for range in ranges {
            let start = range.start - range.start % PAGE_BYTES;
            for part in parts(start..range.end.next_multiple_of(PAGE_BYTES)) {
                let bytes = part.end - part.start;
                let wanted = place_in_file(&part);
                let mut seconds = self.seconds.iter();
                let source = wanted.and_then(|wanted| {
                    seconds.find_map(|(second, own)| second.source(*own, wanted, bytes))
                });
                pieces.push(Piece {
                    range: part,
                    place,
                    source,
                });
                place += bytes;
            }
        }
        place <= self.bytes && self.pieces.set(pieces).is_ok()
    }

    fn pieces(&self) -> &[Piece] {
        self.pieces.get().map_or(&[], Vec::as_slice)
    }

    /// Copies pieces until each has been taken by some thread. Makes no allocation. Each piece must
    /// lie in one shared mapping. What is not mapped any more [fails](Image::has_failed).
    pub fn copy(&self) {
        while let Some(piece) = self
            .pieces()
            .get(self.taken.fetch_add(1, Ordering::Relaxed))
        {
            let target = self.start + piece.place;
            match piece.source {
                Some(source) => {
                    let bytes = usize::try_from(piece.range.end - piece.range.start).unwrap_or(0);
                    // SAFETY: the source lies in a second mapping, of memory that is mapped in the
                    // heap, so its file has it; the target is a part of the image of its own.
                    unsafe {
                        let (source, target) = (source as *const u8, target as *mut u8);
                        std::ptr::copy_nonoverlapping(source, target, bytes);
                    }
                }
                None if copy_shared(&piece.range, target) => {}
                None => self.failed.store(true, Ordering::Relaxed),
            }
            self.copied.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether a piece could not be copied, once all are done.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether all pieces are done.
    pub fn is_copied(&self) -> bool {
        self.copied.load(Ordering::Acquire) == self.pieces().len()
    }

    /// In a child: maps the image to the addresses from which it was copied, private to this
    /// process. All other addresses of `mapped` read as zeros.
    ///
    /// # Safety
    /// This process must be a forked child with a single thread, and nothing may refer to memory at
    /// these addresses but the JVM, whose heap it is.
    pub unsafe fn take_place(&self, mapped: &[Range<u64>]) -> io::Result<()> {
        for range in mapped {
            // SAFETY: the caller says that only the JVM, whose heap this is, refers to it.
            unsafe { map(range, None)? };
        }
        for piece in merged(self.pieces()) {
            // SAFETY: the pieces lie within the heap, to which only the JVM refers.
            unsafe { map(&piece.range, Some((&self.file, piece.place)))? };
        }
        Ok(())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: this value's own mapping, to which nothing refers.
        unsafe {
            libc::munmap(
                self.start as *mut _,
                usize::try_from(self.bytes).unwrap_or(0),
            )
        };
    }
}

/// An error if this process may write no file of this length (RLIMIT_FSIZE): the kernel would send
/// SIGXFSZ.
pub(super) fn check_length(bytes: u64) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the record outlives the call.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    if limit.rlim_cur != libc::RLIM_INFINITY && limit.rlim_cur < bytes {
        let (most, bytes) = (limit.rlim_cur >> 20, bytes >> 20);
        let why =
            format!("an image of {bytes} MiB is longer than a file may be (ulimit -f: {most} MiB)");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(())
}

/// Copies a part of a shared mapping to memory of an [`Image`]; `false` if it is none any more.
///
/// The collector may unmap its memory at any time, while the application stands still, too. So a
/// second mapping of the same memory is read, which nobody else knows (mremap(2)).
fn copy_shared(range: &Range<u64>, target: u64) -> bool {
    let bytes = usize::try_from(range.end - range.start).unwrap_or(0);
    // SAFETY: the kernel checks the source, of which it makes a second mapping; the target is a
    // part of an image, into which no other piece is copied.
    unsafe {
        let source = libc::mremap(range.start as *mut _, 0, bytes, libc::MREMAP_MAYMOVE);
        if source == libc::MAP_FAILED {
            return false;
        }
        std::ptr::copy_nonoverlapping(source.cast::<u8>(), target as *mut u8, bytes);
        libc::munmap(source, bytes);
    }
    true
}

/// Maps private memory at these addresses: that of the file from this place on, or zeros.
///
/// # Safety
/// As for [`Image::take_place`].
pub(super) unsafe fn map(range: &Range<u64>, from: Option<(&OwnedFd, u64)>) -> io::Result<()> {
    let bytes = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let (flags, fd, place) = match from {
        Some((file, place)) => (flags, file.as_raw_fd(), place),
        None => (flags | libc::MAP_ANONYMOUS, -1, 0),
    };
    let place = i64::try_from(place).map_err(io::Error::other)?;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller vouches for the addresses.
    let start = unsafe { libc::mmap(range.start as *mut _, bytes, protection, flags, fd, place) };
    match start {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The parts of a range.
fn parts(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let starts = std::iter::successors(Some(range.start), |start| Some(start + PIECE_BYTES));
    let starts = starts.take_while(move |&start| start < range.end);
    starts.map(move |start| start..range.end.min(start + PIECE_BYTES))
}

/// Pieces that continue each other, as one.
fn merged(pieces: &[Piece]) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        match merged.last_mut() {
            // Places follow each other as the pieces do.
            Some(last) if last.range.end == piece.range.start => last.range.end = piece.range.end,
            _ => merged.push(piece.clone()),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Shared memory, as that of ZGC.
    fn shared(bytes: u64) -> Image {
        Image::with_room(bytes, || true).expect("memory")
    }

    fn byte(address: u64) -> u8 {
        // SAFETY: the tests map what they read.
        unsafe { (address as *const u8).read_volatile() }
    }

    fn put(address: u64, value: u8) {
        // SAFETY: the tests map what they write.
        unsafe { (address as *mut u8).write_volatile(value) };
    }

    #[test]
    fn the_image_takes_the_place_of_memory_that_a_fork_shares() {
        let heap = shared(16 * MIB);
        let at = |mib: u64| heap.start + mib * MIB;
        (0..16).for_each(|mib| put(at(mib), 1));
        let image = shared(13 * MIB);
        assert!(image.plan(&[at(0)..at(9), at(10) + 4096..at(12) + 1], |_| None));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| image.copy());
            }
        });
        assert!(image.is_copied() && !image.has_failed());
        put(at(3), 2);
        // SAFETY: the child makes system calls, and reads and writes mapped memory.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let taken = image.take_place(&[at(0)..at(16); 1]).is_ok();
                let seen: Vec<u8> = (0..16).map(|mib| byte(at(mib))).collect();
                put(at(4), 9);
                let expected = [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0];
                libc::_exit(i32::from(!taken || seen != expected));
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(status, 0);
        }
        assert_eq!((byte(at(3)), byte(at(4))), (2, 1));
    }

    /// A piece is read there if the second mapping has all of it, wherever the heap is mapped.
    #[test]
    fn a_second_mapping_is_read_where_it_has_the_memory() {
        let heap = shared(16 * MIB);
        (0..16).for_each(|mib| put(heap.start + mib * MIB, u8::try_from(mib).expect("small")));
        let second = SecondMapping::of(&(heap.start + 4 * MIB..heap.start + 12 * MIB));
        let second = second.expect("a mapping");
        let from = second.range().start;
        let mut image = shared(16 * MIB);
        image.read_through(vec![(second, (7, 4 * MIB))]);
        let place = |range: &Range<u64>| Some((7, range.start - heap.start));
        assert!(image.plan(&[heap.start..heap.start + 16 * MIB; 1], place));
        let sources = image.pieces().iter().map(|piece| piece.source);
        let expected = [None, Some(from), Some(from + 4 * MIB), None];
        assert_eq!(sources.collect::<Vec<_>>(), expected);
        image.copy();
        assert!(image.is_copied() && !image.has_failed());
        let copied = (0..16).map(|mib| byte(image.start + mib * MIB));
        assert_eq!(copied.collect::<Vec<_>>(), (0..16).collect::<Vec<u8>>());
        let other = shared(16 * MIB);
        assert!(other.plan(&[heap.start..heap.start + 4 * MIB; 1], place));
        assert_eq!(other.pieces().first().and_then(|piece| piece.source), None);
    }

    #[test]
    fn what_is_not_mapped_shared_fails() {
        let heap = shared(8192);
        let (unmapped, private) = (heap.start + (1 << 40), vec![1_u8; 16384]);
        let private = (private.as_ptr() as u64).next_multiple_of(PAGE_BYTES);
        for start in [unmapped, private] {
            let image = shared(8192);
            let ranges = [heap.start..heap.start + 4096, start..start + 4096];
            assert!(image.plan(&ranges, |_| None));
            image.copy();
            assert!(image.is_copied() && image.has_failed());
        }
    }

    #[test]
    fn what_does_not_fit_is_not_planned() {
        let image = shared(8192);
        assert!(!image.plan(&[4096..12289; 1], |_| None));
        assert!(image.plan(&[4096..12288; 1], |_| None));
        assert!(Image::with_room(4096, || false).is_err());
    }
}
