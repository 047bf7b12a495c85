//! The parts of the Java heap that contain no objects. If a fork does not copy them, the pause is
//! shorter, because it copies page table entries one by one; and later the application need not
//! copy these pages when it allocates there.
//!
//! The collectors' own structures list these parts; those of G1, Parallel and Serial are known. The
//! kernel does the reads, and objects with known addresses must not lie in such a part. If anything
//! does not fit, everything is copied.

use crate::flags::is_on;
use crate::layouts::{
    ParallelGenerations, ParallelSpaces, Regions, SerialGenerations, SerialSpaces,
};
use crate::vm_structs::Table;
use jvm::os::careful_reads;
use std::cmp::Reverse;
use std::ops::Range;

/// More regions than G1 ever has.
const MOST_REGIONS: u64 = 1 << 20;
/// G1's tag of a free region.
const FREE: u8 = 0;
/// The parts start and end at the border of a huge page, because otherwise the kernel would split a
/// huge page.
const HUGE_BYTES: u64 = 2 << 20;
/// Each part divides a mapping into three, and a process may have 65,530 mappings.
const MOST_PARTS: usize = 500;

/// Where the collector in use keeps its description of the heap.
#[derive(Clone, Copy, Debug)]
pub enum UnusedHeap {
    /// G1's region table.
    Regions(Regions),
    /// The four spaces of Parallel or Serial.
    Spaces(Spaces),
}

/// The spaces of Parallel or Serial. In each, the memory after the last object is unused.
#[derive(Clone, Copy, Debug)]
pub struct Spaces {
    /// Addresses of the variables with the generations' addresses.
    young: u64,
    old: u64,
    /// Offsets in a generation, of the addresses of its spaces: three in the young one, one in the
    /// old one.
    spaces: [u64; 4],
    /// Offsets in a space: its bottom, top and end.
    edges: [u64; 3],
}

impl UnusedHeap {
    /// `None` if another collector is in use, or if this JVM does not export the structures.
    pub fn find() -> Option<Self> {
        let regions = Regions::in_use().map(Self::Regions);
        let spaces = || Spaces::of_parallel().or_else(Spaces::of_serial);
        regions.or_else(|| spaces().map(Self::Spaces))
    }

    /// The parts outside of which there are no objects, in address order; `None` if they cannot be
    /// determined. It is certain while the application is paused.
    pub fn used(&self) -> Option<Vec<Range<u64>>> {
        let mut spaces = self.spaces()?;
        spaces.sort_unstable();
        let used = spaces.into_iter().map(|[bottom, top, _]| bottom..top);
        Some(used.filter(|part| !part.is_empty()).collect())
    }

    /// The parts without objects, in address order. `slots` hold addresses of objects. Call it
    /// while the application is paused.
    ///
    /// Empty if the parts cannot be determined.
    pub fn parts(&self, slots: &[u64]) -> Vec<Range<u64>> {
        let unused = self.spaces().map(|spaces| {
            let spaces = spaces.into_iter();
            spaces.map(|[_, top, end]| top..end).collect()
        });
        let objects = all_words(slots);
        match (unused, objects) {
            (Some(unused), Some(objects)) => parts_without(unused, objects),
            _ => Vec::new(),
        }
    }

    /// Of each region or space: where it begins, its objects end, and it ends; `None` if anything
    /// does not fit.
    fn spaces(&self) -> Option<Vec<[u64; 3]>> {
        match self {
            Self::Regions(regions) => regions.all(),
            Self::Spaces(spaces) => spaces.all(),
        }
    }
}

impl Regions {
    fn in_use() -> Option<Self> {
        // From 12 to 15 the table is not in the heap object itself.
        let (_, kind) = Table::find()?.typed_offset("G1CollectedHeap", "_hrm")?;
        let regions = Self::find().ok()?;
        regions.tag.or(regions.top)?;
        // Zero if another collector is in use.
        let is_in_use = word(regions.grain_bytes)? != 0 && !kind.ends_with(b"*");
        is_in_use.then_some(regions)
    }

    /// All regions. One that is not free counts as full.
    fn all(&self) -> Option<Vec<[u64; 3]>> {
        let [heap, region_bytes] = words([self.heap, self.grain_bytes])?;
        let [table, length] = words([heap + self.table, heap + self.length])?;
        let length = usize::try_from(length.min(MOST_REGIONS)).ok()?;
        let mut regions = numbers(&careful_reads::copies(&[table], length * 8)?);
        // A region that was never in use has no entry.
        regions.retain(|&region| region != 0);
        let last = [Some(self.bottom), Some(self.end), self.tag, self.top];
        let bytes = usize::try_from(last.into_iter().flatten().max()? + 8).ok()?;
        let accounts = careful_reads::copies(&regions, bytes)?;
        let mut all = Vec::new();
        for account in accounts.chunks_exact(bytes) {
            let (bottom, end) = (number(account, self.bottom)?, number(account, self.end)?);
            // Up to 8 the first region of a large object ends where the object ends.
            let bytes = end.checked_sub(bottom)?;
            if bytes == 0 || bytes % region_bytes != 0 {
                return None;
            }
            let is_free = self.is_free(account, bottom)? && bytes == region_bytes;
            let end = bottom + region_bytes;
            all.push([bottom, if is_free { bottom } else { end }, end]);
        }
        Some(all)
    }

    fn is_free(&self, account: &[u8], bottom: u64) -> Option<bool> {
        if let Some(tag) = self.tag {
            let tag = account.get(usize::try_from(tag).ok()?)?;
            if *tag != FREE {
                return Some(false);
            }
        }
        match self.top {
            Some(top) => Some(number(account, top)? == bottom),
            None => Some(true),
        }
    }
}

impl Spaces {
    fn of_parallel() -> Option<Self> {
        let at = ParallelGenerations::find().ok()?;
        // Null if another collector is in use.
        let in_use = words([at.young, at.old])?
            .iter()
            .all(|&address| address != 0);
        let spaces = ParallelSpaces::find().ok().filter(|_| in_use)?;
        Some(Self {
            young: at.young,
            old: at.old,
            spaces: [spaces.eden, spaces.from, spaces.to, spaces.old],
            edges: [spaces.bottom, spaces.top, spaces.end],
        })
    }

    /// Those of Serial, from 11 on.
    fn of_serial() -> Option<Self> {
        is_on("UseSerialGC").filter(|&is_on| is_on)?;
        let at = SerialGenerations::find().ok()?;
        let heap = word(at.heap)?;
        let spaces = SerialSpaces::find().ok()?;
        Some(Self {
            young: heap + at.young,
            old: heap + at.old,
            spaces: [spaces.eden, spaces.from, spaces.to, spaces.old],
            edges: [spaces.bottom, spaces.top, spaces.end],
        })
    }

    /// All spaces.
    fn all(&self) -> Option<Vec<[u64; 3]>> {
        let [young, old] = words([self.young, self.old])?;
        let [eden, from, to, tenured] = self.spaces;
        let mut all = Vec::new();
        for space in words([young + eden, young + from, young + to, old + tenured])? {
            let [bottom, top, end] = words(self.edges.map(|edge| space + edge))?;
            if bottom > top || top > end {
                return None;
            }
            all.push([bottom, top, end]);
        }
        Some(all)
    }
}

/// The unused parts in address order, with neighbours merged, and cut to borders of huge pages.
/// Empty if a known object lies in one of them.
fn parts_without(mut unused: Vec<Range<u64>>, objects: Vec<u64>) -> Vec<Range<u64>> {
    unused.retain(|part| part.start < part.end);
    unused.sort_unstable_by_key(|part| part.start);
    let mut parts: Vec<Range<u64>> = Vec::new();
    for part in unused {
        match parts.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            _ => parts.push(part),
        }
    }
    let holds = |object: u64| {
        let behind = parts.partition_point(|part| part.end <= object);
        parts.get(behind).is_some_and(|part| part.contains(&object))
    };
    if objects.into_iter().any(holds) {
        return Vec::new();
    }
    for part in &mut parts {
        let start = part.start.checked_next_multiple_of(HUGE_BYTES);
        part.start = start.unwrap_or(u64::MAX);
        part.end -= part.end % HUGE_BYTES;
    }
    parts.retain(|part| part.start < part.end);
    parts.sort_unstable_by_key(|part| Reverse(part.end - part.start));
    parts.truncate(MOST_PARTS);
    parts.sort_unstable_by_key(|part| part.start);
    parts
}

/// The word at an address.
pub(crate) fn word(address: u64) -> Option<u64> {
    words([address]).map(|[word]| word)
}

/// The words at these addresses.
fn all_words(addresses: &[u64]) -> Option<Vec<u64>> {
    Some(numbers(&careful_reads::copies(addresses, 8)?))
}

/// The same for a known number of addresses.
pub(crate) fn words<const N: usize>(addresses: [u64; N]) -> Option<[u64; N]> {
    all_words(&addresses)?.try_into().ok()
}

pub(crate) fn numbers(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks_exact(8);
    words.filter_map(|word| number(word, 0)).collect()
}

/// The word at an offset.
pub(crate) fn number(bytes: &[u8], offset: u64) -> Option<u64> {
    let word = bytes.get(usize::try_from(offset).ok()?..)?;
    word.first_chunk().map(|word| u64::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn place<T>(value: &T) -> u64 {
        std::ptr::from_ref(value) as u64
    }

    /// A region as in 17 and later: bottom, end, top, tag.
    fn region(number: u64, used: u64, tag: u64) -> [u64; 4] {
        let bottom = 64 * MB + number * 4 * MB;
        [bottom, bottom + 4 * MB, bottom + used, tag]
    }

    #[test]
    fn free_regions_are_found() {
        let regions = [
            region(0, MB, 2),
            region(1, 0, 0),
            region(2, 0, 0),
            // The first region of a large object on 8.
            [80 * MB - 4 * MB, 84 * MB, 84 * MB, 2],
            region(5, 0, 0),
        ];
        // The fifth region was never in use.
        let table = [0, 1, 2, 3, 9, 4].map(|index| regions.get(index).map_or(0, place));
        let heap = [0, place(&table), 6];
        let variable = place(&heap);
        let grains = [4 * MB, 8 * MB];
        let g1 = Regions {
            heap: place(&variable),
            table: 8,
            length: 16,
            bottom: 0,
            end: 8,
            tag: Some(24),
            top: Some(16),
            grain_bytes: place(&grains[0]),
        };
        let parts = |slots: &[u64]| UnusedHeap::Regions(g1).parts(slots);
        assert_eq!(parts(&[]), [68 * MB..76 * MB, 84 * MB..88 * MB]);
        let (outside, inside) = (68 * MB - 8, 84 * MB);
        assert_eq!(parts(&[place(&outside)]).len(), 2);
        assert!(parts(&[place(&outside), place(&inside)]).is_empty());
        assert!(parts(&[8]).is_empty(), "a handle that leads nowhere");

        for g1 in [Regions { tag: None, ..g1 }, Regions { top: None, ..g1 }] {
            assert!(UnusedHeap::Regions(g1)
                .parts(&[])
                .contains(&(84 * MB..88 * MB)));
        }
        let other = Regions {
            grain_bytes: place(&grains[1]),
            ..g1
        };
        assert!(UnusedHeap::Regions(other).parts(&[]).is_empty());
        // A region of a size that no region has is not understood, so neither are the others.
        for end in [64 * MB, 70 * MB] {
            let odd = [64 * MB, end, 64 * MB, 0];
            let table = [place(&regions[1]), place(&odd)];
            let heap = [0, place(&table), 2];
            let variable = place(&heap);
            let heap = place(&variable);
            assert!(UnusedHeap::Regions(Regions { heap, ..g1 })
                .parts(&[])
                .is_empty());
        }
        let top = region(2, 8, 0);
        let full = [place(&regions[1]), place(&top)];
        let heap = [0, place(&full), 2];
        let variable = place(&heap);
        let g1 = UnusedHeap::Regions(Regions {
            heap: place(&variable),
            ..g1
        });
        assert!(g1.parts(&[]).iter().eq(&[68 * MB..72 * MB; 1]));
        // An object is above the bottom.
        assert!(g1.used().iter().flatten().eq(&[72 * MB..76 * MB; 1]));
    }

    #[test]
    fn what_lies_behind_the_objects_of_a_space_is_found() {
        let spaces = [
            [10 * MB, 10 * MB + 8, 16 * MB],
            [16 * MB, 16 * MB + MB, 20 * MB],
            [20 * MB, 20 * MB, 24 * MB],
            [100 * MB, 130 * MB, 133 * MB],
        ];
        let young = [place(&spaces[0]), place(&spaces[1]), place(&spaces[2])];
        let old = place(&spaces[3]);
        let generations = [place(&young), place(&old)];
        let parallel = Spaces {
            young: place(&generations[0]),
            old: place(&generations[1]),
            spaces: [0, 8, 16, 0],
            edges: [0, 8, 16],
        };
        let used = [10 * MB..10 * MB + 8, 16 * MB..17 * MB, 100 * MB..130 * MB];
        assert_eq!(UnusedHeap::Spaces(parallel).used(), Some(used.to_vec()));
        assert_eq!(
            UnusedHeap::Spaces(parallel).parts(&[]),
            [12 * MB..16 * MB, 18 * MB..24 * MB, 130 * MB..132 * MB]
        );
        let swapped = Spaces {
            edges: [0, 16, 8],
            ..parallel
        };
        assert!(UnusedHeap::Spaces(swapped).parts(&[]).is_empty());
    }
}
