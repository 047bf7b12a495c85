//! A class with all its superclasses.

use crate::{ClassId, ClassTable};
use std::collections::HashSet;

/// A class, its superclass and so on up to `java.lang.Object`.
///
/// Empty if there is no such class. Stops at a class without a row, and at one that occurred
/// before, so a broken table gives a short chain and not an endless one.
pub fn class_chain(classes: &ClassTable, id: ClassId) -> Vec<ClassId> {
    let mut chain = Vec::new();
    let mut met = HashSet::new();
    let mut next = Some(id);
    while let Some(id) = next.filter(|&id| met.insert(id)) {
        let Some(row) = classes.get(id) else { break };
        next = row.super_class;
        chain.push(id);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassRow, StringId};

    fn add(classes: &ClassTable, super_class: Option<ClassId>) -> ClassId {
        let name = StringId::new(1).unwrap();
        classes.add(ClassRow {
            signature: name,
            name,
            loader: None,
            super_class,
            fields: None,
        })
    }

    #[test]
    fn a_chain_ends_at_object() {
        let classes = ClassTable::default();
        let object = add(&classes, None);
        let parent = add(&classes, Some(object));
        let child = add(&classes, Some(parent));
        assert_eq!(class_chain(&classes, child), [child, parent, object]);
    }

    #[test]
    fn a_broken_table_ends() {
        let classes = ClassTable::default();
        let first = add(&classes, ClassId::new(2));
        let second = add(&classes, Some(first));
        assert_eq!(class_chain(&classes, first), [first, second]);
        let stranger = ClassId::new(99).unwrap();
        assert!(class_chain(&classes, stranger).is_empty());
        let orphan = add(&classes, Some(stranger));
        assert_eq!(class_chain(&classes, orphan), [orphan]);
    }
}
