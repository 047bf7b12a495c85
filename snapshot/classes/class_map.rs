//! From a class word to what the file must say of an object: fields, offsets, references.

use crate::classes::{ClassFacts, Slot};
use crate::encode::FieldCopy;
use crate::layout::{instance_offset, ObjectLayout};
use crate::memory::Memory;
use format::BasicType;
use std::collections::HashMap;
use tables::{class_chain, ClassId, Tables};

/// What the instances of a class look like in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Fields in the order of the file, and how many bytes they are there.
    Instance {
        /// Own fields first, then the superclass's.
        fields: Vec<FieldCopy>,
        /// Bytes of all fields in the file.
        data_bytes: u32,
        /// Offsets of the references among them, but for those to arrays of a primitive type.
        references: Vec<u32>,
        /// Offsets of those that are declared as such.
        primitive_arrays: Vec<u32>,
        /// Bytes in the heap, as far as the fields tell.
        heap_bytes: u32,
    },
    /// An array of references.
    ObjectArray,
    /// An array of a primitive type.
    PrimitiveArray(BasicType),
    /// The class is not linked: it should have no instances.
    Unknown,
}

/// A class as the parent knew it.
#[derive(Debug)]
struct Described {
    mirror: Slot,
    shape: Shape,
}

/// All classes as the parent knew them: the snapshot adds addresses.
#[derive(Debug, Default)]
pub struct Descriptions {
    by_class: Vec<Described>,
    class_class: Option<ClassId>,
}

impl Descriptions {
    /// Describes the classes; `values` if the file has the values of primitive fields.
    pub fn of(facts: &ClassFacts, tables: &Tables, layout: &ObjectLayout, values: bool) -> Self {
        let copy = |offset, basic_type| FieldCopy::new(offset, basic_type, layout.oops, values);
        let describe = |(index, &mirror): (usize, &Slot)| {
            let class = ClassId::from_index(index)?;
            Some(Described {
                mirror,
                shape: shape(class, facts, tables, copy),
            })
        };
        Self {
            by_class: facts
                .slots()
                .iter()
                .enumerate()
                .filter_map(describe)
                .collect(),
            class_class: Some(facts.class_class()),
        }
    }
}

fn shape(
    class: ClassId,
    facts: &ClassFacts,
    tables: &Tables,
    copy: impl Fn(u32, BasicType) -> Option<FieldCopy>,
) -> Shape {
    let Some(row) = tables.classes.get(class) else {
        return Shape::Unknown;
    };
    match tables.strings.get(row.signature).as_deref() {
        Some([b'[', element]) => match BasicType::from_descriptor(*element) {
            Some(element) => Shape::PrimitiveArray(element),
            None => Shape::Unknown,
        },
        Some([b'[', ..]) => Shape::ObjectArray,
        _ => instance_shape(class, facts, tables, copy).unwrap_or(Shape::Unknown),
    }
}

/// `None` if a class of the chain is not linked, or an id is not that of an instance field.
fn instance_shape(
    class: ClassId,
    facts: &ClassFacts,
    tables: &Tables,
    copy: impl Fn(u32, BasicType) -> Option<FieldCopy>,
) -> Option<Shape> {
    let (mut fields, mut heap_bytes) = (Vec::new(), 16);
    let (mut references, mut primitive_arrays) = (Vec::new(), Vec::new());
    let mut data_bytes = 0;
    for class in class_chain(&tables.classes, class) {
        let row = tables.classes.get(class)?;
        let own = row.fields.as_ref()?;
        for (field, id) in own.iter().zip(facts.field_ids(class)) {
            if !field.is_static {
                let (offset, basic_type) = (instance_offset(id.bits())?, field.basic_type);
                fields.push(copy(offset, basic_type)?);
                data_bytes += basic_type.size_bytes(8);
                heap_bytes = heap_bytes.max(offset + basic_type.size_bytes(4));
                match basic_type {
                    BasicType::Object if field.is_primitive_array => primitive_arrays.push(offset),
                    BasicType::Object => references.push(offset),
                    _ => {}
                }
            }
        }
    }
    Some(Shape::Instance {
        fields,
        data_bytes,
        references,
        primitive_arrays,
        heap_bytes: heap_bytes.next_multiple_of(8),
    })
}

/// A class in the snapshot.
#[derive(Debug)]
pub struct Class {
    /// Which class.
    pub id: ClassId,
    /// Its mirror's address, by which the file knows it.
    pub mirror: u64,
    /// What its instances look like.
    pub shape: Shape,
    /// It is `java.lang.Class`: its instances are mostly mirrors.
    pub is_class_class: bool,
}

/// Classes by class word: an open hash table, since every object of the heap looks here.
#[derive(Debug)]
pub struct ClassMap {
    /// Class word and place in `classes`; a place of `u32::MAX` is free.
    slots: Vec<(u64, u32)>,
    classes: Vec<Class>,
    by_mirror: HashMap<u64, ClassId>,
}

const FREE: u32 = u32::MAX;

impl ClassMap {
    /// Reads each class's address and class word.
    pub fn new(descriptions: Descriptions, layout: &ObjectLayout, memory: impl Memory) -> Self {
        let class_class = descriptions.class_class;
        let count = descriptions.by_class.len();
        let mut map = Self {
            slots: vec![(0, FREE); (count * 4).next_power_of_two()],
            classes: Vec::with_capacity(count),
            by_mirror: HashMap::with_capacity(count),
        };
        for (index, described) in descriptions.by_class.into_iter().enumerate() {
            let Some(id) = ClassId::from_index(index) else {
                break;
            };
            let mirror = described.mirror.object(memory);
            map.by_mirror.insert(mirror, id);
            if let Some(word) = layout.class_word_of(memory, mirror) {
                map.insert(word);
            }
            map.classes.push(Class {
                id,
                mirror,
                shape: described.shape,
                is_class_class: Some(id) == class_class,
            });
        }
        map
    }

    /// Enters the class that is pushed next.
    fn insert(&mut self, word: u64) {
        let place = u32::try_from(self.classes.len()).unwrap_or(FREE);
        let mask = self.slots.len() - 1;
        let mut at = hash(word) & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.1 == FREE {
                *slot = (word, place);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// The class with this class word; `None` if the catalogue does not know it.
    #[inline]
    pub fn get(&self, word: u64) -> Option<&Class> {
        let mask = self.slots.len() - 1;
        let mut at = hash(word) & mask;
        loop {
            match self.slots.get(at) {
                Some(&(found, place)) if place != FREE => {
                    if found == word {
                        return self.classes.get(place as usize);
                    }
                }
                _ => return None,
            }
            at = (at + 1) & mask;
        }
    }

    /// The class whose mirror stands at this address; `None` for other objects, and for mirrors of primitive types and
    /// of classes that were never loaded.
    pub fn class_of_mirror(&self, mirror: u64) -> Option<ClassId> {
        self.by_mirror.get(&mirror).copied()
    }

    /// Classes of these shapes, whose class words are 1, 2 and so on.
    #[cfg(any(test, feature = "invented"))]
    pub fn of_shapes(shapes: Vec<Shape>) -> Self {
        let mut map = Self {
            slots: vec![(0, FREE); (shapes.len() * 4).next_power_of_two()],
            classes: Vec::new(),
            by_mirror: HashMap::new(),
        };
        for (index, shape) in shapes.into_iter().enumerate() {
            let word = index as u64 + 1;
            let Some(id) = ClassId::from_index(index) else {
                break;
            };
            map.insert(word);
            map.classes.push(Class {
                id,
                mirror: word << 40,
                shape,
                is_class_class: false,
            });
        }
        map
    }

    /// Above the index of every class.
    pub fn index_end(&self) -> usize {
        self.classes.last().map_or(0, |class| class.id.index() + 1)
    }

    /// All classes, in the order of their ids.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }
}

/// Class words differ in their middle bits most: Fibonacci hashing spreads them.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the low half of a hash is a hash
fn hash(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}
