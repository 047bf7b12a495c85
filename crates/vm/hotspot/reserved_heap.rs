//! The addresses that HotSpot has reserved for the heap, and what of them is in use as memory.

use crate::layouts::Reserved;
use crate::unused_heap::{word, words};
use jvm::object::Handle;
use jvm::os::descriptor;
use jvm::os::written_pages::without as range_without;
use snapshot::mappings::Mappings;
use std::io;
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;

/// The file with this process's mappings.
pub(crate) const MAPS: &str = "/proc/self/maps";

/// The reserved range of any collector but ZGC.
#[derive(Clone, Debug)]
pub struct ReservedHeap {
    /// All addresses at which the heap may ever be.
    pub reserved: Range<u64>,
}

impl ReservedHeap {
    /// `None` if this JVM does not export the range, or if this object is not in it.
    pub fn of(object: Handle) -> Option<Self> {
        let place = Reserved::find().ok()?;
        let heap = word(place.heap)?;
        let [start, length] = words([heap + place.start, heap + place.words])?;
        let reserved = start..start.checked_add(length.checked_mul(8)?)?;
        let whole = [reserved.start, reserved.end].map(|edge| edge % PAGE_BYTES == 0);
        let own = object.word()?;
        (whole == [true; 2] && reserved.contains(&own)).then_some(Self { reserved })
    }

    /// The parts that are memory of their own now: not what is only reserved, and not memory of a
    /// file, such as archived objects.
    pub fn mapped(&self) -> io::Result<Vec<Range<u64>>> {
        Ok(mappings()?.anonymous(&self.reserved).collect())
    }
}

/// This process's mappings.
pub(crate) fn mappings() -> io::Result<Mappings> {
    Ok(Mappings::parse(&descriptor::read(MAPS)?))
}

/// The ranges without these parts. Both are in order.
pub fn without(ranges: &[Range<u64>], parts: &[Range<u64>]) -> Vec<Range<u64>> {
    let left = ranges.iter().flat_map(|range| range_without(range, parts));
    left.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_out_of_ranges() {
        let ranges = [10..20, 30..40];
        let left = |parts: &[Range<u64>]| without(&ranges, parts);
        assert_eq!(left(&[]), ranges);
        assert_eq!(left(&[0..5, 20..30, 50..60]), ranges);
        assert_eq!(left(&[12..14, 15..33]), [10..12, 14..15, 33..40]);
        assert_eq!(left(&[10..20, 34..35]), [30..34, 35..40]);
        assert_eq!(left(&[8..11, 39..44]), [11..20, 30..39]);
        assert_eq!(left(&[0..25, 25..100]), []);
    }
}
