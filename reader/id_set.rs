//! A set of identifiers that stays small when they are addresses.

use roaring::RoaringTreemap;

/// Bits that are zero in an address of a HotSpot object.
const ALIGNMENT_BITS: u32 = 3;

/// Ids of objects, classes or strings.
#[derive(Debug, Default)]
pub struct IdSet {
    bits: RoaringTreemap,
}

impl IdSet {
    /// Adds an id; false if it was there already.
    pub fn insert(&mut self, id: u64) -> bool {
        self.bits.insert(packed(id))
    }

    /// Whether the id is in the set.
    pub fn contains(&self, id: u64) -> bool {
        self.bits.contains(packed(id))
    }

    /// Number of ids.
    pub fn len(&self) -> u64 {
        self.bits.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }
}

/// Turns the low bits to the top, so that aligned ids become dense and unaligned ones stay distinct.
fn packed(id: u64) -> u64 {
    id.rotate_right(ALIGNMENT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_stay_apart() {
        let mut ids = IdSet::default();
        assert!(ids.is_empty());
        for id in [0, 1, 7, 8, u64::MAX, u64::MAX - 7] {
            assert!(!ids.contains(id));
            assert!(ids.insert(id));
            assert!(!ids.insert(id));
        }
        assert_eq!(ids.len(), 6);
    }
}
