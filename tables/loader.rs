//! The loader table: the class loader objects.

use crate::{Interner, LoaderId, ObjectIndex};

/// Class loaders, each identified by its object.
///
/// The bootstrap loader is not an object and has no row: a `None` stands for it.
pub type LoaderTable = Interner<ObjectIndex, LoaderId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_is_one_loader() {
        let loaders = LoaderTable::default();
        let object = ObjectIndex::new(17).unwrap();
        let id = loaders.intern(&object);
        assert_eq!(loaders.intern(&object), id);
        assert_eq!(loaders.get(id).as_deref(), Some(&object));
        assert_eq!(loaders.len(), 1);
    }
}
