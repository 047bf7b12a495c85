//! What is known of the stacks that a thread met last: a small table in front of the large one. That one is spread over megabytes,
//! most of which are of code that ran once, and each object would wait for two of its cache lines.

/// Stacks in the table, 32 bytes each.
const ROOMS: usize = 512;

/// A stack, by its addresses and the level that it was looked up at, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recent<W> {
    key: u64,
    what: W,
}

/// The table: a stack has one room, and the one that comes later has it. Many threads allocate little, so there are no rooms
/// before the first stack comes.
///
/// What is known is a small value, whose default does no harm for a stack that nobody has met.
#[derive(Debug, Default)]
pub(crate) struct RecentPlaces<W> {
    rooms: Box<[Recent<W>]>,
}

impl<W: Copy + Default> RecentPlaces<W> {
    /// What is known of these addresses at this level, if they were met lately.
    #[inline]
    pub(crate) fn get_mut(&mut self, level: usize, addresses: u64) -> Option<&mut W> {
        let key = key(level, addresses);
        let recent = self.rooms.get_mut(room(level, addresses))?;
        (recent.key == key).then_some(&mut recent.what)
    }

    /// Remembers it until another stack comes to the same room.
    pub(crate) fn put(&mut self, level: usize, addresses: u64, what: W) {
        if self.rooms.is_empty() {
            let nothing = Recent {
                key: 0,
                what: W::default(),
            };
            self.rooms = vec![nothing; ROOMS].into();
        }
        let key = key(level, addresses);
        if let Some(recent) = self.rooms.get_mut(room(level, addresses)) {
            *recent = Recent { key, what };
        }
    }
}

/// The addresses are a fingerprint already; levels are few.
fn key(level: usize, addresses: u64) -> u64 {
    addresses ^ level as u64
}

/// The same stack is looked up at one level after the other, so these have rooms far from each other.
fn room(level: usize, addresses: u64) -> usize {
    const APART: usize = ROOMS / 3;
    ((addresses >> 8) as usize).wrapping_add(level * APART) % ROOMS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_later_has_the_room() {
        let mut recent = RecentPlaces::default();
        let (one, other) = (0x1234_5678_9ABC_DEF0, 0x0234_5678_9ABC_DEF0);
        assert!(recent.get_mut(0, one).is_none());
        recent.put(0, one, 7_u8);
        assert!(recent.get_mut(0, one).is_some());
        assert!(recent.get_mut(1, one).is_none() && recent.get_mut(0, other).is_none());
        for level in 1..3 {
            recent.put(level, one, 7_u8);
        }
        assert!((0..3).all(|level| recent.get_mut(level, one).is_some()));
        recent.put(0, other, 7_u8);
        assert!(recent.get_mut(0, one).is_none() && recent.get_mut(0, other).is_some());
    }
}
