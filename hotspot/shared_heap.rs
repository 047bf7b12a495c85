//! A heap that a fork does not copy: why, and where it is mapped.

use crate::flags;
use crate::zgc::{ZHeap, Zgc};
use jvm::object::Object;
use jvm::os::careful_reads;
use snapshot::layout::Colours;
use snapshot::mappings::{os_maps, Mappings};
use std::ops::Range;

/// Why a fork does not copy the heap.
#[derive(Clone, Copy, Debug)]
pub enum SharedHeap {
    /// ZGC maps its heap shared.
    Zgc(Zgc),
    /// The heap is a file (`AllocateHeapAt`) or a segment of shared memory.
    File,
}

/// The heap as it is mapped at one moment.
#[derive(Debug)]
pub struct Mapped {
    /// All mappings of its memory.
    pub all: Vec<Range<u64>>,
    /// What is to be copied.
    pub used: Vec<Range<u64>>,
    /// How its references are coloured, if they are.
    pub colours: Option<Colours>,
    /// Whether the collector is moving objects.
    pub is_moving: bool,
}

impl SharedHeap {
    /// `None` if a fork copies the heap of this object. An error if it does not, and the heap is
    /// not understood.
    pub fn of(object: &Object<'_>) -> Result<Option<Self>, String> {
        if let Some(zgc) = Zgc::find() {
            return Ok(Some(Self::Zgc(zgc)));
        }
        let why = || "the collector maps the heap so that a fork does not copy it".to_owned();
        if flags::is_on("UseZGC") == Some(true) {
            return Err(why());
        }
        let maps = os_maps().map_err(|error| format!("/proc/self/maps: {error}"))?;
        let mappings = Mappings::parse(&maps);
        let slot = object.handle().bits() & !7;
        match careful_reads::try_read(slot) {
            Some(address) if address % 8 == 0 && mappings.is_private(address) => Ok(None),
            Some(address) if address % 8 == 0 && !mappings.sharing(address).is_empty() => {
                Ok(Some(Self::File))
            }
            _ => Err(why()),
        }
    }

    /// The heap as it is mapped now; `unused` has no objects. `None` if it cannot be read.
    pub fn mapped(self, slot: u64, unused: &[Range<u64>]) -> Option<Mapped> {
        let mappings = Mappings::parse(&os_maps().ok()?);
        let word = careful_reads::try_read(slot)?;
        let Self::Zgc(zgc) = self else {
            let all = mappings.sharing(word);
            let used = without(&all, unused);
            return Some(Mapped {
                all,
                used,
                colours: None,
                is_moving: false,
            });
        };
        let colours = zgc.colours()?;
        let base = colours.base(word)?;
        let all = mappings.sharing_from(base, colours.offset_mask);
        let view: Vec<Range<u64>> = all
            .iter()
            .filter(|range| range.start & !colours.offset_mask == base)
            .cloned()
            .collect();
        let ZHeap {
            used,
            is_relocating,
            ..
        } = zgc.heap(colours, &view)?;
        let is_mapped = |range: &Range<u64>| {
            view.iter()
                .any(|mapped| mapped.start <= range.start && range.end <= mapped.end)
                || mappings.are_readable(range.start, range.end - range.start)
        };
        if !used.iter().all(is_mapped) {
            return None;
        }
        Some(Mapped {
            all,
            used,
            colours: Some(colours),
            is_moving: is_relocating,
        })
    }
}

/// The ranges without these parts, which are in order.
fn without(ranges: &[Range<u64>], parts: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut from = range.start;
        for part in parts
            .iter()
            .filter(|part| part.start < range.end && range.start < part.end)
        {
            left.extend((from < part.start).then_some(from..part.start));
            from = part.end;
        }
        left.extend((from < range.end).then_some(from..range.end));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_parts_are_left_out() {
        let ranges = [10..20, 30..40, 50..60];
        let parts = [0..12, 15..16, 38..52, 60..70];
        assert_eq!(without(&ranges, &parts), [12..15, 16..20, 30..38, 52..60]);
        assert_eq!(without(&ranges, &[]), ranges);
        assert!(without(&ranges, &[0..100; 1]).is_empty());
    }
}
