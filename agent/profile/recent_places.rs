//! What is known of the stacks that a thread met last: a small table in front of the large one. That one is spread over megabytes,
//! most of which are of code that ran once, and each object would wait for two of its cache lines.

use super::allocation_places::Walked;

/// Stacks in the table, 32 bytes each.
const ROOMS: usize = 512;

/// A stack, by its addresses and the level that it was looked up at, and what is known of it.
#[derive(Clone, Copy, Debug)]
struct Recent {
    key: u64,
    what: Walked,
}

const _: () = assert!(std::mem::size_of::<Recent>() == 32);

/// The table: a stack has one room, and the one that comes later has it.
#[derive(Debug)]
pub(super) struct RecentPlaces {
    rooms: Box<[Recent]>,
}

impl Default for RecentPlaces {
    fn default() -> Self {
        // A key like any other, with what does no harm: a walk that is too short goes on.
        let nothing = Recent {
            key: 0,
            what: Walked::TooShort,
        };
        Self {
            rooms: vec![nothing; ROOMS].into(),
        }
    }
}

impl RecentPlaces {
    /// What is known of these addresses at this level, if they were met lately.
    #[inline]
    pub(super) fn get_mut(&mut self, level: usize, addresses: u64) -> Option<&mut Walked> {
        let key = key(level, addresses);
        let recent = self.rooms.get_mut(room(key))?;
        (recent.key == key).then_some(&mut recent.what)
    }

    /// Remembers it until another stack comes to the same room.
    pub(super) fn put(&mut self, level: usize, addresses: u64, what: Walked) {
        let key = key(level, addresses);
        if let Some(recent) = self.rooms.get_mut(room(key)) {
            *recent = Recent { key, what };
        }
    }
}

/// The addresses are a fingerprint already; levels are few.
fn key(level: usize, addresses: u64) -> u64 {
    addresses ^ level as u64
}

/// Not by the lowest bits alone, in which levels differ.
fn room(key: u64) -> usize {
    (key >> 8) as usize % ROOMS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_later_has_the_room() {
        let mut recent = RecentPlaces::default();
        let (one, other) = (0x1234_5678_9ABC_DEF0, 0x0234_5678_9ABC_DEF0);
        assert!(recent.get_mut(0, one).is_none());
        recent.put(0, one, Walked::TooShort);
        assert!(recent.get_mut(0, one).is_some());
        assert!(recent.get_mut(1, one).is_none() && recent.get_mut(0, other).is_none());
        recent.put(0, other, Walked::TooShort);
        assert!(recent.get_mut(0, one).is_none() && recent.get_mut(0, other).is_some());
    }
}
