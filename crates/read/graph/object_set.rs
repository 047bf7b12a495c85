//! A set of objects, a bit each.

/// The set.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectSet(Vec<u64>);

impl ObjectSet {
    /// An empty set with room for objects below this number.
    pub(crate) fn with_room(objects: u32) -> Self {
        Self(vec![0; objects as usize / 64 + 1])
    }

    /// Adds an object. Returns whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, object: u32) -> bool {
        let bit = 1 << (object % 64);
        match self.0.get_mut(object as usize / 64) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    /// Whether it has an object.
    #[inline]
    pub(crate) fn contains(&self, object: u32) -> bool {
        let word = self.0.get(object as usize / 64);
        word.is_some_and(|word| word & (1 << (object % 64)) != 0)
    }
}
