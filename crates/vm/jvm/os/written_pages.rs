//! Which pages of private memory have been written since they were last asked for: the kernel notes
//! each first write to a page (userfaultfd(2) in its asynchronous mode, and the ioctl PAGEMAP_SCAN,
//! Linux 6.7).

use super::answers::{done, opened};
use super::descriptor::in_reserve;
use super::seccomp::may_call;
use std::fs::{read_to_string, File};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kernel's structures and numbers (linux/userfaultfd.h, linux/fs.h), which old headers lack.
const UFFD_API: u64 = 0xAA;
const UFFD_USER_MODE_ONLY: libc::c_int = 1;
const FEATURE_WP_SHARED: u64 = 1 << 12;
const FEATURE_WP_UNPOPULATED: u64 = 1 << 13;
const FEATURE_WP_ASYNC: u64 = 1 << 15;
const MODE_WP: u64 = 1 << 1;
const API: u64 = 0xC018_AA3F;
const REGISTER: u64 = 0xC020_AA00;
const UNREGISTER: u64 = 0x8010_AA01;
const WRITE_PROTECT: u64 = 0xC018_AA06;
const PAGEMAP_SCAN: u64 = 0xC060_6610;
const SCAN_WP_MATCHING: u64 = 1;
const SCAN_CHECK_WPASYNC: u64 = 1 << 1;
const PAGE_IS_WRITTEN: u64 = 1 << 1;
const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_SWAPPED: u64 = 1 << 4;

/// Whether shared memory gets huge pages unasked. If a question ends within one, Linux forgets what
/// was written to it (before the fix of "written state for PMD holes").
const SHARED_HUGE_PAGES: [&str; 2] = [
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
    "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/shmem_enabled",
];

/// Memory is released from the kernel's notes in pieces of at most this many bytes: the application
/// cannot map memory meanwhile.
const RELEASED_BYTES: u64 = 16 << 20;
const PAGE_BYTES: u64 = 4096;
/// Runs of pages that one system call reports.
const RUNS: usize = 2048;
/// One system call asks for at most this many bytes of memory, as nothing can be mapped meanwhile.
const ASKED_BYTES: u64 = 1 << 30;

/// A run of pages (`struct page_region`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    start: u64,
    end: u64,
    categories: u64,
}

/// The question of PAGEMAP_SCAN (`struct pm_scan_arg`).
#[repr(C)]
#[derive(Debug, Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    runs: u64,
    runs_length: u64,
    most_pages: u64,
    inverted: u64,
    all_of: u64,
    any_of: u64,
    returned: u64,
}

/// Which pages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Those written since they were last taken. From now on they count as not written.
    TakeWritten,
    /// The same, and nothing changes.
    Written,
    /// Those that have memory and count as not written.
    Marked,
    /// Those that have memory.
    Present,
    /// Those that have none, and so read as zeros.
    Absent,
}

/// How memory is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Private to this process. A page without memory reads as zeros.
    Private,
    /// Shared memory. A page that this mapping has not met may have been written through another.
    Shared,
}

/// The kernel's notes about ranges of this process's memory. They end with this value.
#[derive(Debug)]
pub struct WrittenPages {
    notes: OwnedFd,
    pagemap: File,
    sharing: Sharing,
    watched: Vec<Range<u64>>,
}

impl WrittenPages {
    /// An error if the kernel keeps no such notes, or if a filter may end the process for these
    /// system calls; also if there is no descriptor for them.
    pub fn open(sharing: Sharing) -> io::Result<Self> {
        if !may_call(&[libc::SYS_userfaultfd, libc::SYS_ioctl]) {
            return Err(untracked(io::Error::other(
                "a seccomp filter may not allow it",
            )));
        }
        let settings = SHARED_HUGE_PAGES.map(|path| read_to_string(path).unwrap_or_default());
        if sharing == Sharing::Shared && !settings.iter().all(|text| is_asked_for(text)) {
            return Err(io::Error::other(
                "the kernel tracks no writes: shared memory may get huge pages",
            ));
        }
        let flags = libc::O_CLOEXEC | UFFD_USER_MODE_ONLY;
        // SAFETY: a system call with plain numbers; the descriptor is new.
        let notes = in_reserve(|| unsafe { opened(libc::syscall(libc::SYS_userfaultfd, flags)) });
        let notes = notes.map_err(untracked)?;
        let features = match sharing {
            Sharing::Private => FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED,
            Sharing::Shared => FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED | FEATURE_WP_SHARED,
        };
        let mut api = [UFFD_API, features, 0];
        ask(&notes, API, &mut api).map_err(untracked)?;
        let pagemap = in_reserve(|| File::open("/proc/self/pagemap"))?;
        let written = Self {
            notes,
            pagemap,
            sharing,
            watched: Vec::new(),
        };
        let can_tell = written.each(0..1 << 12, Pages::Written, |_| Ok(()));
        can_tell.map_err(untracked).map(|()| written)
    }

    /// Has the kernel take notes of this range, which is mapped as [`WrittenPages::open`] was told.
    /// All its pages count as written at first.
    ///
    /// Returns the parts that were never watched before.
    pub fn watch(&mut self, range: &Range<u64>) -> io::Result<Vec<Range<u64>>> {
        let mut question = [range.start, range.end - range.start, MODE_WP, 0];
        ask(&self.notes, REGISTER, &mut question)?;
        let new = without(range, &self.watched);
        if !new.is_empty() {
            self.watched.extend_from_slice(&new);
            self.watched = joined(std::mem::take(&mut self.watched));
        }
        Ok(new)
    }

    /// Calls `on_run` with each run of pages that were written since they were last taken, in
    /// order. From the call on they count as not written. Where the kernel takes no notes, these
    /// are all pages that have memory, or all shared ones, each time.
    pub fn take(
        &self,
        range: Range<u64>,
        mut on_run: impl FnMut(Range<u64>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut from = range.start;
        let taken = self.each(range.clone(), Pages::TakeWritten, |run| {
            from = run.end;
            on_run(run)
        });
        match taken {
            // A part is not watched. The kernel may have taken pages before it, without a word.
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => match self.sharing {
                Sharing::Private => self.each(from..range.end, Pages::Present, on_run),
                Sharing::Shared => on_run(from..range.end),
            },
            taken => taken,
        }
    }

    /// Has these pages, which must be watched, count as written until somebody takes them.
    pub fn unmark(&self, range: &Range<u64>) -> io::Result<()> {
        let bytes = range.end - range.start;
        ask(&self.notes, WRITE_PROTECT, &mut [range.start, bytes, 0])
    }

    /// Calls `on_run` with each run of such pages.
    pub fn each(
        &self,
        range: Range<u64>,
        pages: Pages,
        mut on_run: impl FnMut(Range<u64>) -> io::Result<()>,
    ) -> io::Result<()> {
        let most = usize::try_from((range.end - range.start).div_ceil(PAGE_BYTES));
        let room = most.map_or(RUNS, |most| most.min(RUNS));
        let mut runs = vec![Run::default(); room];
        let mut from = range.start;
        while from < range.end {
            let end = range.end.min(from + ASKED_BYTES);
            let mut scan = Scan::of(from..end, pages, self.sharing);
            scan.runs = runs.as_mut_ptr() as u64;
            scan.runs_length = room as u64;
            // SAFETY: the kernel writes to these two, which outlive the call.
            let found = unsafe {
                libc::ioctl(
                    self.pagemap.as_raw_fd(),
                    PAGEMAP_SCAN as _,
                    std::ptr::from_mut(&mut scan),
                )
            };
            let Ok(found) = usize::try_from(found) else {
                return Err(io::Error::last_os_error());
            };
            let runs = runs.get(..found).unwrap_or_default();
            for run in runs {
                on_run(run.start..run.end)?;
            }
            // The kernel's own word for where it stopped (`walk_end`) is of its last 512 runs.
            from = match runs.last() {
                Some(last) if found == room => last.end,
                _ => end,
            };
        }
        Ok(())
    }
}

impl Scan {
    fn of(range: Range<u64>, pages: Pages, sharing: Sharing) -> Self {
        let scan = Self {
            size: size_of::<Self>() as u64,
            start: range.start,
            end: range.end,
            ..Self::default()
        };
        let with_memory = PAGE_IS_PRESENT | PAGE_IS_SWAPPED;
        let written = Self {
            all_of: PAGE_IS_WRITTEN,
            any_of: match sharing {
                Sharing::Private => with_memory,
                Sharing::Shared => 0,
            },
            returned: PAGE_IS_WRITTEN,
            ..scan
        };
        match pages {
            // Memory that is not watched must not be marked: its writes would stay unnoticed.
            Pages::TakeWritten => Self {
                flags: SCAN_WP_MATCHING | SCAN_CHECK_WPASYNC,
                ..written
            },
            Pages::Written => written,
            Pages::Marked => Self {
                inverted: PAGE_IS_WRITTEN,
                all_of: PAGE_IS_WRITTEN,
                any_of: with_memory,
                returned: with_memory,
                ..scan
            },
            Pages::Present => Self {
                any_of: with_memory,
                ..scan
            },
            Pages::Absent => Self {
                inverted: with_memory,
                all_of: with_memory,
                returned: with_memory,
                ..scan
            },
        }
    }
}

impl Drop for WrittenPages {
    fn drop(&mut self) {
        for range in &self.watched {
            let mut start = range.start;
            while start < range.end {
                let bytes = RELEASED_BYTES.min(range.end - start);
                // What is not mapped any more is not watched either.
                let _ = ask(&self.notes, UNREGISTER, &mut [start, bytes]);
                start += bytes;
            }
        }
    }
}

/// An error of a kernel that keeps no notes, unless it only has no memory or descriptor for them.
fn untracked(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => error,
        _ => io::Error::other(format!("the kernel tracks no writes: {error}")),
    }
}

/// Whether the chosen word of such a file, in brackets, is known to mean no huge pages, or only for
/// memory that asks for them. Without a file there are none.
fn is_asked_for(text: &str) -> bool {
    let chosen = text.split(['[', ']']).nth(1).unwrap_or("never");
    ["never", "deny", "advise", "inherit"].contains(&chosen)
}

/// The runs in order, and apart.
pub fn joined(mut runs: Vec<Range<u64>>) -> Vec<Range<u64>> {
    runs.sort_unstable_by_key(|run| run.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for run in runs {
        match joined.last_mut() {
            Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
            _ => joined.push(run),
        }
    }
    joined
}

/// The range without these parts, which are in order and apart.
pub fn without(range: &Range<u64>, parts: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    let mut from = range.start;
    let first = parts.partition_point(|part| part.end <= range.start);
    for part in parts.get(first..).unwrap_or_default() {
        if part.start >= range.end {
            break;
        }
        left.push(from..part.start);
        from = part.end;
    }
    left.push(from..range.end);
    left.retain(|part| part.start < part.end);
    left
}

/// Asks the descriptor of a userfaultfd.
fn ask<const WORDS: usize>(
    notes: &OwnedFd,
    question: u64,
    words: &mut [u64; WORDS],
) -> io::Result<()> {
    // SAFETY: the array is as long as the structure of this question, and outlives the call.
    done(unsafe { libc::ioctl(notes.as_raw_fd(), question as _, words.as_mut_ptr()) })
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // These are lists of ranges.
mod tests {
    use super::*;
    use crate::os::tests::TestMemory;

    const PAGE: u64 = PAGE_BYTES;

    type Found = Vec<Range<u64>>;

    fn taken(written: &WrittenPages, range: &Range<u64>) -> Found {
        let mut found = Vec::new();
        let taken = written.take(range.clone(), |run| {
            found.push(run);
            Ok(())
        });
        taken.expect("a scan");
        found
    }

    fn found(written: &WrittenPages, range: &Range<u64>, pages: Pages) -> Found {
        let mut found = Vec::new();
        let each = written.each(range.clone(), pages, |run| {
            found.push(run);
            Ok(())
        });
        each.expect("a scan");
        found
    }

    #[test]
    fn pages_that_were_written_are_found_once() {
        let Ok(mut written) = WrittenPages::open(Sharing::Private) else {
            eprintln!("this kernel takes no notes of written pages");
            return;
        };
        let memory = TestMemory::new(64 * PAGE);
        let at = |page: u64| memory.start() + page * PAGE;
        let all = at(0)..at(64);
        [3, 4, 10]
            .into_iter()
            .for_each(|page| memory.put(page * PAGE, 1));
        written.watch(&all).expect("private memory");
        let seen = |pages| found(&written, &all, pages);
        assert_eq!(seen(Pages::Written), [at(3)..at(5), at(10)..at(11)]);
        assert_eq!(taken(&written, &all), [at(3)..at(5), at(10)..at(11)]);
        assert_eq!(taken(&written, &all), []);
        [4, 20]
            .into_iter()
            .for_each(|page| memory.put(page * PAGE, 2));
        // The kernel's own writes count, too.
        let zeros = File::open("/dev/zero").expect("zeros");
        memory.fill_from(30 * PAGE, 10, &zeros);
        memory.fill_from(10 * PAGE, 10, &zeros);
        let expected = [4, 10, 20, 30].map(|page| at(page)..at(page + 1));
        assert_eq!(seen(Pages::Written), expected);
        assert_eq!(taken(&written, &all), expected);
        assert_eq!(seen(Pages::Written), []);
        memory.give_back(4 * PAGE, PAGE);
        assert_eq!(seen(Pages::Written), []);
        let absent = seen(Pages::Absent);
        assert!(absent.contains(&(at(4)..at(10))), "{absent:?}");
    }

    #[test]
    fn memory_is_watched_once() {
        let memory = TestMemory::new(8 * PAGE);
        let all = memory.start()..memory.start() + 8 * PAGE;
        let both = [(); 2].map(|()| WrittenPages::open(Sharing::Private));
        let [Ok(mut one), Ok(mut other)] = both else {
            return;
        };
        one.watch(&all).expect("private memory");
        let refused = other.watch(&all).expect_err("it is watched");
        assert_eq!(refused.raw_os_error(), Some(libc::EBUSY));
    }

    #[test]
    fn memory_without_notes_counts_as_written() {
        let Ok(mut written) = WrittenPages::open(Sharing::Private) else {
            return;
        };
        let memory = TestMemory::new(8 * PAGE);
        (0..6).for_each(|page| memory.put(page * PAGE, 1));
        let at = |page: u64| memory.start() + page * PAGE;
        written
            .watch(&(at(0)..at(4)))
            .expect("a part of private memory");
        assert_eq!(taken(&written, &(at(1)..at(2))), [at(1)..at(2)]);
        for _ in 0..2 {
            assert_eq!(taken(&written, &(at(0)..at(8))), [at(0)..at(6)]);
            memory.put(5 * PAGE, 2);
            assert_eq!(
                found(&written, &(at(4)..at(8)), Pages::Written),
                [at(4)..at(6)]
            );
        }
    }

    #[test]
    fn many_runs_are_found_once_and_in_order() {
        for runs in [600, RUNS as u64, RUNS as u64 + 700] {
            let Ok(mut written) = WrittenPages::open(Sharing::Private) else {
                return;
            };
            let memory = TestMemory::new(2 * runs * PAGE + 90 * PAGE);
            let all = memory.start()..memory.start() + 2 * runs * PAGE + 90 * PAGE;
            (0..runs).for_each(|run| memory.put(2 * run * PAGE, 1));
            assert_eq!(written.watch(&all).expect("private memory").len(), 1);
            assert_eq!(written.watch(&all).expect("the same"), []);
            let found = taken(&written, &all);
            let starts = (0..runs).map(|run| memory.start() + 2 * run * PAGE);
            let expected: Found = starts.map(|start| start..start + PAGE).collect();
            assert_eq!(found, expected);
            assert_eq!(taken(&written, &all), []);
        }
    }

    #[test]
    fn huge_pages_that_nobody_asks_for_are_known() {
        for text in [
            "",
            "always within_size advise [never] deny force\n",
            "always [inherit] never",
        ] {
            assert!(is_asked_for(text), "{text}");
        }
        for text in [
            "[always] within_size advise never",
            "always [within_size] advise",
            "deny [force]",
        ] {
            assert!(!is_asked_for(text), "{text}");
        }
    }

    #[test]
    fn runs_are_joined() {
        assert_eq!(
            joined(vec![5..7, 1..2, 2..3, 5..6, 9..10]),
            [1..3, 5..7, 9..10]
        );
        assert_eq!(joined(Vec::new()), []);
    }

    #[test]
    fn what_is_watched_is_not_new() {
        let parts = [10..20, 30..40];
        for (range, left) in [
            (0..10, vec![0..10]),
            (12..18, vec![]),
            (5..35, vec![5..10, 20..30]),
            (15..50, vec![20..30, 40..50]),
            (40..41, vec![40..41]),
        ] {
            assert_eq!(without(&range, &parts), left, "{range:?}");
        }
    }

    #[test]
    fn nothing_is_noted_after_the_end() {
        let Ok(mut written) = WrittenPages::open(Sharing::Private) else {
            return;
        };
        let memory = TestMemory::new(2 * PAGE);
        memory.put(0, 1);
        let all = memory.start()..memory.start() + 2 * PAGE;
        written.watch(&all).expect("private memory");
        taken(&written, &all);
        drop(written);
        let mut written = WrittenPages::open(Sharing::Private).expect("as before");
        written.watch(&all).expect("no one else watches it");
        assert_eq!(taken(&written, &all).len(), 1, "all counts as written");
    }
}
