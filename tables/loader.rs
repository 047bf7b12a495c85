//! The loader table: the class loader objects.

use crate::{Interner, LoaderId, ObjectIndex};

/// Class loaders, each identified by its object.
///
/// The bootstrap loader is not an object and has no row: a `None` stands for it. Any thread may
/// call any method.
#[derive(Debug, Default)]
pub struct LoaderTable {
    loaders: Interner<ObjectIndex, LoaderId>,
}

impl LoaderTable {
    /// The id of the loader with this object.
    pub fn intern(&self, object: ObjectIndex) -> LoaderId {
        self.loaders.intern(object)
    }

    /// The loader's object; `None` if the id came from elsewhere.
    pub fn get(&self, id: LoaderId) -> Option<ObjectIndex> {
        self.loaders.get(id).map(|object| *object)
    }

    /// The number of loaders, not counting the bootstrap loader.
    pub fn len(&self) -> usize {
        self.loaders.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.loaders.is_empty()
    }

    /// Calls `visit` for each loader in the order of ids; no lock is held meanwhile.
    pub fn for_each(&self, mut visit: impl FnMut(LoaderId, ObjectIndex)) {
        self.loaders.for_each(|id, object| visit(id, *object));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_is_one_loader() {
        let loaders = LoaderTable::default();
        let object = ObjectIndex::new(17).unwrap();
        let id = loaders.intern(object);
        assert_eq!(loaders.intern(object), id);
        assert_eq!(loaders.get(id), Some(object));
        assert_eq!(loaders.len(), 1);
    }
}
