//! ZGC's own structures (zHeap.hpp, zPage.hpp, zForwarding.hpp; up to 21 also the files of gc/x):
//! where the heap has objects, and how their references are coloured.
//!
//! The agent reads them while the application stands still. The kernel does the reads, and pages
//! must be where the tables have them.
//!
//! With generations there are two tables of forwardings, and their place is not exported. Each
//! follows pointers to the page allocator and the page table in the object of its generation, which
//! the heap embeds. In the other mode, the stop does not stop the threads that move objects: a
//! forwarding counts its users down to zero when its page is done, so none may have users. This is
//! asked first: what is used is read after it, and no relocation begins in a stop.

use crate::flags;
use crate::unused_heap::{number, numbers, word, words};
use crate::vm_structs::Table;
use jvm::os::careful_reads;
use jvm::os::written_pages::joined;
use snapshot::layout::{Colours, ForwardingPlaces, Good, GranuleTable, GRANULE_SHIFT};
use std::ops::Range;

/// The generations' ids (zGenerationId.hpp).
const YOUNG: u8 = 0;
const OLD: u8 = 1;

/// Where ZGC has its heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zgc {
    /// Addresses of the variables with the offset mask, the good colour and the stale ones.
    offset_mask: u64,
    good: u64,
    stale: u64,
    pages: GranuleTable,
    moved: Moved,
    page: PagePlaces,
    forwarding: ForwardingPlaces,
    /// Offset in a forwarding of its number of users; zero once all objects of its page have moved.
    users: u64,
}

/// The tables of forwardings.
#[derive(Clone, Copy, Debug)]
enum Moved {
    /// ZGC without generations has one.
    InAll(GranuleTable),
    /// That of the young generation, and that of the old one.
    ByGeneration([GranuleTable; 2]),
}

/// Offsets in a page.
#[derive(Clone, Copy, Debug)]
struct PagePlaces {
    start: u64,
    top: u64,
}

impl Zgc {
    /// `None` if another collector is in use, or if this JVM does not export the structures.
    pub(crate) fn find() -> Option<Self> {
        let is_on = flags::is_on("UseZGC") == Some(true);
        if !is_on || !cfg!(target_arch = "x86_64") {
            return None;
        }
        let table = Table::find()?;
        ["Z", "X"]
            .iter()
            .find_map(|letter| Self::named(table, letter))
    }

    /// The collector whose structures begin with this letter, if it is the one in use.
    fn named(table: Table, letter: &str) -> Option<Self> {
        let kind = |name: &str| format!("{letter}{name}");
        let offset = |of: &str, field: &str| table.offset(&kind(of), field);
        let globals = table.static_address(&kind("GlobalsForVMStructs"), "_instance_p")?;
        let globals = word(globals)?;
        let variable = |name: &str| {
            let field = offset("GlobalsForVMStructs", &format!("_{letter}{name}"))?;
            word(globals.checked_add(field)?)
        };
        let collected = table.static_address("Universe", "_collectedHeap")?;
        let heap = word(collected)? + offset("CollectedHeap", "_heap")?;
        let granules = offset("GranuleMapForPageTable", "_map")?;
        let page_table = heap + offset("Heap", "_page_table")?;
        let pages = granule_table(page_table + granules)?;
        let (good, stale, moved) = match offset("Heap", "_forwarding_table") {
            Some(forwardings) => {
                let granules = offset("GranuleMapForForwarding", "_map")?;
                let moved = granule_table(heap + forwardings + granules)?;
                let (good, stale) = (
                    variable("AddressGoodMask")?,
                    variable("AddressWeakBadMask")?,
                );
                (good, stale, Moved::InAll(moved))
            }
            None => {
                let bytes = Table::size_bytes(&kind("Heap"))?;
                let allocator = heap + offset("Heap", "_page_allocator")?;
                let places = [allocator, page_table];
                let moved = by_generation(heap, bytes, places, pages.length)?;
                let good = variable("PointerLoadGoodMask")?;
                (good, good, Moved::ByGeneration(moved))
            }
        };
        let offset_mask = variable("AddressOffsetMask")?;
        // Zero if the other ZGC of 21 is in use.
        word(good).filter(|&good| good != 0)?;
        let entries = Table::size_bytes(&kind("Forwarding"))?;
        let start = offset("VirtualMemory", "_start")?;
        let length = offset("AttachedArrayForForwarding", "_length")?;
        Some(Self {
            offset_mask,
            good,
            stale,
            pages,
            moved,
            page: PagePlaces {
                start: offset("Page", "_virtual")? + start,
                top: offset("Page", "_top")?,
            },
            forwarding: ForwardingPlaces {
                start: offset("Forwarding", "_virtual")? + start,
                alignment_shift: offset("Forwarding", "_object_alignment_shift")?,
                length: offset("Forwarding", "_entries")? + length,
                entries: entries.next_multiple_of(8),
            },
            users: offset("Forwarding", "_ref_count")?,
        })
    }

    /// How references are coloured now; `None` if it cannot be read. Call it while the application
    /// stands still.
    pub(crate) fn colours(&self) -> Option<Colours> {
        let [offset_mask, good, stale] = words([self.offset_mask, self.good, self.stale])?;
        let good = match self.moved {
            Moved::InAll(moved) => Good::View { good, stale, moved },
            Moved::ByGeneration(moved) => Good::Remapped { bit: good, moved },
        };
        Some(Colours {
            good,
            offset_mask,
            forwarding: self.forwarding,
        })
    }

    /// Whether ZGC is moving objects of these mappings; `None` if it cannot be read.
    pub(crate) fn is_relocating(&self, colours: Colours, mapped: &[Range<u64>]) -> Option<bool> {
        for range in mapped {
            if self.has_users(granules(colours, range))? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The addresses in these mappings at which there may be objects, in order; `None` if anything
    /// does not fit. It is certain while the application stands still and no objects are moved.
    pub(crate) fn used(&self, colours: Colours, mapped: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
        let mut used = Vec::new();
        // A page may lie in several mappings.
        for range in joined(mapped.to_vec()) {
            let base = range.start & !colours.offset_mask;
            self.note_used(&mut used, base, granules(colours, &range))?;
        }
        Some(used)
    }

    /// Adds the used parts of the pages with these granules.
    fn note_used(&self, used: &mut Vec<Range<u64>>, base: u64, granules: Range<u64>) -> Option<()> {
        let first = granules.start;
        let mut pages = entries(self.pages, granules)?;
        let numbers: Vec<u64> = (first..).take(pages.len()).collect();
        let mut starts = Vec::new();
        let mut before = 0;
        for (page, number) in pages.iter().zip(numbers) {
            if *page != 0 && *page != before {
                starts.push(number << GRANULE_SHIFT);
            }
            before = *page;
        }
        pages.dedup();
        pages.retain(|&page| page != 0);
        let bytes = usize::try_from(self.page.start.max(self.page.top) + 8).ok()?;
        let accounts = careful_reads::copies(&pages, bytes)?;
        for (account, at) in accounts.chunks_exact(bytes).zip(starts) {
            let (start, top) = (
                number(account, self.page.start)?,
                number(account, self.page.top)?,
            );
            if start != at || top < start {
                return None;
            }
            if top > start {
                used.push(base | start..(base | start) + (top - start));
            }
        }
        Some(())
    }

    /// Whether a page with one of these granules has objects that are still to be moved.
    fn has_users(&self, granules: Range<u64>) -> Option<bool> {
        let tables = match self.moved {
            Moved::InAll(moved) => vec![moved],
            Moved::ByGeneration(moved) => moved.to_vec(),
        };
        for table in tables {
            let mut forwardings = entries(table, granules.clone())?;
            forwardings.retain(|&forwarding| forwarding != 0);
            let users: Vec<u64> = forwardings
                .iter()
                .map(|forwarding| forwarding + self.users)
                .collect();
            let users = careful_reads::copies(&users, 4)?;
            if users.iter().any(|&byte| byte != 0) {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// The granules of a mapping, the last one included.
fn granules(colours: Colours, range: &Range<u64>) -> Range<u64> {
    let granule = |address: u64| (address & colours.offset_mask) >> GRANULE_SHIFT;
    granule(range.start)..granule(range.end - 1)
}

/// The entries of these granules, the last one included.
fn entries(table: GranuleTable, granules: Range<u64>) -> Option<Vec<u64>> {
    let count = usize::try_from(granules.end - granules.start + 1).ok()?;
    if granules.end >= table.length {
        return None;
    }
    let first = table.entries + granules.start * 8;
    Some(numbers(&careful_reads::copies(&[first], count * 8)?))
}

/// The table whose pointer to its entries is here; its length stands before.
fn granule_table(pointer: u64) -> Option<GranuleTable> {
    let [length, entries] = words([pointer.checked_sub(8)?, pointer])?;
    (entries != 0).then_some(GranuleTable { entries, length })
}

/// The forwarding tables of both generations, which lie in the heap's object. No JVM exports their
/// place: each follows pointers to the heap's page allocator and page table (zGeneration.hpp).
fn by_generation(
    heap: u64,
    bytes: u64,
    [page_allocator, page_table]: [u64; 2],
    most_length: u64,
) -> Option<[GranuleTable; 2]> {
    let words = numbers(&careful_reads::copies(
        &[heap],
        usize::try_from(bytes).ok()?,
    )?);
    let (mut young, mut old) = (None, None);
    for five in words.windows(5) {
        let [id, allocator, pages, length, entries] = *five else {
            return None;
        };
        let is_one = allocator == page_allocator && pages == page_table;
        if !is_one || entries == 0 || length == 0 || length > most_length {
            continue;
        }
        let [id, ..] = id.to_ne_bytes();
        let table = match id {
            YOUNG => &mut young,
            OLD => &mut old,
            _ => return None,
        };
        if table.replace(GranuleTable { entries, length }).is_some() {
            return None;
        }
    }
    Some([young?, old?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 1 << 42;
    const PAGE: u64 = 1 << GRANULE_SHIFT;

    fn place<T: ?Sized>(value: &T) -> u64 {
        std::ptr::from_ref(value).cast::<u8>() as u64
    }

    /// The heap of five granules with these pages (start and top) and forwardings (users).
    fn heap(
        pages: [Option<[u64; 2]>; 5],
        users: [Option<u64>; 5],
    ) -> Option<(Vec<Range<u64>>, bool)> {
        let entries = |rows: Vec<u64>| GranuleTable {
            entries: place(rows.leak()),
            length: 5,
        };
        let pages: Vec<u64> = pages
            .map(|page| page.map_or(0, |page| place(page.to_vec().leak())))
            .to_vec();
        let users: Vec<u64> = users
            .map(|users| users.map_or(0, |users| place(Box::leak(Box::new(users)))))
            .to_vec();
        let none = entries(vec![0; 5]);
        let zgc = Zgc {
            offset_mask: 0,
            good: 0,
            stale: 0,
            pages: entries(pages),
            moved: Moved::ByGeneration([none, entries(users)]),
            page: PagePlaces { start: 0, top: 8 },
            forwarding: ForwardingPlaces::default(),
            users: 0,
        };
        let colours = Colours {
            good: Good::Remapped {
                bit: 1 << 12,
                moved: [none; 2],
            },
            offset_mask: BASE - 1,
            forwarding: ForwardingPlaces::default(),
        };
        let mapped = [BASE..BASE + 2 * PAGE, BASE + 3 * PAGE..BASE + 5 * PAGE];
        Some((
            zgc.used(colours, &mapped)?,
            zgc.is_relocating(colours, &mapped)?,
        ))
    }

    #[test]
    fn pages_have_objects_up_to_their_tops() {
        let full = [
            Some([0, 24]),
            Some([PAGE, PAGE]),
            None,
            Some([3 * PAGE, 4 * PAGE + 8]),
            None,
        ];
        let found = heap(full, [None; 5]).expect("a heap");
        assert_eq!(
            found.0,
            [BASE..BASE + 24, BASE + 3 * PAGE..BASE + 4 * PAGE + 8]
        );
        assert!(!found.1);
        // A page that is not where its granule is, and one whose top is below its start.
        for odd in [[PAGE, PAGE + 8], [0, 8]] {
            assert!(heap([None, None, None, Some(odd), None], [None; 5]).is_none());
        }
        assert!(heap([Some([0, 8]), Some([PAGE, 8]), None, None, None], [None; 5]).is_none());
    }

    #[test]
    fn a_forwarding_with_users_is_being_moved() {
        for (users, is_relocating) in [(0, false), (1, true), (0xFFFF_FFFF, true)] {
            let mut all = [None, Some(0), None, None, None];
            all[4] = Some(users);
            assert_eq!(heap([None; 5], all).map(|heap| heap.1), Some(is_relocating));
        }
    }

    #[test]
    fn the_tables_of_both_generations_are_found() {
        let (allocator, pages) = (0x7000, 0x7100);
        let of = |id: u64, length, entries| [0x5500 + id, allocator, pages, length, entries];
        let find = |words: &[u64]| {
            by_generation(
                place(words),
                size_of_val(words) as u64,
                [allocator, pages],
                8,
            )
        };
        let (old, young) = (of(1, 8, 0x100), of(0, 4, 0x200));
        let found = find(&[&[1, 2], old.as_slice(), &[pages, 3], &young, &[0]].concat());
        let expected =
            [(0x200, 4), (0x100, 8)].map(|(entries, length)| GranuleTable { entries, length });
        assert_eq!(found, Some(expected));
        // One is missing, is there twice, is too long, or is of no known generation.
        for other in [of(3, 8, 0x300), of(1, 8, 0x300), of(0, 9, 0x300), [0; 5]] {
            assert_eq!(find(&[old.as_slice(), &other].concat()), None);
        }
    }
}
