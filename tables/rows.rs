//! Rows: an append-only list that gives each row a dense id.

use std::marker::PhantomData;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::DenseId;

/// Rows in order of arrival, each with an id that never changes.
///
/// Any thread may call any method; no lock is held when a method returns or a closure runs. At most
/// 2^32 - 1 rows fit. Further rows are dropped and the last id is returned; no process will see
/// that, because that many rows fill hundreds of gigabytes.
#[derive(Debug)]
pub struct Rows<T: ?Sized, I> {
    rows: RwLock<Vec<Arc<T>>>,
    id: PhantomData<fn() -> I>,
}

impl<T: ?Sized, I> Default for Rows<T, I> {
    fn default() -> Self {
        Self {
            rows: RwLock::new(Vec::new()),
            id: PhantomData,
        }
    }
}

impl<T: ?Sized, I: DenseId> Rows<T, I> {
    /// Appends a row and returns its id.
    pub fn add(&self, row: impl Into<Arc<T>>) -> I {
        let (row, mut rows) = (row.into(), self.rows.write());
        match I::from_index(rows.len()) {
            Some(id) => {
                rows.push(row);
                id
            }
            None => I::last(),
        }
    }

    /// The row with this id; `None` if the id came from elsewhere.
    pub fn get(&self, id: I) -> Option<Arc<T>> {
        self.rows.read().get(id.index()).cloned()
    }

    /// Replaces a row; false if there is no such id.
    ///
    /// An `Arc` of the old row stays valid.
    pub fn replace(&self, id: I, row: impl Into<Arc<T>>) -> bool {
        match self.rows.write().get_mut(id.index()) {
            Some(place) => {
                *place = row.into();
                true
            }
            None => false,
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.read().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `visit` for each current row in the order of ids.
    ///
    /// Works on a copy of the list (not of the rows), so `visit` may use this table or any other.
    pub fn for_each(&self, mut visit: impl FnMut(I, &T)) {
        let rows = self.rows.read().clone();
        for (index, row) in rows.iter().enumerate() {
            if let Some(id) = I::from_index(index) {
                visit(id, row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadId;

    #[test]
    fn rows_keep_their_ids() {
        let rows: Rows<str, ThreadId> = Rows::default();
        assert!(rows.is_empty());
        let a = rows.add("a");
        let b = rows.add("b");
        assert_eq!((a.get(), b.get()), (1, 2));
        assert!(rows.replace(a, "c"));
        assert_eq!(rows.get(a).as_deref(), Some("c"));
        assert_eq!(rows.get(b).as_deref(), Some("b"));
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn unknown_ids_find_nothing() {
        let rows: Rows<str, ThreadId> = Rows::default();
        let stranger = ThreadId::new(9).unwrap();
        assert_eq!(rows.get(stranger), None);
        assert!(!rows.replace(stranger, "x"));
    }

    #[test]
    fn the_closure_may_use_the_table() {
        let rows: Rows<str, ThreadId> = Rows::default();
        rows.add("a");
        rows.for_each(|_, row| {
            rows.add(row);
        });
        assert_eq!(rows.len(), 2);
    }
}
