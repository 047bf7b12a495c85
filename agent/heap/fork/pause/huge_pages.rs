//! Huge pages: before a fork, asks the kernel to back the heap with huge pages, if the user wants
//! that. A fork copies a page table entry for each page, inside the pause, and huge pages need 512
//! times fewer entries.

use jvm::object::Object;
use jvm::os::descriptor;
use jvm::os::seccomp::may_call;
use snapshot::mappings::Mappings;
use std::fmt;
use std::io;
use std::ops::Range;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Bytes of a page, and pages of a huge page, on every processor that has such huge pages.
const PAGE_BYTES: usize = 4096;
const PAGES: usize = 512;
const HUGE_BYTES: u64 = 2 << 20;
/// The advice that makes huge pages (`linux/mman.h`; Linux 6.1), which the crate libc does not have
/// for musl.
const MADV_COLLAPSE: libc::c_int = 25;
/// Huge pages requested per call. Before each call the kernel makes every processor return its
/// cached free pages, which takes milliseconds on a busy machine. After a call, we pause for as
/// long as the call took, so that the application can use the memory system alone.
const MOST_AT_ONCE: u64 = 8;
/// After this many refusals in a row, there are no more contiguous 2 MiB of free memory.
const MOST_REFUSALS: u32 = 16;

/// The result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::heap) struct HugePages {
    /// Bytes that are in huge pages now, including those that were before.
    bytes: u64,
    /// Bytes of runs for which the kernel could not make all huge pages.
    refused_bytes: u64,
    took: Duration,
}

impl HugePages {
    /// Makes huge pages for the heap around an object, wherever every small page is already in use,
    /// so that the process does not grow.
    ///
    /// The application runs on. A thread that touches a huge page while it is made waits for it.
    /// The error is the end of a sentence: this system makes no huge pages.
    pub(in crate::heap) fn make_around(object: &Object<'_>) -> Result<Self, String> {
        // SAFETY: only queries a number.
        if usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) != Ok(PAGE_BYTES) {
            return Err("this system's pages are not of 4 KiB".to_owned());
        }
        let maps = descriptor::read("/proc/self/maps").map_err(|error| error.to_string())?;
        let mappings = Mappings::parse(&maps);
        let address = object.handle().word();
        let heap = address.and_then(|address| mappings.around(address));
        let heap = heap.ok_or("the heap is not found in the map of the process")?;
        let began = Instant::now();
        let mut made = Self {
            bytes: 0,
            refused_bytes: 0,
            took: Duration::ZERO,
        };
        let mut refusals = 0;
        for run in mappings.anonymous(&heap).flat_map(runs_in) {
            let bytes = run.end - run.start;
            let called = Instant::now();
            let answer = collapse(&run);
            sleep(called.elapsed());
            match answer {
                Ok(()) => {
                    refusals = 0;
                    made.bytes += bytes;
                }
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                    return Err(format!("{error} (Linux makes them from 6.1 on)"));
                }
                Err(_) => {
                    refusals += 1;
                    made.refused_bytes += bytes;
                }
            }
            if refusals >= MOST_REFUSALS {
                break;
            }
        }
        made.took = began.elapsed();
        Ok(made)
    }
}

impl fmt::Display for HugePages {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, millis) = (self.bytes / 1_000_000, self.took.as_millis());
        write!(
            out,
            "{bytes} MB of the heap are huge pages, made in {millis} ms"
        )?;
        match self.refused_bytes / 1_000_000 {
            0 => Ok(()),
            refused => write!(
                out,
                "; not all of {refused} MB, because free memory is fragmented"
            ),
        }
    }
}

/// Runs of possible huge pages with every small page in use, at most [`MOST_AT_ONCE`] in each.
fn runs_in(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut next = range.start.next_multiple_of(HUGE_BYTES);
    std::iter::from_fn(move || {
        let fits = |huge: u64| huge.saturating_add(HUGE_BYTES) <= range.end;
        while fits(next) && !is_in_use(next) {
            next += HUGE_BYTES;
        }
        let start = next;
        let most = start.saturating_add(MOST_AT_ONCE * HUGE_BYTES);
        while next < most && fits(next) && is_in_use(next) {
            next += HUGE_BYTES;
        }
        (start < next).then_some(start..next)
    })
}

/// Whether all small pages that would form this huge page are in use.
fn is_in_use(huge: u64) -> bool {
    let mut pages = [0_u8; PAGES];
    if !may_call(&[libc::SYS_mincore]) {
        return false;
    }
    let start = huge as *mut libc::c_void;
    // SAFETY: the kernel writes one byte for each page, and checks the addresses.
    let known = unsafe { libc::mincore(start, PAGES * PAGE_BYTES, pages.as_mut_ptr()) } == 0;
    known && pages.iter().all(|&page| page & 1 != 0)
}

/// Makes huge pages for a run.
fn collapse(run: &Range<u64>) -> io::Result<()> {
    let bytes = usize::try_from(run.end - run.start).unwrap_or(0);
    // SAFETY: does not change memory contents, and does nothing where nothing is mapped.
    match unsafe { libc::madvise(run.start as *mut _, bytes, MADV_COLLAPSE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_use_is_made_huge() {
        const PLACES: u64 = 10;
        const ROOM: usize = 11;
        let bytes = ROOM * PAGES * PAGE_BYTES;
        // SAFETY: memory that this test maps and unmaps; it touches at most one byte of each page.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let memory = libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            let first = (memory as u64).next_multiple_of(HUGE_BYTES);
            // Small pages, as in a heap for which nothing else was requested.
            libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE);
            let page =
                |place: u64, number: u64| (first + place * HUGE_BYTES + number * 4096) as *mut u8;
            for place in 0..PLACES - 1 {
                (0..512).for_each(|number| page(place, number).write(7));
            }
            libc::madvise(page(1, 9).cast(), PAGE_BYTES, libc::MADV_DONTNEED);
            let at = |place: u64| first + place * HUGE_BYTES;
            // Check the runs before MADV_HUGEPAGE allows huge pages again, because then khugepaged
            // fills the hole.
            let runs: Vec<_> = runs_in(first - 4096..at(PLACES) - 1).collect();
            assert_eq!(runs, [at(0)..at(1), at(2)..at(9)]);
            libc::madvise(memory, bytes, libc::MADV_HUGEPAGE);
            // An older kernel does not know the advice, and a full one has no memory.
            if let Err(error) = collapse(&runs[0]) {
                let known = [libc::EINVAL, libc::ENOMEM, libc::EAGAIN, libc::EBUSY];
                assert!(known.contains(&error.raw_os_error().unwrap()), "{error}");
            }
            assert_eq!((page(0, 0).read(), page(0, 511).read()), (7, 7));
            libc::munmap(memory, bytes);
        }
    }

    #[test]
    fn where_nothing_is_mapped_nothing_is_in_use() {
        // Above all user addresses, because another thread may map an address that this test
        // unmaps.
        const BEYOND: u64 = 1 << 56;
        assert_eq!(runs_in(BEYOND..BEYOND + HUGE_BYTES).count(), 0);
    }

    #[test]
    fn the_line_says_what_could_not_be_had() {
        let made = HugePages {
            bytes: 1_525_678_080,
            refused_bytes: 0,
            took: Duration::from_millis(812),
        };
        assert_eq!(
            made.to_string(),
            "1525 MB of the heap are huge pages, made in 812 ms"
        );
        let refused_bytes = 64 * HUGE_BYTES;
        let made = HugePages {
            refused_bytes,
            ..made
        };
        assert!(made
            .to_string()
            .ends_with("; not all of 134 MB, because free memory is fragmented"));
    }
}
