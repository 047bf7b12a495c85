//! The loader table: the objects that have loaded classes.

use crate::{Interner, LoaderId, ObjectIndex};

/// Class loaders, each known by its object.
///
/// The bootstrap loader is no object and has no row: it is `None` wherever a loader may stand. Any
/// thread may call any method.
#[derive(Debug, Default)]
pub struct LoaderTable {
    loaders: Interner<ObjectIndex, LoaderId>,
}

impl LoaderTable {
    /// The id of the loader that is this object.
    pub fn intern(&self, object: ObjectIndex) -> LoaderId {
        self.loaders.intern(object)
    }

    /// The loader's object; `None` if the id came from elsewhere.
    pub fn get(&self, id: LoaderId) -> Option<ObjectIndex> {
        self.loaders.get(id).map(|object| *object)
    }

    /// How many loaders there are, the bootstrap loader not counted.
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
