//! A heap that a fork does not copy: whether it is one, and where it is mapped.

use crate::flags;
use crate::zgc::Zgc;
use jvm::object::Object;
use jvm::os::careful_reads;
use snapshot::layout::Colours;
use snapshot::mappings::{os_maps, Mappings};
use std::ops::Range;

/// A heap that is mapped shared, and that is understood: that of ZGC.
#[derive(Clone, Copy, Debug)]
pub struct SharedHeap {
    zgc: Zgc,
    /// The slot of an object.
    slot: u64,
}

/// The heap as it is mapped at one moment.
#[derive(Debug)]
pub struct Mapped {
    /// All mappings of its memory, as they were at the end of the look.
    all: Vec<Range<u64>>,
    /// The base of the addresses of one view.
    base: u64,
    /// The addresses at which there may be objects, in order. None crosses the end of a mapping.
    pub used: Vec<Range<u64>>,
    /// How its references are coloured.
    pub colours: Colours,
}

impl Mapped {
    /// All mappings of the heap's memory in this process, which may be a child of the one that
    /// looked: before the fork the collector may have mapped more.
    pub fn mappings(&self) -> Vec<Range<u64>> {
        let now = os_maps()
            .map(|maps| Mappings::parse(&maps).sharing_from(self.base, self.colours.offset_mask));
        let mut all = self.all.clone();
        all.extend(now.unwrap_or_default());
        all
    }

    /// All mappings of the heap's memory, as they were at the end of the look.
    pub fn all(&self) -> &[Range<u64>] {
        &self.all
    }

    /// The addresses at which the used parts may be: one view of the heap.
    pub fn span(&self) -> Range<u64> {
        self.base..self.base.saturating_add(self.colours.offset_mask) + 1
    }

    /// The starts of all views that have mappings.
    pub fn views(&self) -> Vec<u64> {
        let starts = self
            .all
            .iter()
            .map(|range| range.start & !self.colours.offset_mask);
        let mut views: Vec<u64> = starts.collect();
        views.sort_unstable();
        views.dedup();
        views
    }
}

/// What a look at the heap shows.
#[derive(Debug)]
pub enum Look {
    /// The collector is moving objects.
    Moving,
    /// It is not.
    Still(Mapped),
}

impl SharedHeap {
    /// `None` if a fork copies the heap of this object. An error if it does not, and the heap is
    /// not understood.
    pub fn of(object: &Object<'_>) -> Result<Option<Self>, String> {
        let slot = object.handle().bits() & !7;
        if let Some(zgc) = Zgc::find() {
            return Ok(Some(Self { zgc, slot }));
        }
        let maps = os_maps().map_err(|error| format!("/proc/self/maps: {error}"))?;
        let mappings = Mappings::parse(&maps);
        let is_zgc = flags::is_on("UseZGC") == Some(true);
        match careful_reads::try_read(slot).filter(|_| !is_zgc) {
            Some(address) if address % 8 == 0 && mappings.is_private(address) => Ok(None),
            _ => Err("the collector maps the heap so that a fork does not copy it".to_owned()),
        }
    }

    /// The heap as it is now; `None` if it cannot be read. It is certain while the application
    /// stands still: then no objects begin to be moved.
    pub fn look(&self) -> Option<Look> {
        let colours = self.zgc.colours()?;
        let base = colours.base(careful_reads::try_read(self.slot)?)?;
        let maps =
            || Some(Mappings::parse(&os_maps().ok()?).sharing_from(base, colours.offset_mask));
        let view = |all: &[Range<u64>]| -> Vec<Range<u64>> {
            let of_base = all
                .iter()
                .filter(|range| range.start & !colours.offset_mask == base);
            of_base.cloned().collect()
        };
        if self.zgc.is_relocating(colours, &view(&maps()?))? {
            return Some(Look::Moving);
        }
        // Whoever has just moved objects may have mapped memory for them.
        let all = maps()?;
        let view = view(&all);
        let used = self.zgc.used(colours, &view)?;
        let used = cut_at_ends(&used, &view)?;
        Some(Look::Still(Mapped {
            all,
            base,
            used,
            colours,
        }))
    }
}

/// The ranges, cut where mappings end; `None` if a part of them is not mapped. Both are in order.
fn cut_at_ends(ranges: &[Range<u64>], mapped: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
    let mut cut = Vec::new();
    for range in ranges {
        let mut from = range.start;
        let first = mapped.partition_point(|mapping| mapping.end <= from);
        for mapping in mapped.get(first..)? {
            if from >= range.end || mapping.start > from {
                break;
            }
            let end = range.end.min(mapping.end);
            cut.push(from..end);
            from = end;
        }
        if from < range.end {
            return None;
        }
    }
    Some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_cut_where_mappings_end() {
        let mapped = [10..20, 20..30, 40..50];
        let cut = |ranges: &[Range<u64>]| cut_at_ends(ranges, &mapped);
        assert_eq!(
            cut(&[12..15, 18..30, 44..50]),
            Some(vec![12..15, 18..20, 20..30, 44..50])
        );
        assert_eq!(cut(&[]), Some(Vec::new()));
        for unmapped in [8..12, 28..32, 28..44, 32..36, 48..51] {
            assert_eq!(cut(&[unmapped; 1]), None);
        }
    }
}
