//! An image of private memory that the process goes on writing to: copied in rounds, each of which
//! copies what was written since the one before.
//!
//! The kernel tells a write once. So nobody else may take notes: beside another userfaultfd there
//! is no image (EBUSY). Who takes notes by `/proc/PID/pagemap` needs none, so up to 64 pages here
//! and there, the witnesses, stay unmarked; if one is found marked, the image is not used. Who
//! takes notes only between two of them stays unseen, as does who took them before the application
//! wrote to all witnesses again.

use super::answers::done;
use super::careful_reads;
use super::image::{check_length, map};
use super::memory_file::memory_file;
use super::written_pages::{joined, without, Pages, Sharing, WrittenPages};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes that are copied between two questions whether to go on.
const PIECE_BYTES: u64 = 8 << 20;
const PAGE_BYTES: u64 = 4096;
/// Witnesses that there are at most, and pages of which one is a witness at most.
const MOST_WITNESSES: u64 = 64;
const PAGES_OF_A_WITNESS: u64 = 64;
/// The part of the witnesses that must have memory in the end.
const LEFT_PART: usize = 8;

/// Why the image may lack what was written.
const TAKEN: &str = "another process also asks the kernel what is written";
const NO_WITNESS: &str = "no page is left that shows whether another process does";

/// The image. Each address has its place in a file without gaps, which has memory only for pages
/// that were copied.
#[derive(Debug)]
pub struct TrackedImage {
    /// Dropped first: tracking ends before the memory is given back.
    written: WrittenPages,
    file: OwnedFd,
    within: Range<u64>,
    sharing: Sharing,
    /// How far each mapping of the memory is from these addresses.
    distances: Vec<u64>,
    /// What is watched, and was never copied.
    new: Vec<Range<u64>>,
    /// What could not be read in a round, and so counts as unread.
    missed: Vec<Range<u64>>,
    /// Pages here and there, from the first round on, which this image never takes, and copies in
    /// each round. If one counts as not written, another process takes what is written
    /// (PM_SCAN_WP_MATCHING), which then is missing here.
    witnesses: Vec<Range<u64>>,
}

impl TrackedImage {
    /// An empty image of private memory within these addresses, which must be borders of pages. An
    /// error if the kernel cannot say what is written.
    pub fn new(within: Range<u64>) -> io::Result<Self> {
        Self::of(within, Sharing::Private, vec![0])
    }

    /// The same of shared memory, which is mapped at these distances from there.
    pub fn of_shared(within: Range<u64>, distances: Vec<u64>) -> io::Result<Self> {
        Self::of(within, Sharing::Shared, distances)
    }

    fn of(within: Range<u64>, sharing: Sharing, distances: Vec<u64>) -> io::Result<Self> {
        let written = WrittenPages::open(sharing)?;
        let bytes = within.end.saturating_sub(within.start);
        check_length(bytes)?;
        let end = libc::off_t::try_from(bytes).map_err(io::Error::other)?;
        let file = memory_file(c"hprof image")?;
        // SAFETY: a system call with plain numbers.
        done(unsafe { libc::ftruncate(file.as_raw_fd(), end) })?;
        Ok(Self {
            file,
            within,
            written,
            sharing,
            distances,
            new: Vec::new(),
            missed: Vec::new(),
            witnesses: Vec::new(),
        })
    }

    /// Has the kernel take notes of this mapping of shared memory.
    pub fn watch(&mut self, mapping: &Range<u64>) -> io::Result<()> {
        let new = self.written.watch(mapping)?;
        let near = self.distances.iter().flat_map(|distance| {
            let near = new.iter().map(|part| moved(part, distance.wrapping_neg()));
            common(
                &near.collect::<Vec<_>>(),
                std::slice::from_ref(&self.within),
            )
        });
        let near = near.collect::<Vec<_>>();
        if !near.is_empty() {
            self.new.extend(near);
            self.new = joined(std::mem::take(&mut self.new));
        }
        Ok(())
    }

    /// Copies what was written since the last round, or was never copied. Each range must be mapped
    /// private, or be [watched](TrackedImage::watch); they are in order. What is unmapped meanwhile
    /// stays unread.
    ///
    /// `may_go_on` is asked now and then. If it forbids it, or on an error, there is no image.
    pub fn round(&mut self, ranges: &[Range<u64>], may_go_on: impl Fn() -> bool) -> io::Result<()> {
        let missed = std::mem::take(&mut self.missed);
        for run in common(&missed, ranges) {
            self.copy_or_miss(&run)?;
        }
        if self.sharing == Sharing::Private {
            for range in ranges {
                // At first all pages are copied: before Linux 6.9 notes of an earlier image may be
                // left.
                self.new.extend(self.written.watch(range)?);
            }
        }
        if self.witnesses.is_empty() {
            self.witnesses = self.choose(ranges)?;
        }
        for range in ranges {
            for piece in pieces(range) {
                if !may_go_on() {
                    // At once: the end of the notes takes time.
                    // SAFETY: a system call with plain numbers.
                    unsafe { libc::ftruncate(self.file.as_raw_fd(), 0) };
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                self.copy_piece(&piece)?;
            }
        }
        let left = self.new.iter().flat_map(|part| without(part, ranges));
        self.new = left.collect();
        self.missed = joined(std::mem::take(&mut self.missed));
        Ok(())
    }

    /// Witnesses among the pages that have memory.
    fn choose(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Range<u64>>> {
        let mut present = Vec::new();
        for range in ranges {
            self.in_each_view(range, |view, from_here| {
                self.written.each(view, Pages::Present, |run| {
                    present.push(moved(&run, from_here));
                    Ok(())
                })
            })?;
        }
        let witnesses = spread(&joined(present));
        for witness in &witnesses {
            // Where it is not mapped, nobody can take it.
            self.in_each_view(witness, |view, _| {
                let _ = self.written.unmark(&view);
                Ok(())
            })?;
        }
        Ok(witnesses)
    }

    /// Calls `on_view` with the range as each mapping has it, and how far these addresses are from
    /// there.
    fn in_each_view(
        &self,
        range: &Range<u64>,
        mut on_view: impl FnMut(Range<u64>, u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut distances = self.distances.iter();
        distances.try_for_each(|&distance| on_view(moved(range, distance), distance.wrapping_neg()))
    }

    /// An error unless all that was written since the first round was told to this image alone.
    fn prove(&self) -> io::Result<()> {
        let mut left = 0;
        for witness in &self.witnesses {
            let mut has_memory = false;
            self.in_each_view(witness, |view, _| {
                self.written.each(view.clone(), Pages::Marked, |_| {
                    Err(io::Error::other(TAKEN))
                })?;
                self.written.each(view, Pages::Present, |_| {
                    has_memory = true;
                    Ok(())
                })
            })?;
            left += usize::from(has_memory);
        }
        match left >= self.witnesses.len().div_ceil(LEFT_PART) {
            true => Ok(()),
            false => Err(io::Error::other(NO_WITNESS)),
        }
    }

    /// Copies what was written of a piece, or never copied. The kernel takes notes of a page before
    /// it is copied.
    fn copy_piece(&mut self, piece: &Range<u64>) -> io::Result<()> {
        let mut runs = common(&self.witnesses, std::slice::from_ref(piece));
        for part in without(piece, &runs) {
            self.in_each_view(&part, |view, from_here| {
                self.written.take(view, |run| {
                    runs.push(moved(&run, from_here));
                    Ok(())
                })
            })?;
        }
        for part in common(std::slice::from_ref(piece), &self.new) {
            match self.sharing {
                Sharing::Shared => runs.push(part),
                Sharing::Private => self.written.each(part, Pages::Present, |run| {
                    runs.push(run);
                    Ok(())
                })?,
            }
        }
        joined(runs)
            .iter()
            .try_for_each(|run| self.copy_or_miss(run))
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

    /// The runs of pages that a round would copy. An error if another process was told of writes in
    /// place of this image.
    pub fn unread(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Range<u64>>> {
        let mut unread = common(&self.missed, ranges);
        if self.sharing == Sharing::Shared {
            unread.extend(common(&self.new, ranges));
        }
        for range in ranges {
            self.in_each_view(range, |view, from_here| {
                self.written.each(view, Pages::Written, |run| {
                    unread.push(moved(&run, from_here));
                    Ok(())
                })
            })?;
        }
        self.prove()?;
        Ok(joined(unread))
    }

    /// Whether nothing was written since the last round.
    pub fn is_current(&self, ranges: &[Range<u64>]) -> io::Result<bool> {
        let mut unread = self.unread(ranges)?.into_iter();
        let witnesses = common(&self.witnesses, ranges);
        let is_unread = unread.any(|run| !without(&run, &witnesses).is_empty());
        Ok(!is_unread && self.differing_pages(&witnesses)?.is_empty())
    }

    /// Has the image read as zeros where the ranges, which are private, have no memory.
    pub fn clear_absent(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        for range in ranges {
            self.written
                .each(range.clone(), Pages::Absent, |run| self.make_hole(&run))?;
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
        done(unsafe { libc::fallocate(self.file.as_raw_fd(), mode, self.place(run.start)?, bytes) })
    }

    /// In a child: maps the image to these addresses, private to this process.
    ///
    /// # Safety
    /// As for [`Image::take_place`](super::image::Image::take_place).
    pub unsafe fn take_place(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.map_image(ranges, 0) }
    }

    /// In a child: maps the image to these mappings of shared memory, private to this process, if
    /// they are at this distance. All but the `used` ranges of it reads as zeros.
    ///
    /// # Safety
    /// As for [`Image::take_place`](super::image::Image::take_place).
    pub unsafe fn take_shared_place(
        &self,
        mapped: &[Range<u64>],
        distance: u64,
        used: &[Range<u64>],
    ) -> io::Result<()> {
        // Few large mappings: their number has a limit.
        let mapped = joined(mapped.to_vec());
        for range in &mapped {
            // SAFETY: the caller's promise.
            unsafe { map(range, None)? };
        }
        let near = mapped
            .iter()
            .map(|range| moved(range, distance.wrapping_neg()));
        let near = common(
            &near.collect::<Vec<_>>(),
            std::slice::from_ref(&self.within),
        );
        // An earlier round may have copied what is not used any more.
        for hole in near.iter().flat_map(|range| without(range, used)) {
            self.make_hole(&hole)?;
        }
        // SAFETY: the same.
        unsafe { self.map_image(&near, distance) }
    }

    unsafe fn map_image(&self, ranges: &[Range<u64>], distance: u64) -> io::Result<()> {
        for range in ranges {
            let place = u64::try_from(self.place(range.start)?).map_err(io::Error::other)?;
            // SAFETY: the caller's promise.
            unsafe { map(&moved(range, distance), Some((&self.file, place)))? };
        }
        Ok(())
    }

    /// The addresses of the mapped pages that differ from the image. An error if the image has not
    /// all of them.
    pub fn differing_pages(&self, ranges: &[Range<u64>]) -> io::Result<Vec<u64>> {
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

/// Pages of these runs, at about the same distance from each other. The first is one of them: who
/// takes what is written begins there.
fn spread(runs: &[Range<u64>]) -> Vec<Range<u64>> {
    let pages: u64 = runs
        .iter()
        .map(|run| (run.end - run.start) / PAGE_BYTES)
        .sum();
    let count = pages.div_ceil(PAGES_OF_A_WITNESS).min(MOST_WITNESSES);
    let places = (0..count).map(|witness| witness * pages / count);
    let (mut places, mut witnesses, mut before) = (places.peekable(), Vec::new(), 0);
    for run in runs {
        let end = before + (run.end - run.start) / PAGE_BYTES;
        while let Some(place) = places.next_if(|&place| place < end) {
            let start = run.start + (place - before) * PAGE_BYTES;
            witnesses.push(start..start + PAGE_BYTES);
        }
        before = end;
    }
    witnesses
}

/// The range at this distance.
fn moved(range: &Range<u64>, distance: u64) -> Range<u64> {
    range.start.wrapping_add(distance)..range.end.wrapping_add(distance)
}

/// The parts of these runs that are in one of the ranges, which are in order and apart.
fn common(runs: &[Range<u64>], ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let both = runs.iter().flat_map(|run| {
        let first = ranges.partition_point(|range| range.end <= run.start);
        let rest = ranges.get(first..).unwrap_or_default().iter();
        let parts = rest.take_while(|range| range.start < run.end);
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
    use crate::os::tests::TestMemory;

    const PAGE: u64 = PAGE_BYTES;

    /// What is unread, but the witnesses, which always are.
    fn unread(image: &TrackedImage, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        let unread = image.unread(ranges).expect("runs");
        let unread = unread.iter();
        unread
            .flat_map(|run| without(run, &image.witnesses))
            .collect()
    }

    #[test]
    fn rounds_copy_what_was_written_and_the_child_reads_the_image() {
        let memory = TestMemory::new(5000 * PAGE);
        let at = |page: u64| memory.start() + page * PAGE;
        let Ok(mut image) = TrackedImage::new(at(0)..at(5000)) else {
            return;
        };
        let ranges = [at(0)..at(2000), at(2100)..at(5000)];
        (0..4000).for_each(|page| memory.put(page * PAGE, 1));
        let round = |image: &mut TrackedImage| image.round(&ranges, || true).expect("a round");
        let unread = |image: &TrackedImage| unread(image, &ranges);
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
        // Without memory for it, it gives back its own at once.
        assert!(image.round(&ranges, || false).is_err());
        assert!(image.differing_pages(&ranges).is_err());
    }

    #[test]
    fn ranges_that_are_cut_in_another_way_are_not_copied_again() {
        let memory = TestMemory::new(64 * PAGE);
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

    /// An image of memory that is mapped at these places, after a round.
    fn image_of(views: &[TestMemory], all: &Range<u64>) -> Option<TrackedImage> {
        let distances = views
            .iter()
            .map(|view| view.start().wrapping_sub(all.start));
        let mut image = match views {
            [_] => TrackedImage::new(all.clone()),
            _ => TrackedImage::of_shared(all.clone(), distances.clone().collect()),
        }
        .ok()?;
        if views.len() > 1 {
            distances.for_each(|distance| image.watch(&moved(all, distance)).expect("memory"));
        }
        let whole = std::slice::from_ref(all);
        image.round(whole, || true).expect("a round");
        Some(image)
    }

    #[test]
    fn an_image_ends_if_another_takes_what_is_written() {
        for memory in [
            vec![TestMemory::new(500 * PAGE)],
            Vec::from(TestMemory::shared(500 * PAGE)),
        ] {
            let at = |page: u64| memory[0].start() + page * PAGE;
            let whole = [at(0)..at(500)];
            (0..500).for_each(|page| memory[0].put(page * PAGE, 1));
            for (view, taken) in [
                (0, 0..500),
                (0, 0..1),
                (0, 250..320),
                (memory.len() - 1, 0..500),
            ] {
                let Some(mut image) = image_of(&memory, &whole[0]) else {
                    return;
                };
                memory[0].put(300 * PAGE, 2);
                let sharing = image.sharing;
                let other = WrittenPages::open(sharing).expect("the kernel's notes");
                let distance = memory[view].start().wrapping_sub(at(0));
                let taken = moved(&(at(taken.start)..at(taken.end)), distance);
                other.take(taken, |_| Ok(())).expect("a scan");
                let error = image.unread(&whole).expect_err("a witness was taken");
                assert_eq!(error.to_string(), TAKEN);
                image.round(&whole, || true).expect("a round");
                assert!(image.unread(&whole).is_err(), "the witness stays taken");
            }
        }
    }

    #[test]
    fn an_image_ends_without_witnesses() {
        let memory = [TestMemory::new(500 * PAGE)];
        let whole = [memory[0].start()..memory[0].start() + 500 * PAGE];
        (0..500).for_each(|page| memory[0].put(page * PAGE, 1));
        let Some(image) = image_of(&memory, &whole[0]) else {
            return;
        };
        memory[0].give_back(PAGE, 499 * PAGE);
        image.unread(&whole).expect("the first page");
        memory[0].give_back(0, PAGE);
        let error = image.unread(&whole).expect_err("no page");
        assert_eq!(error.to_string(), NO_WITNESS);
    }

    #[test]
    fn an_image_is_current_until_something_is_written() {
        let memory = [TestMemory::new(500 * PAGE)];
        let whole = [memory[0].start()..memory[0].start() + 500 * PAGE];
        (0..500).for_each(|page| memory[0].put(page * PAGE, 1));
        let Some(mut image) = image_of(&memory, &whole[0]) else {
            return;
        };
        // The first page is a witness, and the second is none.
        for page in [0, 1] {
            assert!(image.is_current(&whole).expect("runs"));
            memory[0].put(page * PAGE, 2);
            assert!(!image.is_current(&whole).expect("runs"));
            image.round(&whole, || true).expect("a round");
        }
    }

    #[test]
    fn witnesses_are_spread_over_all_runs() {
        let page = |page: u64| page * PAGE..(page + 1) * PAGE;
        assert_eq!(spread(&[]), []);
        assert_eq!(spread(&[page(7)]), [page(7)]);
        let runs = [page(7), 100 * PAGE..227 * PAGE, 300 * PAGE..364 * PAGE];
        assert_eq!(spread(&runs), [page(7), page(163), page(300)]);
        let many = spread(&[0..1 << 40]);
        assert_eq!((many.len(), &many[0]), (64, &page(0)));
        assert_eq!(many[63], (63 << 34)..(63 << 34) + PAGE);
    }

    #[test]
    fn what_is_unmapped_stays_unread() {
        let memory = TestMemory::new(8 * PAGE);
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

    /// What is written to either mapping is copied, and a page that one of them has not met.
    #[test]
    fn shared_memory_is_tracked_in_all_its_mappings() {
        let [memory, view] = TestMemory::shared(5000 * PAGE);
        let at = |page: u64| memory.start() + page * PAGE;
        let all = at(0)..at(5000);
        let distance = view.start().wrapping_sub(memory.start());
        let Ok(mut image) = TrackedImage::of_shared(all.clone(), vec![0, distance]) else {
            return;
        };
        (0..4000).for_each(|page| view.put(page * PAGE, 1));
        let used = [at(0)..at(2000), at(2100)..at(5000)];
        image.watch(&all).expect("shared memory");
        image.watch(&moved(&all, distance)).expect("shared memory");
        assert_eq!(image.unread(&used).expect("runs"), used);
        for _ in 0..2 {
            image.round(&used, || true).expect("a round");
            assert_eq!(unread(&image, &used), []);
        }
        memory.put(7 * PAGE, 2);
        view.put(8 * PAGE, 2);
        view.put(2050 * PAGE, 2);
        let zeros = std::fs::File::open("/dev/zero").expect("a device");
        view.fill_from(2999 * PAGE, 1, &zeros);
        // Another mapping of the same memory has no notes, and is copied until it is watched.
        memory.map_again(100 * PAGE, 10 * PAGE);
        memory.put(105 * PAGE, 3);
        let expected = [at(7)..at(9), at(100)..at(110), at(2999)..at(3000)];
        assert_eq!(unread(&image, &used), expected);
        image.round(&used, || true).expect("a round");
        assert_eq!(unread(&image, &used), [at(100)..at(110)]);
        image.watch(&all).expect("shared memory");
        image.round(&used, || true).expect("a round");
        assert_eq!(unread(&image, &used), []);
        let whole = [all; 1];
        assert_eq!(unread(&image, &whole), [at(2000)..at(2100)]);
        image.round(&whole, || true).expect("a round");
        assert_eq!(image.differing_pages(&whole).expect("pages"), []);
        view.put(4999 * PAGE, 9);
        assert_eq!(image.differing_pages(&whole).expect("pages"), [at(4999)]);
        let used = [at(0)..at(10), at(4000)..at(5000)];
        let mapped = [at(0)..at(5000), moved(&whole[0], distance)];
        // SAFETY: the child makes system calls, and reads mapped memory.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                let taken = image.take_shared_place(&mapped, 0, &used).is_ok();
                let seen = [7, 9, 10, 300, 4999].map(|page| memory.get(page * PAGE));
                let is_right = taken && seen == [2, 1, 0, 0, 0] && view.get(7 * PAGE) == 0;
                libc::_exit(i32::from(!is_right));
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(status, 0);
        }
        assert_eq!((memory.get(10 * PAGE), view.get(7 * PAGE)), (1, 2));
    }

    #[test]
    fn pieces_are_cut_at_borders() {
        let start = PIECE_BYTES - PAGE;
        let expected = [start..PIECE_BYTES, PIECE_BYTES..PIECE_BYTES + 1];
        assert!(pieces(&(start..PIECE_BYTES + 1)).eq(expected));
        assert_eq!(pieces(&(7..7)).count(), 0);
    }
}
