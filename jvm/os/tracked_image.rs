//! An image of private memory that the process goes on writing to: copied in rounds, each of which
//! copies what was written since the one before.

use super::careful_reads;
use super::image::{longest_file, map};
use super::memory_file::{memory_file, MFD_NOEXEC_SEAL};
use super::written_pages::WrittenPages;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes that are copied between two questions whether to go on.
const PIECE_BYTES: u64 = 8 << 20;

/// The image. Each address has its place in a file without gaps, which has memory only for pages
/// that were copied.
#[derive(Debug)]
pub struct TrackedImage {
    /// Dropped first: tracking ends before the memory is given back.
    written: WrittenPages,
    file: OwnedFd,
    within: Range<u64>,
    /// What could not be read in a round, and so counts as unread.
    missed: Vec<Range<u64>>,
}

impl TrackedImage {
    /// An empty image of memory within these addresses, which must be borders of pages. An error if
    /// the kernel cannot say what is written.
    pub fn new(within: Range<u64>) -> io::Result<Self> {
        let written = WrittenPages::open()?;
        let bytes = within.end.saturating_sub(within.start);
        if longest_file().is_some_and(|most| most < bytes) {
            // The kernel would send SIGXFSZ.
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let end = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
        let file = memory_file(c"hprof image", MFD_NOEXEC_SEAL)?;
        // SAFETY: a system call with plain numbers.
        if unsafe { libc::ftruncate(file.as_raw_fd(), end) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            file,
            within,
            written,
            missed: Vec::new(),
        })
    }

    /// Copies what was written since the last round, or was never copied. Each range must be mapped
    /// private. What is unmapped meanwhile stays unread.
    ///
    /// `may_go_on` is asked now and then. If it forbids it, or on an error, there is no image.
    pub fn round(&mut self, ranges: &[Range<u64>], may_go_on: impl Fn() -> bool) -> io::Result<()> {
        let missed = std::mem::take(&mut self.missed);
        for run in common(&missed, ranges) {
            self.copy_or_miss(&run)?;
        }
        for range in ranges {
            // At first all pages are copied: before Linux 6.9 notes of an earlier image may be
            // left.
            let new = self.written.watch(range)?;
            let new = new
                .iter()
                .flat_map(|part| pieces(part).map(|piece| (piece, true)));
            for (piece, is_new) in new.chain(pieces(range).map(|piece| (piece, false))) {
                if !may_go_on() {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                self.copy_piece(piece, is_new)?;
            }
        }
        Ok(())
    }

    /// Copies what was written of a piece, or all of it. The kernel takes notes of a page before it
    /// is copied.
    fn copy_piece(&mut self, piece: Range<u64>, is_new: bool) -> io::Result<()> {
        let mut runs = Vec::new();
        let mut add = |run| {
            runs.push(run);
            Ok(())
        };
        if is_new {
            self.written.take(piece.clone(), |_| Ok(()))?;
            self.written.present(piece, add)?;
        } else {
            self.written.take(piece, &mut add)?;
        }
        runs.iter().try_for_each(|run| self.copy_or_miss(run))
    }

    fn copy_or_miss(&mut self, run: &Range<u64>) -> io::Result<()> {
        match self.copy(run) {
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                self.missed.push(run.clone());
                Ok(())
            }
            copied => copied,
        }
    }

    /// The runs of pages that a round would copy.
    pub fn unread(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Range<u64>>> {
        let mut unread = common(&self.missed, ranges);
        for range in ranges {
            self.written.written(range.clone(), |run| {
                unread.push(run);
                Ok(())
            })?;
        }
        Ok(unread)
    }

    /// Has the image read as zeros where the ranges have no memory.
    pub fn clear_absent(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        for range in ranges {
            self.written
                .absent(range.clone(), |run| self.make_hole(&run))?;
        }
        Ok(())
    }

    fn place(&self, address: u64) -> io::Result<libc::off_t> {
        let place = address.checked_sub(self.within.start);
        let place = place.and_then(|place| libc::off_t::try_from(place).ok());
        place.ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    /// Copies a run of pages. The kernel reads them: the collector may unmap its memory at any
    /// time, which is an error (EFAULT).
    pub fn copy(&self, run: &Range<u64>) -> io::Result<()> {
        let mut from = run.start;
        while from < run.end {
            let bytes = usize::try_from(run.end - from).map_err(io::Error::other)?;
            let place = self.place(from)?;
            let start = from as *const libc::c_void;
            // SAFETY: the kernel checks the addresses that it reads.
            let copied = unsafe { libc::pwrite(self.file.as_raw_fd(), start, bytes, place) };
            match u64::try_from(copied) {
                Ok(copied) if copied > 0 => from += copied,
                _ => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// Has the image read as zeros here.
    fn make_hole(&self, run: &Range<u64>) -> io::Result<()> {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let bytes = libc::off_t::try_from(run.end - run.start).map_err(io::Error::other)?;
        // SAFETY: a system call with plain numbers.
        match unsafe { libc::fallocate(self.file.as_raw_fd(), mode, self.place(run.start)?, bytes) }
        {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// In a child: maps the image to these addresses, private to this process.
    ///
    /// # Safety
    /// As for [`Image::take_place`](super::image::Image::take_place).
    pub unsafe fn take_place(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        for range in ranges {
            let place = u64::try_from(self.place(range.start)?).map_err(io::Error::other)?;
            // SAFETY: the caller's promise.
            unsafe { map(range, Some((&self.file, place)))? };
        }
        Ok(())
    }

    /// The addresses of the mapped pages that differ from the image.
    pub(super) fn differing_pages(&self, ranges: &[Range<u64>]) -> io::Result<Vec<u64>> {
        let mut differing = Vec::new();
        let mut page = vec![0_u8; 4096];
        for address in ranges.iter().flat_map(|range| range.clone().step_by(4096)) {
            let (fd, place) = (self.file.as_raw_fd(), self.place(address)?);
            // SAFETY: the kernel writes to this buffer.
            let read = unsafe { libc::pread(fd, page.as_mut_ptr().cast(), page.len(), place) };
            if usize::try_from(read) != Ok(page.len()) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if careful_reads::copies(&[address], page.len()).is_some_and(|own| own != page) {
                differing.push(address);
            }
        }
        Ok(differing)
    }
}

/// The parts of these runs that are in one of the ranges.
fn common(runs: &[Range<u64>], ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let both = runs.iter().flat_map(|run| {
        let parts = ranges.iter();
        parts.map(|range| run.start.max(range.start)..run.end.min(range.end))
    });
    both.filter(|part| part.start < part.end).collect()
}

/// The parts of a range, cut where no huge page is.
fn pieces(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = range.end;
    let cut = |start: &u64| Some(start - start % PIECE_BYTES + PIECE_BYTES);
    let starts = std::iter::successors(Some(range.start), cut);
    let starts = starts.take_while(move |&start| start < end);
    starts.map(move |start| start..end.min(start - start % PIECE_BYTES + PIECE_BYTES))
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // These are lists of ranges.
mod tests {
    use super::*;
    use crate::os::private_memory::PrivateMemory;

    const PAGE: u64 = 4096;

    #[test]
    fn rounds_copy_what_was_written_and_the_child_reads_the_image() {
        let memory = PrivateMemory::new(5000 * PAGE);
        let at = |page: u64| memory.start() + page * PAGE;
        let Ok(mut image) = TrackedImage::new(at(0)..at(5000)) else {
            return;
        };
        let ranges = [at(0)..at(2000), at(2100)..at(5000)];
        (0..4000).for_each(|page| memory.put(page * PAGE, 1));
        let round = |image: &mut TrackedImage| image.round(&ranges, || true).expect("a round");
        let unread = |image: &TrackedImage| image.unread(&ranges).expect("runs");
        assert_eq!(unread(&image), [at(0)..at(2000), at(2100)..at(4000)]);
        round(&mut image);
        assert_eq!(unread(&image), []);
        [7, 1999, 2050, 4999]
            .into_iter()
            .for_each(|page| memory.put(page * PAGE, 2));
        memory.give_back(100 * PAGE, 10 * PAGE);
        let found = [7, 1999, 4999].map(|page| at(page)..at(page + 1));
        assert_eq!(unread(&image), found);
        round(&mut image);
        assert!(image.round(&ranges, || false).is_err());
        memory.put(2500 * PAGE + 9, 3);
        memory.put(2510 * PAGE, 3);
        memory.put(3000 * PAGE, 1);
        let unread = unread(&image);
        let expected = [2500, 2510, 3000].map(|page| at(page)..at(page + 1));
        assert_eq!(unread, expected);
        unread
            .iter()
            .for_each(|run| image.copy(run).expect("a copy"));
        image.clear_absent(&ranges).expect("holes");
        // SAFETY: the child makes system calls, and reads mapped memory.
        unsafe {
            assert_eq!(image.differing_pages(&ranges).expect("pages"), []);
            memory.put(7 * PAGE, 4);
            let child = libc::fork();
            if child == 0 {
                let differing = image.differing_pages(&ranges).unwrap_or_default();
                let taken = image.take_place(&ranges).is_ok();
                let seen = [7, 8, 105, 1999, 2050, 2500, 4500, 4999].map(|page| {
                    let offset = page * PAGE + 9 * u64::from(page == 2500);
                    memory.get(offset)
                });
                let expected = [2, 1, 0, 2, 2, 3, 0, 2];
                libc::_exit(i32::from(
                    !taken || seen != expected || differing != [at(7)],
                ));
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(status, 0);
        }
    }

    #[test]
    fn ranges_that_are_cut_in_another_way_are_not_copied_again() {
        let memory = PrivateMemory::new(64 * PAGE);
        let at = |page: u64| memory.start() + page * PAGE;
        let Ok(mut image) = TrackedImage::new(at(0)..at(64)) else {
            return;
        };
        (0..64).for_each(|page| memory.put(page * PAGE, 1));
        let first = [at(0)..at(20), at(30)..at(64)];
        image.round(&first, || true).expect("a round");
        for page in [5, 25, 40] {
            image.make_hole(&(at(page)..at(page + 1))).expect("a hole");
        }
        memory.put(50 * PAGE, 2);
        let whole = [at(0)..at(35), at(36)..at(64)];
        image.round(&whole, || true).expect("a round");
        let holes = image.differing_pages(&whole).expect("pages");
        assert_eq!(holes, [at(5), at(40)], "25 is new, 50 was written");
    }

    #[test]
    fn what_is_unmapped_stays_unread() {
        let memory = PrivateMemory::new(8 * PAGE);
        let at = |page: u64| memory.start() + page * PAGE;
        memory.put(0, 1);
        let Ok(mut image) = TrackedImage::new(0..at(64)) else {
            return;
        };
        let run = [PAGE..3 * PAGE, at(0)..at(1)];
        run.iter()
            .for_each(|run| image.copy_or_miss(run).expect("a copy, or none"));
        assert_eq!(
            image.unread(&[0..2 * PAGE]).expect("runs"),
            [PAGE..2 * PAGE]
        );
        assert!(image.copy(&run[0]).is_err());
    }

    #[test]
    fn pieces_are_cut_at_borders() {
        let start = PIECE_BYTES - PAGE;
        let expected = [start..PIECE_BYTES, PIECE_BYTES..PIECE_BYTES + 1];
        assert!(pieces(&(start..PIECE_BYTES + 1)).eq(expected));
        assert_eq!(pieces(&(7..7)).count(), 0);
    }
}
