//! The class and the size of each object, in four bytes: objects of a class have few different sizes.

use rustc_hash::FxHashMap;

/// What objects have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// Number of the class.
    pub(crate) class: u32,
    /// Size of the object in units.
    pub(crate) units: u32,
}

impl Kind {
    /// Its place among the recent ones.
    #[inline]
    fn place(self) -> usize {
        (self.class ^ self.units) as usize % RECENT
    }
}

/// Kinds that are found without a search, by their lowest bits. A power of two.
const RECENT: usize = 64;

/// Kinds, numbered from 0 as they are met.
#[derive(Debug)]
pub(crate) struct Kinds {
    all: Vec<Kind>,
    numbers: FxHashMap<Kind, u32>,
    /// Kinds that were met lately.
    recent: [Option<(Kind, u32)>; RECENT],
}

impl Default for Kinds {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            numbers: FxHashMap::default(),
            recent: [None; RECENT],
        }
    }
}

impl Kinds {
    /// The number of a kind.
    #[inline]
    pub(crate) fn number(&mut self, kind: Kind) -> u32 {
        match self.recent.get(kind.place()) {
            Some(Some((recent, number))) if *recent == kind => *number,
            _ => self.look_up(kind),
        }
    }

    fn look_up(&mut self, kind: Kind) -> u32 {
        let all = &mut self.all;
        let number = *self.numbers.entry(kind).or_insert_with(|| {
            all.push(kind);
            // No more than there are objects, which have 32 bits.
            u32::try_from(all.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(slot) = self.recent.get_mut(kind.place()) {
            *slot = Some((kind, number));
        }
        number
    }

    /// All kinds by number.
    pub(crate) fn all(&self) -> &[Kind] {
        &self.all
    }

    /// The numbers here of all kinds of `others`, by their numbers there.
    pub(crate) fn take_in(&mut self, others: &Self) -> Vec<u32> {
        others.all.iter().map(|kind| self.number(*kind)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_one_number() {
        let kind = |class, units| Kind { class, units };
        let (mut one, mut other) = (Kinds::default(), Kinds::default());
        let met = [kind(7, 2), kind(7, 2), kind(8, 2), kind(7, 3), kind(7, 2)];
        assert_eq!(met.map(|kind| one.number(kind)), [0, 0, 1, 2, 0]);
        let met = [kind(9, 1), kind(7, 3)];
        assert_eq!(met.map(|kind| other.number(kind)), [0, 1]);
        assert_eq!(one.take_in(&other), [3, 2]);
        let all = [kind(7, 2), kind(8, 2), kind(7, 3), kind(9, 1)];
        assert_eq!(one.all(), all);
    }
}
