//! A heap that a fork does not copy: whether it is one, and where it is mapped.

use crate::flags::is_on;
use crate::reserved_heap::{mappings, ReservedHeap, MAPS};
use crate::unused_heap::UnusedHeap;
use crate::zgc::Zgc;
use jvm::object::{Handle, Object};
use jvm::os::written_pages::joined;
use jvm::os::{careful_reads, descriptor};
use snapshot::layout::Colours;
use snapshot::mappings::Mappings;
use std::io;
use std::ops::Range;

/// How the kernel names the memory of ZGC (zPhysicalMemoryBacking_linux.cpp).
const OWN_MEMORY: &[u8] = b"/memfd:java_heap (deleted)";
const LARGE_PAGES: &[u8] = b"/memfd:java_heap.hugetlb";

const NOT_COPIED: &str = "the collector maps the heap so that a fork does not copy it";

/// A heap that is mapped shared, and that is understood.
#[derive(Clone, Debug)]
pub struct SharedHeap {
    kind: Kind,
    /// An object.
    object: Handle,
}

/// Why there can be no copy of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncopied {
    /// A fact about this heap, as the end of a sentence: it can never be copied.
    Never(String),
    /// The system did not tell where the heap is, for this reason. It may do so later.
    Unknown(String),
}

#[derive(Clone, Debug)]
enum Kind {
    Zgc(Zgc),
    /// A file (`AllocateHeapAt`) in the range that another collector has reserved.
    InRange(Range<u64>, UnusedHeap),
}

/// The heap as it is mapped at one moment.
#[derive(Debug)]
pub struct Mapped {
    place: Place,
    /// All mappings of its memory, as they were at the end of the look.
    all: Vec<Range<u64>>,
    /// The addresses at which there may be objects, in order. None crosses the end of a mapping.
    pub used: Vec<Range<u64>>,
    /// How its references are coloured; `None` if they are not.
    pub colours: Option<Colours>,
    /// Whether the collector is moving objects.
    pub is_moving: bool,
}

/// Where the heap may be mapped.
#[derive(Clone, Debug)]
enum Place {
    /// At addresses of several views.
    Views { base: u64, offset_mask: u64 },
    /// In this range. What is private there, as archived objects, a fork copies.
    Range(Range<u64>),
}

impl Place {
    /// What is mapped there now.
    fn mapped(&self) -> io::Result<Vec<Range<u64>>> {
        let maps = mappings()?;
        Ok(match self {
            Self::Views { base, offset_mask } => maps.sharing_from(*base, *offset_mask),
            Self::Range(range) => maps.shared(range).collect(),
        })
    }
}

impl Mapped {
    /// All mappings of the heap's memory in this process, which may be a child of the one that
    /// looked: before the fork the collector may have mapped more.
    pub fn mappings(&self) -> io::Result<Vec<Range<u64>>> {
        let mut all = self.all.clone();
        all.extend(self.place.mapped()?);
        Ok(all)
    }

    /// All mappings of the heap's memory, as they were at the end of the look.
    pub fn all(&self) -> &[Range<u64>] {
        &self.all
    }

    /// The addresses at which the used parts may be: one view of the heap.
    pub fn span(&self) -> Range<u64> {
        match &self.place {
            &Place::Views { base, offset_mask } => base..base.saturating_add(offset_mask) + 1,
            Place::Range(range) => range.clone(),
        }
    }

    /// The starts of all views that have mappings.
    pub fn views(&self) -> Vec<u64> {
        let offset_mask = match self.place {
            Place::Views { offset_mask, .. } => offset_mask,
            Place::Range(ref range) => return vec![range.start],
        };
        let starts = self.all.iter().map(|range| range.start & !offset_mask);
        let mut views: Vec<u64> = starts.collect();
        views.sort_unstable();
        views.dedup();
        views
    }

    /// The addresses between which there are objects.
    pub fn objects(&self) -> Option<Range<u64>> {
        match &self.place {
            Place::Views { .. } => {
                let starts = self.used.iter().map(|range| range.start);
                let ends = self.used.iter().map(|range| range.end);
                Some(starts.min()?..ends.max()?)
            }
            // What is private is not listed.
            Place::Range(range) => Some(range.clone()),
        }
    }
}

impl SharedHeap {
    /// `None` if a fork copies the heap of this object. An error if it does not, and the heap is
    /// not understood, or if the system does not tell.
    pub fn of(object: &Object<'_>) -> Result<Option<Self>, Uncopied> {
        let object = object.handle();
        // Before the mappings: a collector may map more for it.
        let address = object.word();
        let maps = descriptor::read(MAPS).map_err(|error| Uncopied::Unknown(error.to_string()))?;
        // Large pages are not copied piece by piece.
        if let Some(zgc) = Zgc::find().filter(|_| !contains(&maps, LARGE_PAGES)) {
            let kind = Kind::Zgc(zgc);
            return Ok(Some(Self { kind, object }));
        }
        let mappings = Mappings::parse(&maps);
        let is_private = |address: u64| address % 8 == 0 && mappings.is_private(address);
        let reserved = ReservedHeap::of(object).map(|heap| heap.reserved.clone());
        let is = |flag| is_on(flag) == Some(true);
        // An object may be private although others are not.
        let kind = match reserved.filter(|range| mappings.shared(range).next().is_some()) {
            // The same.
            Some(_) if is("UseSHM") => None,
            // No account is known of Shenandoah, which moves objects in the stop.
            Some(range) => UnusedHeap::find().map(|account| Kind::InRange(range, account)),
            None if is("UseZGC") => None,
            None if address.is_some_and(is_private) => return Ok(None),
            None => None,
        };
        match kind {
            Some(kind) => Ok(Some(Self { kind, object })),
            None => Err(Uncopied::Never(careful_reads::why_unknown(NOT_COPIED))),
        }
    }

    /// Whether it is memory that the collector has made for it, in small pages. Of other memory a
    /// file system decides how it is mapped.
    pub fn is_own_memory(&self) -> io::Result<bool> {
        let is_zgc = matches!(self.kind, Kind::Zgc(_));
        Ok(is_zgc && contains(&descriptor::read(MAPS)?, OWN_MEMORY))
    }

    /// The heap as it is now; `None` if what was read does not fit together, an error if the system
    /// does not tell. It is certain while the application stands still and no objects are being
    /// moved: then none begin to be.
    pub fn look(&self) -> io::Result<Option<Mapped>> {
        match &self.kind {
            Kind::Zgc(zgc) => look_at_zgc(zgc, self.object),
            Kind::InRange(range, account) => {
                let maps = mappings()?;
                let used = || {
                    let object = self.object.word()?;
                    let used = joined(account.used()?);
                    let has_object = used.iter().any(|part| part.contains(&object));
                    has_object.then_some(used)
                };
                Ok(used().map(|used| Mapped {
                    place: Place::Range(range.clone()),
                    all: maps.shared(range).collect(),
                    used: used.iter().flat_map(|part| maps.shared(part)).collect(),
                    colours: None,
                    is_moving: false,
                }))
            }
        }
    }

    /// Whether the collector is moving objects, with the same answers. Takes a fraction of the time
    /// of a [look](SharedHeap::look).
    pub fn is_moving(&self) -> io::Result<Option<bool>> {
        match &self.kind {
            Kind::Zgc(zgc) => {
                let view = View::of(zgc, self.object);
                view.map_or(Ok(None), |view| view.is_relocating(zgc))
            }
            Kind::InRange(..) => Ok(Some(false)),
        }
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// One view of the heap of ZGC.
struct View {
    base: u64,
    place: Place,
    colours: Colours,
}

impl View {
    /// That in which this object is.
    fn of(zgc: &Zgc, object: Handle) -> Option<Self> {
        let colours = zgc.colours()?;
        let offset_mask = colours.offset_mask;
        let base = colours.base(object.word()?)?;
        let place = Place::Views { base, offset_mask };
        Some(Self {
            base,
            place,
            colours,
        })
    }

    /// The mappings that belong to it.
    fn part(&self, all: &[Range<u64>]) -> Vec<Range<u64>> {
        let offset_mask = self.colours.offset_mask;
        let is_part = |range: &&Range<u64>| range.start & !offset_mask == self.base;
        all.iter().filter(is_part).cloned().collect()
    }

    fn is_relocating(&self, zgc: &Zgc) -> io::Result<Option<bool>> {
        let part = self.part(&self.place.mapped()?);
        Ok(zgc.is_relocating(self.colours, &part))
    }
}

fn look_at_zgc(zgc: &Zgc, object: Handle) -> io::Result<Option<Mapped>> {
    let Some(view) = View::of(zgc, object) else {
        return Ok(None);
    };
    let Some(is_moving) = view.is_relocating(zgc)? else {
        return Ok(None);
    };
    // Whoever has just moved objects may have mapped memory for them.
    let all = view.place.mapped()?;
    let part = view.part(&all);
    let used = zgc.used(view.colours, &part);
    let used = used.and_then(|used| cut_at_ends(&used, &part));
    Ok(used.map(|used| Mapped {
        place: view.place,
        all,
        used,
        colours: Some(view.colours),
        is_moving,
    }))
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
