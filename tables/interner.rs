//! The interner: the one mechanism that maps equal keys to one dense id.

use std::hash::Hash;
use std::sync::Arc;

use dashmap::mapref::entry::Entry;
use dashmap::DashMap;

use crate::{DenseId, Rows};

/// Keys, each stored once, with ids that are dense from 1 in order of arrival.
///
/// Any thread may call any method. Equal keys get one id, however many threads add them at once.
/// Lock order: a shard of the map, then the rows; never the other way round.
#[derive(Debug)]
pub struct Interner<K: ?Sized + Eq + Hash, I> {
    ids: DashMap<Arc<K>, I>,
    rows: Rows<K, I>,
}

impl<K: ?Sized + Eq + Hash, I> Default for Interner<K, I> {
    fn default() -> Self {
        Self {
            ids: DashMap::new(),
            rows: Rows::default(),
        }
    }
}

impl<K: ?Sized + Eq + Hash, I: DenseId> Interner<K, I> {
    /// The id of this key. Adds the key if it is new.
    pub fn intern(&self, key: &K) -> I
    where
        K: ToOwned<Owned: Into<Arc<K>>>,
    {
        // Most keys are known already, so look before allocating.
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        // The entry locks the shard, so no other thread can add this key between the lookup and the
        // insertion.
        match self.ids.entry(key.to_owned().into()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let id = self.rows.add(Arc::clone(place.key()));
                place.insert(id);
                id
            }
        }
    }

    /// The id of this key; `None` if it was never added.
    pub fn find(&self, key: &K) -> Option<I> {
        self.ids.get(key).map(|id| *id)
    }

    /// The key with this id; `None` if the id came from elsewhere.
    pub fn get(&self, id: I) -> Option<Arc<K>> {
        self.rows.get(id)
    }

    /// How many different keys there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Calls `visit` for each key in the order of ids, as they are now; no lock is held meanwhile.
    pub fn for_each(&self, visit: impl FnMut(I, &K)) {
        self.rows.for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StringId;

    #[test]
    fn equal_keys_share_an_id() {
        let strings: Interner<[u8], StringId> = Interner::default();
        let a = strings.intern(b"a".as_slice());
        let b = strings.intern(b"b".as_slice());
        assert_ne!(a, b);
        assert_eq!(strings.intern(b"a".as_slice()), a);
        assert_eq!(strings.find(b"b"), Some(b));
        assert_eq!(strings.find(b"c"), None);
        assert_eq!(strings.len(), 2);
        assert_eq!(strings.get(b).as_deref(), Some(b"b".as_slice()));
    }

    #[test]
    fn keys_come_in_the_order_of_ids() {
        let strings: Interner<[u8], StringId> = Interner::default();
        for text in ["x", "y", "x", "z"] {
            strings.intern(text.as_bytes());
        }
        let mut seen = Vec::new();
        strings.for_each(|id, key| seen.push((id.get(), key.to_vec())));
        assert_eq!(
            seen,
            [(1, b"x".to_vec()), (2, b"y".to_vec()), (3, b"z".to_vec())]
        );
    }

    #[test]
    fn a_race_for_one_key_has_one_winner() {
        let strings: Interner<[u8], StringId> = Interner::default();
        let start = std::sync::Barrier::new(8);
        let ids: Vec<StringId> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        strings.intern(b"one".as_slice())
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().unwrap())
                .collect()
        });
        assert!(ids.iter().all(|id| id.get() == 1));
        assert_eq!(strings.len(), 1);
    }
}
