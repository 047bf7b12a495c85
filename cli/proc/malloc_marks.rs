//! What glibc's malloc has mapped, by the marks that it leaves in its memory: arenas
//! (malloc/arena.c) and large blocks (malloc/malloc.c).
//!
//! The kernel joins such memory with its neighbours, so the list of mappings does not show it.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::proc::pagemap::Pagemap;
use crate::proc::process::Process;

/// Glibc's arenas begin at multiples of this (`HEAP_MAX_SIZE`).
pub(crate) const ARENA_BYTES: u64 = 64 << 20;
/// The structure of an arena lies behind the description of its first part, in its first bytes.
const ARENA_HEAD_BYTES: u64 = 128;
/// Blocks of glibc that are mapped one by one have at least this size (`M_MMAP_THRESHOLD`).
const MAPPED_BYTES_MIN: u64 = 128 << 10;
/// What precedes the content of a block: the size before, and its own.
const HEADER_BYTES: u64 = 16;
/// The lowest bits of a size are flags.
const FLAGS: u64 = 7;
/// The flag of a block that was mapped by itself, which has no other.
const IS_MAPPED: u64 = 2;

/// What malloc has of some memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Malloc {
    /// In address order.
    pub(crate) ranges: Vec<Range<u64>>,
    /// Number of glibc's arenas among them, without the first, which is `[heap]`.
    pub(crate) arenas: u64,
}

/// The memory of a process, of which only pages are read that are there.
#[derive(Debug)]
pub(crate) struct MallocMarks<'p> {
    pages: &'p Pagemap,
    memory: File,
}

/// A piece that malloc has mapped.
struct Piece {
    end: u64,
    is_arena: bool,
    /// Whether the mark alone proves it.
    is_sure: bool,
}

impl<'p> MallocMarks<'p> {
    /// Of this process. `None` if the system hides its memory.
    pub(crate) fn of(process: &Process, pages: &'p Pagemap) -> Option<Self> {
        Some(Self {
            pages,
            memory: process.open("mem").ok()?,
        })
    }

    /// What malloc has of this anonymous memory, in which nothing else is known. `None` if its
    /// pages cannot be read.
    pub(crate) fn find(&self, memory: impl Iterator<Item = Range<u64>>) -> Option<Malloc> {
        let mut all = Malloc::default();
        for range in memory {
            self.find_in(&range, &mut all)?;
        }
        Some(all)
    }

    fn find_in(&self, range: &Range<u64>, all: &mut Malloc) -> Option<()> {
        let mut end = range.start;
        self.pages.each(range, |page| {
            let Some(piece) = (page >= end).then(|| self.piece(page, range.end)).flatten() else {
                return;
            };
            // Any number may look like the size of a block: it ends or begins where others do.
            let is_bound = |piece: &Piece| page == end || self.is_end(piece.end, range.end);
            if piece.is_sure || is_bound(&piece) {
                all.ranges.push(page..piece.end);
                all.arenas += u64::from(piece.is_arena);
                end = piece.end;
            }
        })
    }

    /// Whether the memory ends here, or another piece begins.
    fn is_end(&self, at: u64, most: u64) -> bool {
        at == most || self.pages.has(at) && self.piece(at, most).is_some()
    }

    /// What begins at this page.
    fn piece(&self, page: u64, most: u64) -> Option<Piece> {
        let words = self.words(page)?;
        let piece = arena(page, words).or_else(|| self.block(page, words));
        piece.filter(|piece| piece.end <= most)
    }

    /// A block that glibc has mapped by itself: nothing before it, its size, and the flag.
    fn block(&self, page: u64, [before, size, ..]: [u64; 4]) -> Option<Piece> {
        let page_bytes = self.pages.page_bytes;
        // Since 2.43 the size is that without the header.
        let header = if size & !FLAGS & (page_bytes - 1) == 0 {
            0
        } else {
            HEADER_BYTES
        };
        let bytes = (size & !FLAGS).checked_add(header)?;
        let is_one = before == 0
            && size & FLAGS == IS_MAPPED
            && bytes % page_bytes == 0
            && bytes >= MAPPED_BYTES_MIN;
        Some(Piece {
            end: page.checked_add(bytes).filter(|_| is_one)?,
            is_arena: false,
            is_sure: false,
        })
    }

    /// The first words of a page.
    fn words(&self, page: u64) -> Option<[u64; 4]> {
        let mut bytes = [0; 32];
        self.memory.read_exact_at(&mut bytes, page).ok()?;
        let mut words = bytes.chunks_exact(8).filter_map(<[u8]>::first_chunk);
        let mut read = [0; 4];
        for word in &mut read {
            *word = u64::from_ne_bytes(*words.next()?);
        }
        Some(read)
    }
}

/// A part of an arena (`heap_info`): the arena, the part before, and how much of it is used and
/// can be.
fn arena(page: u64, [arena, before, used, usable]: [u64; 4]) -> Option<Piece> {
    let first = arena - arena % ARENA_BYTES;
    let is_first = first == page;
    let is_part = page % ARENA_BYTES == 0
        && arena != first
        && arena - first < ARENA_HEAD_BYTES
        && before % ARENA_BYTES == 0
        && is_first == (before == 0)
        && used > 0
        && used <= usable
        && usable <= ARENA_BYTES;
    Some(Piece {
        end: page.checked_add(usable).filter(|_| is_part)?,
        is_arena: is_first,
        is_sure: true,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::hint::black_box;

    const PAGE: u64 = 4096;

    fn own() -> (Process, Pagemap) {
        let process = Process::find(i32::try_from(std::process::id()).unwrap()).unwrap();
        let pages = Pagemap::new(process.open("pagemap").unwrap());
        (process, pages)
    }

    /// What is found in memory that has these words at the start of these pages.
    fn found(bytes: usize, words: impl Fn(u64) -> Vec<(u64, Vec<u64>)>) -> Malloc {
        let mut memory = vec![1_u8; bytes + usize::try_from(ARENA_BYTES).unwrap()];
        let address = memory.as_ptr() as u64;
        let start = address.next_multiple_of(ARENA_BYTES);
        for (at, words) in words(start) {
            let from = usize::try_from(start + at - address).unwrap();
            for (number, word) in words.into_iter().enumerate() {
                let to = &mut memory[from + 8 * number..][..8];
                to.copy_from_slice(&word.to_ne_bytes());
            }
        }
        let memory = black_box(memory);
        let (process, pages) = own();
        let marks = MallocMarks::of(&process, &pages).unwrap();
        let range = start..start + bytes as u64;
        let mut found = marks.find([range].into_iter()).unwrap();
        drop(memory);
        for range in &mut found.ranges {
            *range = range.start - start..range.end - start;
        }
        found
    }

    #[test]
    fn blocks_are_known_by_their_size_and_where_they_end() {
        let (one, two) = (MAPPED_BYTES_MIN, MAPPED_BYTES_MIN * 2);
        let block = |bytes: u64| vec![0, bytes | IS_MAPPED];
        let all = found(4 << 20, |_| {
            vec![
                // After something else: it ends where the next one begins.
                (PAGE, block(one)),
                (PAGE + one, block(two - HEADER_BYTES)),
                // Too small, another flag, no page, longer than the memory; one that ends nowhere.
                (1 << 20, block(PAGE)),
                ((1 << 20) + PAGE, vec![0, two | IS_MAPPED | 1]),
                ((1 << 20) + 2 * PAGE, block(two + 16)),
                ((1 << 20) + 3 * PAGE, block(4 << 20)),
                (2 << 20, block(one)),
                ((2 << 20) + PAGE, vec![8, two | IS_MAPPED]),
                // Up to the end.
                ((4 << 20) - two, block(two)),
            ]
        });
        let last = 4 << 20;
        let expected = [
            PAGE..PAGE + one,
            PAGE + one..PAGE + one + two,
            last - two..last,
        ];
        assert_eq!(all.ranges, expected);
        assert_eq!(all.arenas, 0);
    }

    #[test]
    fn arenas_are_known_by_their_own_description() {
        let usable = 3 << 20;
        let all = |first: [u64; 4]| {
            found(4 << 20, |start| {
                vec![(
                    0,
                    vec![start.wrapping_add(first[0]), first[1], first[2], first[3]],
                )]
            })
        };
        let expected = Malloc {
            ranges: vec![0..usable; 1],
            arenas: 1,
        };
        assert_eq!(all([0x30, 0, 2 << 20, usable]), expected);
        // A further part of an arena that lies before it.
        let further = all([
            0x30_u64.wrapping_sub(ARENA_BYTES),
            ARENA_BYTES,
            PAGE,
            usable,
        ]);
        assert_eq!((further.ranges.len(), further.arenas), (1, 0));
        for other in [
            [0, 0, 2 << 20, usable],
            [0x1000, 0, 2 << 20, usable],
            [0x30, ARENA_BYTES, 2 << 20, usable],
            [0x30, 0, 4 << 20, usable],
            [0x30, 0, 0, usable],
            [0x30, 0, 2 << 20, ARENA_BYTES + PAGE],
        ] {
            assert_eq!(all(other), Malloc::default(), "{other:x?}");
        }
    }

    #[test]
    #[cfg(target_env = "gnu")]
    fn blocks_of_this_process_are_found() {
        let block = black_box(vec![1_u8; 40 << 20]);
        let address = block.as_ptr() as u64;
        let (process, pages) = own();
        let smaps = process.read("smaps").unwrap();
        let mappings = crate::proc::smaps::Mapping::all(&String::from_utf8_lossy(&smaps));
        let data = mappings.iter().filter(|mapping| mapping.is_data());
        let marks = MallocMarks::of(&process, &pages).unwrap();
        let found = marks
            .find(data.map(|mapping| mapping.range.clone()))
            .unwrap();
        let its = found.ranges.iter().find(|range| range.contains(&address));
        assert!(its.unwrap().contains(&(address + (40 << 20) - 1)));
        drop(block);
    }
}
