//! Shapes: what the file must say of an object of each class, and the object that is being put together.

use super::class_values::StaticValue;
use crate::heap::error::DumpError;
use crate::heap::facts::catalogue::Catalogue;
use format::BasicType;
use tables::{ClassId, InstanceLayout, ObjectIndex, StringId, Tables};

/// What the instances of a class look like in the file.
#[derive(Debug)]
pub(super) enum Shape {
    /// An object with fields.
    Instance(InstanceLayout),
    /// An array of references.
    ObjectArray,
    /// An array of primitive values.
    PrimitiveArray(BasicType),
    /// The class was not linked when it was looked at: its fields are asked for after the walk.
    Unknown,
}

impl Shape {
    /// The shape of a class's instances, from its row.
    pub(super) fn of(tables: &Tables, class: ClassId) -> Self {
        let Some(row) = tables.classes.get(class) else {
            return Self::Unknown;
        };
        match signature(tables, row.signature).as_deref() {
            Some([b'[', element]) => match BasicType::from_descriptor(*element) {
                Some(element) => Self::PrimitiveArray(element),
                None => Self::Unknown,
            },
            Some([b'[', ..]) => Self::ObjectArray,
            _ if row.fields.is_none() => Self::Unknown,
            _ => InstanceLayout::of(&tables.classes, class).map_or(Self::Unknown, Self::Instance),
        }
    }

    /// The shapes of all classes of the catalogue, in their order.
    pub(super) fn all(tables: &Tables, catalogue: &Catalogue<'_>) -> Vec<Self> {
        (0..catalogue.first_look())
            .filter_map(ClassId::from_index)
            .map(|class| Self::of(tables, class))
            .collect()
    }
}

fn signature(tables: &Tables, id: StringId) -> Option<std::sync::Arc<[u8]>> {
    tables.strings.get(id)
}

/// The object whose references are being reported.
#[derive(Debug)]
pub(super) struct Open {
    /// Which object.
    pub(super) index: ObjectIndex,
    /// What is known of it so far.
    pub(super) content: Content,
}

/// What is known of an object so far.
#[derive(Debug)]
pub(super) enum Content {
    /// A class: its values go to its `ClassValues`.
    Mirror,
    /// Field values, big-endian, in the order of the file. The shape is the class's.
    Instance { class: ClassId, data: Vec<u8> },
    /// Element ids, big-endian.
    ObjectArray { elements: Vec<u8> },
    /// Elements are written as they come.
    PrimitiveArray { element_type: BasicType, told: bool },
    /// Of a class whose fields are not known yet: values by JVMTI field or element index.
    Late(Vec<(u32, StaticValue)>),
}

/// `len` zero bytes, or an error where there is no memory for them; never an abort.
pub(super) fn zeros(len: usize, mut spare: Vec<u8>) -> Result<Vec<u8>, DumpError> {
    spare.clear();
    spare.try_reserve(len).map_err(|_| DumpError::TableFull)?;
    spare.resize(len, 0);
    Ok(spare)
}

/// Writes a value's big-endian bytes over those at `offset`; an error if they do not fit.
pub(super) fn overwrite(data: &mut [u8], offset: usize, value: &[u8]) -> Result<(), DumpError> {
    let place = offset
        .checked_add(value.len())
        .and_then(|end| data.get_mut(offset..end));
    place
        .ok_or(DumpError::Layout("a field or an element"))?
        .copy_from_slice(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_inside_their_object() {
        let mut data = zeros(4, Vec::new()).expect("memory");
        assert_eq!(overwrite(&mut data, 2, &[7, 8]), Ok(()));
        assert_eq!(data, [0, 0, 7, 8]);
        assert!(overwrite(&mut data, 3, &[1, 2]).is_err());
        assert!(overwrite(&mut data, usize::MAX, &[1]).is_err());
    }

    #[test]
    fn a_spare_buffer_is_cleaned() {
        assert_eq!(zeros(2, vec![9, 9, 9]).expect("memory"), [0, 0]);
    }
}
