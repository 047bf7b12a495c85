//! Where HotSpot has its memory: the heap, the card table, the stacks of Java threads, the metadata
//! of classes (collectedHeap.hpp, cardTable.hpp, thread.hpp, instanceKlass.hpp).
//!
//! What is not exported, or not readable, is left out.

use super::layouts::{Cards, ClassParts, Reserved, StackMemory};
use super::memory::{Address, Readable};
use super::thread_list::ThreadList;
use format::{AreaKind, MemoryArea};
use snapshot::mappings::Mappings;
use std::ops::Range;

/// Metadata lie together in pieces of this size.
const GRAIN_BYTES: u64 = 1 << 20;

/// The exported places that lead to the areas. Each may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryAreas {
    heap: Option<Reserved>,
    cards: Option<Cards>,
    stacks: Option<(ThreadList, StackMemory)>,
    /// Offsets in a class of addresses of its metadata.
    class_parts: [Option<u64>; 2],
}

impl MemoryAreas {
    /// Looks everything up.
    pub fn find() -> Self {
        let parts = ClassParts::find().ok();
        Self {
            heap: Reserved::find().ok(),
            cards: Cards::find().ok(),
            stacks: ThreadList::find().zip(StackMemory::find().ok()),
            class_parts: parts.map_or([None; 2], |parts| [parts.constants, parts.methods]),
        }
    }

    /// The areas in a forked copy; `klasses` are the addresses of HotSpot's classes.
    pub fn all(
        &self,
        memory: &Readable<'_>,
        mappings: &Mappings,
        klasses: impl Iterator<Item = u64>,
    ) -> Vec<MemoryArea> {
        let mut areas = Vec::new();
        areas.extend(self.heap.and_then(|heap| heap.area(memory)));
        areas.extend(self.cards.and_then(|cards| cards.area(memory)));
        areas.extend(
            self.stacks
                .iter()
                .flat_map(|(list, at)| at.areas(memory, *list)),
        );
        areas.extend(self.metaspace(memory, mappings, klasses));
        areas
    }

    /// The parts of mappings that contain classes or their parts. The kernel may have joined a
    /// mapping with others.
    fn metaspace(
        &self,
        memory: &Readable<'_>,
        mappings: &Mappings,
        klasses: impl Iterator<Item = u64>,
    ) -> Vec<MemoryArea> {
        // A mapping, and the lowest and highest address seen in it.
        let mut found: Vec<(Range<u64>, u64, u64)> = Vec::new();
        let mut see = |address: u64| {
            let known = found.iter_mut().rev();
            let known = known.filter(|(mapping, ..)| mapping.contains(&address));
            if let Some((_, low, high)) = known.last() {
                (*low, *high) = (address.min(*low), address.max(*high));
                return;
            }
            let mapping = mappings.readable(address).filter(|_| address != 0);
            found.extend(mapping.map(|mapping| (mapping, address, address)));
        };
        for klass in klasses {
            see(klass);
            for offset in self.class_parts.into_iter().flatten() {
                // What an array's class has there is no address of its own, or none at all.
                let part = memory.read(Address::new(klass).add(offset));
                see(part.unwrap_or(0));
            }
        }
        let areas = found.into_iter().filter_map(|(mapping, low, high)| {
            let start = (low / GRAIN_BYTES * GRAIN_BYTES).max(mapping.start);
            let end = high.checked_next_multiple_of(GRAIN_BYTES)?.min(mapping.end);
            area(AreaKind::Metaspace, start, end.checked_sub(start)?)
        });
        areas.collect()
    }
}

impl Reserved {
    fn area(self, memory: &Readable<'_>) -> Option<MemoryArea> {
        let heap = Address::new(memory.read(Address::new(self.heap))?);
        let start: u64 = memory.read(heap.add(self.start))?;
        let words: u64 = memory.read(heap.add(self.words))?;
        area(AreaKind::Heap, start, words.checked_mul(8)?)
    }
}

impl Cards {
    fn area(self, memory: &Readable<'_>) -> Option<MemoryArea> {
        let address = |at| memory.read(at).map(Address::new);
        let barrier_set = address(Address::new(self.barrier_set))?;
        let table = address(barrier_set.add(self.table))?;
        let start: u64 = memory.read(table.add(self.bytes))?;
        area(
            AreaKind::Collector,
            start,
            memory.read(table.add(self.length))?,
        )
    }
}

impl StackMemory {
    fn areas(&self, memory: &Readable<'_>, list: ThreadList) -> Vec<MemoryArea> {
        let threads = list.threads(memory).unwrap_or_default();
        let stack = |thread: Address| {
            let base: u64 = memory.read(thread.add(self.base))?;
            let size: u64 = memory.read(thread.add(self.size))?;
            area(AreaKind::Stack, base.checked_sub(size)?, size)
        };
        threads.into_iter().filter_map(stack).collect()
    }
}

fn area(kind: AreaKind, start: u64, bytes: u64) -> Option<MemoryArea> {
    let range = start..start.checked_add(bytes)?;
    (start != 0 && bytes != 0).then_some(MemoryArea { kind, range })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::own_mappings;

    #[test]
    fn areas_are_read_from_structures_or_left_out() {
        // A variable with the heap's address; the heap with its range; a class with a part.
        let mut words = Box::new([0_u64; 8]);
        let start = words.as_ptr() as u64;
        let at = |word: u64| start + word * 8;
        words[..6].copy_from_slice(&[at(1), 0, 0x1000, 4, 0, at(7)]);
        let words = std::hint::black_box(words);
        let mappings = own_mappings();
        let memory = Readable::of(&mappings);
        let areas = MemoryAreas {
            heap: Some(Reserved {
                heap: words.as_ptr() as u64,
                start: 8,
                words: 16,
            }),
            class_parts: [Some(8), None],
            ..MemoryAreas::default()
        };
        let found = areas.all(&memory, &mappings, [at(4), 0].into_iter());
        let [heap, metaspace] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(
            (heap.kind, heap.range.clone()),
            (AreaKind::Heap, 0x1000..0x1020)
        );
        assert_eq!(metaspace.kind, AreaKind::Metaspace);
        assert!(metaspace.range.contains(&at(4)) && metaspace.range.contains(&at(7)));
        let nothing = MemoryAreas::default();
        assert_eq!(nothing.all(&memory, &mappings, std::iter::empty()), []);
    }
}
