//! The class table: the classes that are loaded, arrays included.

use crate::{ClassId, LoaderId, Rows, StringId};
use format::BasicType;

/// One field that a class declares itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name.
    pub name: StringId,
    /// Its type as HPROF numbers it.
    pub basic_type: BasicType,
    /// Whether it is declared as an array of a primitive type, so that its target has no
    /// references.
    pub is_primitive_array: bool,
    /// Whether it belongs to the class and not to its instances.
    pub is_static: bool,
}

/// One loaded class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRow {
    /// The JVM's form: `Ljava/lang/String;`, `[I`, `[Ljava/lang/String;`.
    pub signature: StringId,
    /// The form that readers expect (HotSpot's): `java/lang/String`, `[I`, `[Ljava/lang/String;`.
    pub name: StringId,
    /// The defining loader; `None` is the bootstrap loader.
    pub loader: Option<LoaderId>,
    /// The superclass; `None` for `java.lang.Object` and for interfaces.
    pub super_class: Option<ClassId>,
    /// The fields it declares, static and instance together, in the order of JVMTI's
    /// GetClassFields; `None` as long as the class is not prepared.
    pub fields: Option<Vec<Field>>,
}

impl ClassRow {
    /// The fields it declares; none if it is not prepared.
    pub fn own_fields(&self) -> &[Field] {
        self.fields.as_deref().unwrap_or_default()
    }
}

/// Classes in order of arrival. They have no key: two classes with the same name are two rows.
///
/// A class may refer to a superclass that has no row yet, so rows are added first and completed
/// when all have an id.
pub type ClassTable = Rows<ClassRow, ClassId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_may_have_two_classes() {
        let classes = ClassTable::default();
        let name = StringId::new(1).unwrap();
        let row = ClassRow {
            signature: name,
            name,
            loader: None,
            super_class: None,
            fields: None,
        };
        let first = classes.add(row.clone());
        let second = classes.add(row.clone());
        assert_ne!(first, second);
        assert!(classes.get(first).unwrap().own_fields().is_empty());
        assert!(classes.replace(
            second,
            ClassRow {
                super_class: Some(first),
                ..row
            }
        ));
        assert_eq!(classes.get(second).unwrap().super_class, Some(first));
        assert_eq!(classes.len(), 2);
    }
}
