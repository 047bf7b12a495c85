//! The class and the size of each object, in two bytes: objects of one class have few different
//! sizes.

use std::io;

use foldhash::HashMap;
use rustc_hash::FxHashMap;

use crate::numbers::Numbers;

/// A class and a size that objects have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// Number of the class.
    pub(crate) class: u32,
    /// Size of the object in units.
    pub(crate) units: u32,
}

impl Kind {
    /// Its index among the recent ones.
    #[inline]
    fn place(self) -> usize {
        (self.class ^ self.units) as usize % RECENT
    }
}

/// Number of kinds that are found without a hash lookup. A power of two.
const RECENT: usize = 64;

/// Kinds, numbered from 0 in order of appearance.
#[derive(Debug)]
pub(crate) struct Kinds {
    all: Vec<Kind>,
    numbers: HashMap<Kind, u32>,
    /// Recently used kinds.
    recent: [Option<(Kind, u32)>; RECENT],
}

impl Default for Kinds {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            numbers: HashMap::default(),
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
            // There are at most as many kinds as objects, whose numbers have 32 bits.
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

    /// Adds all kinds of `others`. Returns their numbers here, by their numbers there.
    pub(crate) fn take_in(&mut self, others: &Self) -> Vec<u32> {
        others.all.iter().map(|kind| self.number(*kind)).collect()
    }
}

/// Marks a kind whose number needs more than two bytes. Only arrays have that many sizes, and then
/// most of these arrays are large: there are few.
const RARE: u16 = u16::MAX;

/// The number of each object's kind.
#[derive(Debug)]
pub(crate) struct KindNumbers {
    numbers: Numbers<u16>,
    /// The kind numbers of the objects marked [`RARE`].
    rare: FxHashMap<u32, u32>,
}

impl KindNumbers {
    /// An empty list, with capacity for `objects`. Errors: there is no memory.
    pub(crate) fn with_room(objects: u32) -> io::Result<Self> {
        Ok(Self {
            numbers: Numbers::with_room(objects as usize)?,
            rare: FxHashMap::default(),
        })
    }

    /// Number of objects.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.numbers.all().len()).unwrap_or(u32::MAX)
    }

    /// Appends the kind of the next object.
    #[inline]
    pub(crate) fn push(&mut self, kind: u32) {
        let short = u16::try_from(kind).unwrap_or(RARE);
        if short == RARE {
            self.rare.insert(self.len(), kind);
        }
        self.numbers.push(short);
    }

    /// The number of an object's kind.
    #[inline]
    pub(crate) fn get(&self, object: u32) -> Option<u32> {
        match self.numbers.get(object)? {
            RARE => self.rare.get(&object).copied(),
            short => Some(short.into()),
        }
    }

    /// Prefetches an object's kind.
    #[inline]
    pub(crate) fn prefetch(&self, object: u32) {
        prefetch_index::prefetch_index(self.numbers.all(), object as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_kinds_are_kept() {
        let kinds = [0, 65_534, 65_535, 65_536, 7, 1 << 30];
        let mut numbers = KindNumbers::with_room(6).unwrap();
        kinds.iter().for_each(|kind| numbers.push(*kind));
        let all: Vec<_> = (0..7).map(|object| numbers.get(object)).collect();
        assert_eq!(all.split_last(), Some((&None, &kinds.map(Some)[..])));
        assert_eq!((numbers.len(), numbers.rare.len()), (6, 3));
    }

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
