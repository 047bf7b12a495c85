//! Maps a class word to the facts that the file needs about an object: fields, offsets, references.

use crate::classes::{ClassFacts, Slot};
use crate::encode::FieldCopy;
use crate::layout::{instance_offset, ObjectLayout};
use crate::memory::Memory;
use crate::values::Values;
use format::redaction::Decision;
use format::BasicType;
use std::collections::HashMap;
use tables::{class_chain, ClassId, ClassRow, Field, Tables};

#[cfg(any(test, feature = "invented"))]
mod invented;

/// How the instances of a class are written to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An instance with fields.
    Instance {
        /// The fields in file order: own fields first, then the superclass's.
        fields: Vec<FieldCopy>,
        /// Bytes of all fields in the file.
        data_bytes: u32,
        /// Offsets of the reference fields, except those declared as arrays of a primitive type.
        references: Vec<u32>,
        /// Offsets of the fields declared as arrays of a primitive type.
        primitive_arrays: Vec<u32>,
        /// Bytes in the heap up to the end of the last known field.
        heap_bytes: u32,
    },
    /// An array of references.
    ObjectArray,
    /// An array of a primitive type.
    PrimitiveArray(BasicType),
    /// The class is not linked: it should have no instances.
    Unknown,
}

/// A reference field of instances that decides whether the elements of its array are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deciding {
    /// Its offset.
    pub offset: u32,
    /// Its decision.
    pub decision: Decision,
}

/// A class as the parent described it.
#[derive(Debug)]
struct Described {
    mirror: Slot,
    shape: Shape,
    deciding: Vec<Deciding>,
}

/// All classes as the parent described them; the snapshot adds addresses.
#[derive(Debug, Default)]
pub struct Descriptions {
    by_class: Vec<Described>,
    class_class: Option<ClassId>,
}

impl Descriptions {
    /// Describes the classes. `values` determines which values the file contains.
    pub fn of(facts: &ClassFacts, tables: &Tables, layout: &ObjectLayout, values: &Values) -> Self {
        let copy = |class: &ClassRow, field: &Field, offset| {
            let is_kept = values.keeps_value(tables, class, field);
            FieldCopy::new(offset, field.basic_type, layout.oops, is_kept)
        };
        let describe = |(index, &mirror): (usize, &Slot)| {
            let class = ClassId::from_index(index)?;
            Some(Described {
                mirror,
                shape: shape(class, facts, tables, copy),
                deciding: deciding(class, facts, tables, values),
            })
        };
        Self {
            by_class: facts
                .slots
                .iter()
                .enumerate()
                .filter_map(describe)
                .collect(),
            class_class: Some(facts.class_class),
        }
    }
}

fn shape(
    class: ClassId,
    facts: &ClassFacts,
    tables: &Tables,
    copy: impl Fn(&ClassRow, &Field, u32) -> Option<FieldCopy>,
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

/// `None` if a class of the superclass chain is not linked, or if an id is not that of an instance
/// field.
fn instance_shape(
    class: ClassId,
    facts: &ClassFacts,
    tables: &Tables,
    copy: impl Fn(&ClassRow, &Field, u32) -> Option<FieldCopy>,
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
                fields.push(copy(&row, field, offset)?);
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

/// The fields of a class's instances, including inherited ones, that decide about arrays.
fn deciding(class: ClassId, facts: &ClassFacts, tables: &Tables, values: &Values) -> Vec<Deciding> {
    let mut found = Vec::new();
    if !values.are_decided() {
        return found;
    }
    for class in class_chain(&tables.classes, class) {
        let Some(row) = tables.classes.get(class) else {
            break;
        };
        let own = row.own_fields().iter().zip(facts.field_ids(class));
        found.extend(
            own.filter(|(field, _)| !field.is_static)
                .filter_map(|(field, id)| Some((field, instance_offset(id.bits())?)))
                .flat_map(|(field, offset)| {
                    values
                        .decisions(tables, &row, field)
                        .map(move |decision| Deciding { offset, decision })
                }),
        );
    }
    found
}

/// A class in the snapshot.
#[derive(Debug)]
pub struct Class {
    /// The class's id.
    pub id: ClassId,
    /// Its mirror's address, which identifies the class in the file.
    pub mirror: u64,
    /// How its instances are written.
    pub shape: Shape,
    /// Whether it is `java.lang.Class`, so that most of its instances are mirrors.
    pub is_class_class: bool,
    /// The fields of its instances that decide about arrays.
    pub deciding: Vec<Deciding>,
}

/// Classes by class word. An open-addressing hash table, because every object of the heap is looked
/// up here.
#[derive(Debug)]
pub struct ClassMap {
    /// Class word and index in `classes`. An index of `u32::MAX` marks a free slot.
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
                deciding: described.deciding,
            });
        }
        map
    }

    /// Inserts the class that will be pushed next.
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

    /// The class with this class word; `None` if the catalogue does not contain it.
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

    /// The class with its mirror at this address. `None` for other objects, for mirrors of
    /// primitive types, and for mirrors of classes that were never loaded.
    pub fn class_of_mirror(&self, mirror: u64) -> Option<ClassId> {
        self.by_mirror.get(&mirror).copied()
    }

    /// One more than the highest class index.
    pub fn index_end(&self) -> usize {
        self.classes.last().map_or(0, |class| class.id.index() + 1)
    }

    /// All classes, in the order of their ids.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }
}

/// Class words differ most in their middle bits. Fibonacci hashing spreads them.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the low half of a hash is a hash
fn hash(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::FieldId;
    use crate::layout::{ArrayLayout, ClassWords, Linear, MirrorInKlass, Oops, StaticIds};
    use crate::memory::BufferMemory;
    use tables::{ClassRow, Field};

    /// Rows and facts of classes, in the same order.
    struct Classes {
        tables: Tables,
        facts: ClassFacts,
    }

    impl Classes {
        fn add(
            &mut self,
            signature: &str,
            super_class: Option<ClassId>,
            fields: Option<&[(BasicType, bool, u64)]>,
        ) -> ClassId {
            let name = self.tables.strings.intern(signature.as_bytes());
            let field = |&(basic_type, is_primitive_array, id): &(BasicType, bool, u64)| Field {
                name,
                basic_type,
                is_primitive_array,
                // HotSpot sets this bit in the ids of instance fields.
                is_static: id & 2 == 0,
            };
            let ids = fields
                .unwrap_or_default()
                .iter()
                .map(|&(.., id)| FieldId::of_bits(id));
            self.facts.push(
                Slot::of_handle(SLOTS + 8 * self.facts.slots.len() as u64),
                ids,
            );
            self.tables.classes.add(ClassRow {
                signature: name,
                name,
                loader: None,
                super_class,
                fields: fields.map(|fields| fields.iter().map(field).collect()),
            })
        }
    }

    const SLOTS: u64 = 0x1000;
    const MIRRORS: u64 = 0x1100;

    /// The id of an instance field at this offset.
    fn at(offset: u64) -> u64 {
        offset << 2 | 2
    }

    fn classes() -> Classes {
        let class_class = ClassId::from_index(1).expect("an id");
        let mut classes = Classes {
            tables: Tables::default(),
            facts: ClassFacts::new(class_class),
        };
        let object = classes.add("Ljava/lang/Object;", None, Some(&[]));
        classes.add(
            "Ljava/lang/Class;",
            Some(object),
            Some(&[(BasicType::Int, false, 0x5000)]),
        );
        let upper = [
            (BasicType::Long, false, at(16)),
            (BasicType::Object, false, at(24)),
        ];
        let upper = classes.add("LUpper;", Some(object), Some(&upper));
        let lower = [
            (BasicType::Object, true, at(28)),
            (BasicType::Boolean, false, at(12)),
        ];
        classes.add("LLower;", Some(upper), Some(&lower));
        classes.add("[I", Some(object), None);
        classes.add("[[I", Some(object), None);
        let unlinked = classes.add("LUnlinked;", Some(object), None);
        classes.add("LBelow;", Some(unlinked), Some(&[]));
        classes
    }

    /// A heap with slots, followed by the mirrors, each with the address of its class.
    fn heap(classes: usize) -> Vec<u8> {
        let count = classes as u64;
        let slots = (0..32).map(|number| {
            if number < count {
                MIRRORS + number * 16
            } else {
                0
            }
        });
        let mirrors = (0..count).flat_map(|number| [1, 0x9000 + number * 8]);
        slots.chain(mirrors).flat_map(u64::to_le_bytes).collect()
    }

    fn layout() -> ObjectLayout {
        ObjectLayout {
            oops: Oops::Narrow(Linear { base: 0, shift: 3 }),
            class_words: ClassWords::Wide,
            klasses: Linear::PLAIN,
            klass_in_mirror: 8,
            mirror_in_klass: MirrorInKlass {
                offset: 0,
                through_slot: false,
            },
            arrays: ArrayLayout {
                length: 16,
                elements: [20; 12],
            },
            static_ids: StaticIds {
                holder: 0,
                offset: 8,
            },
        }
    }

    #[test]
    fn a_class_tells_what_its_instances_look_like() {
        let classes = classes();
        let bytes = heap(8);
        let memory = BufferMemory::new(SLOTS, &bytes);
        let layout = layout();
        let descriptions =
            Descriptions::of(&classes.facts, &classes.tables, &layout, &Values::all());
        let map = ClassMap::new(descriptions, &layout, memory);
        let shape = |number: u64| &map.get(0x9000 + number * 8).expect("a class").shape;
        let copy = |offset, basic_type| {
            FieldCopy::new(offset, basic_type, layout.oops, true).expect("behind the header")
        };
        let expected = Shape::Instance {
            fields: vec![
                copy(28, BasicType::Object),
                copy(12, BasicType::Boolean),
                copy(16, BasicType::Long),
                copy(24, BasicType::Object),
            ],
            data_bytes: 8 + 1 + 8 + 8,
            references: vec![24],
            primitive_arrays: vec![28],
            heap_bytes: 32,
        };
        assert_eq!(*shape(3), expected);
        let nothing = Shape::Instance {
            fields: Vec::new(),
            data_bytes: 0,
            references: Vec::new(),
            primitive_arrays: Vec::new(),
            heap_bytes: 16,
        };
        // Static fields belong to the mirror, not to instances.
        assert_eq!((shape(0), shape(1)), (&nothing, &nothing));
        assert_eq!(*shape(4), Shape::PrimitiveArray(BasicType::Int));
        assert_eq!(*shape(5), Shape::ObjectArray);
        assert_eq!((shape(6), shape(7)), (&Shape::Unknown, &Shape::Unknown));
        assert!(map.get(0x9000 + 8 * 8).is_none());
        for (number, class) in map.classes().iter().enumerate() {
            assert_eq!(
                (class.id.index(), class.mirror),
                (number, MIRRORS + number as u64 * 16)
            );
            assert_eq!(class.is_class_class, number == 1);
            assert_eq!(map.class_of_mirror(class.mirror), Some(class.id));
        }
        assert_eq!(
            (map.class_of_mirror(MIRRORS + 8), map.index_end()),
            (None, 8)
        );
    }
}
