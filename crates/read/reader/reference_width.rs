//! How wide references in the heap are, by the addresses of neighbouring objects.
//!
//! HPROF does not say it. Where an object is too close to an array of references before it, they
//! are narrow (compressed). Where the objects after arrays start exactly at the end of wide
//! elements, references are wide.

/// Bytes before the first element, if references are wide: with a compressed class pointer, and
/// without.
const WIDE_HEADERS: [u64; 2] = [16, 24];

/// Exact ends that show wide references, if they are also half of all: garbage between objects
/// makes some by chance.
const WIDE_ENDS_LEAST: u64 = 16;

/// HotSpot compresses references by default where all addresses are below this one.
const HIGHEST_NARROW: u64 = 32 << 30;

/// The evidence in the objects so far, in the order of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceWidth {
    /// The last object.
    last: u64,
    /// Bytes of its elements, if it is an array of references and they are wide; otherwise 0.
    elements_bytes: u64,
    /// Highest id.
    highest: u64,
    /// Whether an object is too close to an array for wide references.
    is_narrow: bool,
    /// Arrays of several references before another object.
    arrays: u64,
    /// How many of them end where that object starts, if references are wide.
    wide_ends: u64,
}

impl ReferenceWidth {
    /// Starts another part of the heap: its first object has no neighbour.
    pub fn restart(&mut self) {
        (self.last, self.elements_bytes) = (0, 0);
    }

    /// The next object is not an array of references.
    #[inline]
    pub fn object(&mut self, id: u64) {
        self.array(id, 0);
    }

    /// The next object is an array of `length` references.
    #[inline]
    pub fn array(&mut self, id: u64, length: u32) {
        if self.elements_bytes > 0 {
            self.judge(id);
        }
        self.highest = self.highest.max(id);
        (self.last, self.elements_bytes) = (id, u64::from(length) * 8);
    }

    /// Compares the distance of the object after an array with the array's length.
    fn judge(&mut self, id: u64) {
        // Only a neighbour directly after an array shows how wide its elements are.
        let Some(bytes) = id.checked_sub(self.last).filter(|bytes| *bytes > 0) else {
            return;
        };
        let [least, _] = WIDE_HEADERS;
        self.is_narrow |= bytes < least + self.elements_bytes;
        // An array of one reference may have the same size with either width.
        if self.elements_bytes > 8 {
            let is_end = WIDE_HEADERS.contains(&bytes.wrapping_sub(self.elements_bytes));
            self.arrays += 1;
            self.wide_ends += u64::from(is_end);
        }
    }

    /// Adds the evidence of another part.
    pub fn merge(&mut self, other: &Self) {
        self.highest = self.highest.max(other.highest);
        self.is_narrow |= other.is_narrow;
        self.arrays += other.arrays;
        self.wide_ends += other.wide_ends;
    }

    /// Whether references have 4 bytes, in a file with ids of 8 bytes.
    pub fn is_narrow(&self) -> bool {
        let are_ends = self.wide_ends >= WIDE_ENDS_LEAST.max(self.arrays.div_ceil(2));
        self.is_narrow || self.highest < HIGHEST_NARROW && !are_ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrays of `length` references at this distance from each other.
    fn arrays(start: u64, count: u64, length: u32, distance: u64) -> ReferenceWidth {
        let mut width = ReferenceWidth::default();
        (0..count).for_each(|place| width.array(start + place * distance, length));
        width
    }

    #[test]
    fn low_addresses_mean_narrow_references_unless_arrays_show_wide_ones() {
        for header in WIDE_HEADERS {
            let mut wide = arrays(1 << 31, 18, 10, header + 80);
            assert!(!wide.is_narrow());
            assert!(arrays(1 << 31, 16, 10, header + 80).is_narrow(), "few");
            wide.merge(&arrays(1 << 31, 20, 10, 120));
            assert!(wide.is_narrow(), "not half of them");
        }
        assert!(arrays(1 << 31, 20, 10, 56).is_narrow());
        assert!(arrays(1 << 31, 20, 10, 120).is_narrow(), "garbage between");
        for (length, bytes) in [(0, 16), (1, 24)] {
            assert!(arrays(1 << 31, 20, length, bytes).is_narrow(), "{length}");
        }
    }

    #[test]
    fn one_object_too_close_outweighs_all_others() {
        for start in [1 << 31, 1 << 40] {
            let mut width = arrays(start, 6, 10, 104);
            width.merge(&arrays(start + 0x1000, 2, 10, 56));
            assert!(width.is_narrow());
        }
    }

    #[test]
    fn high_addresses_mean_wide_references() {
        assert!(!arrays(1 << 40, 2, 10, 4096).is_narrow());
        assert!(arrays(1 << 40, 2, 10, 56).is_narrow());
    }

    #[test]
    fn parts_are_no_neighbours() {
        let mut width = arrays(1 << 40, 1, 10, 0);
        width.restart();
        width.object((1 << 40) + 8);
        assert!(!width.is_narrow());
        width.object(8);
        assert!(!width.is_narrow());
    }
}
