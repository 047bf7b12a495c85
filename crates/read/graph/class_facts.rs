//! The facts about each class for the second pass: the offsets of references in an instance, and
//! the instance's size.

use foldhash::HashMap;
use format::{BasicType, JvmFacts};
use reader::{ClassTable, Directory, Layout, Sizes, StringTable, CLASS_OF_CLASSES};

use crate::id_index::IdIndex;

/// No object, or no class.
pub(crate) const NONE: u32 = u32::MAX;

/// The name of a class that has no record.
pub const UNKNOWN_CLASS: &str = "class not in the dump";

/// Whether references that do not keep an object alive count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum References {
    /// All references count, also weak, soft, phantom and finalizer references: Eclipse MAT's rule.
    #[default]
    All,
    /// The field `referent` of `java.lang.ref.Reference` does not count.
    Strong,
}

/// Name of the field that does not keep its target alive.
const REFERENT: &str = "referent";

/// One class.
#[derive(Clone, Debug)]
pub(crate) struct ClassFacts {
    /// Offsets of the references in an instance's field values, ascending.
    pub(crate) references: Box<[u32]>,
    /// Offset of the reference that does not keep its target alive, if the class has one.
    pub(crate) referent: Option<u32>,
    /// Size of an instance in units.
    pub(crate) units: u32,
    /// The class object's number; [`NONE`] if it is not in the dump.
    pub(crate) object: u32,
}

/// All classes of a dump. First come those of the [`ClassTable`] in its order, then one for each
/// type of primitive array that the table does not contain, then one for objects whose class is not
/// in the dump.
#[derive(Debug)]
pub(crate) struct AllFacts {
    facts: Vec<ClassFacts>,
    /// The file determines the ids, so the hash function is seeded.
    by_id: HashMap<u64, u32>,
    /// Class of primitive arrays, by the code of their element type.
    arrays: [u32; 12],
    unknown: u32,
    /// `java.lang.Class`.
    pub(crate) of_classes: u32,
}

impl AllFacts {
    /// The facts about all classes, with resolved layouts.
    pub(crate) fn new(directory: &Directory, ids: &IdIndex, sizes: &Sizes) -> Self {
        let (table, strings) = (&directory.classes, &directory.strings);
        let rule = Rule {
            table,
            strings,
            sizes,
            facts: strings.facts(),
        };
        let count = u32::try_from(table.len()).unwrap_or(NONE);
        let mut all = Self {
            facts: Vec::with_capacity(table.len()),
            by_id: HashMap::default(),
            arrays: [NONE; 12],
            unknown: NONE,
            of_classes: NONE,
        };
        for (number, class) in (0..count).zip(table.iter()) {
            all.facts.push(ClassFacts {
                object: ids.number(class.id).unwrap_or(NONE),
                ..rule.instance(number as usize)
            });
            all.by_id.insert(class.id, number);
            all.note_special(number, class.name, strings);
        }
        for slot in all.arrays.iter_mut().filter(|slot| **slot == NONE) {
            *slot = u32::try_from(all.facts.len()).unwrap_or(NONE);
            all.facts.push(ClassFacts::without_fields(sizes));
        }
        all.unknown = u32::try_from(all.facts.len()).unwrap_or(NONE);
        all.facts.push(ClassFacts::without_fields(sizes));
        if all.of_classes == NONE {
            all.of_classes = all.unknown;
        }
        all
    }

    fn note_special(&mut self, number: u32, name: u64, strings: &StringTable) {
        // Most names are longer than all of these.
        if strings.bytes(name).is_none_or(|name| name.len() > 15) {
            return;
        }
        if self.of_classes == NONE && strings.is_class(name, CLASS_OF_CLASSES) {
            self.of_classes = number;
        }
        for (code, slot) in (0..).zip(&mut self.arrays) {
            let kind = BasicType::from_code(code).filter(|kind| *kind != BasicType::Object);
            if kind.is_some_and(|kind| strings.is_class(name, kind.array_name())) {
                *slot = number;
            }
        }
    }

    /// Number of the class with this id.
    #[inline]
    pub(crate) fn number(&self, id: u64) -> u32 {
        self.by_id.get(&id).copied().unwrap_or(self.unknown)
    }

    /// Number of the class of arrays with these elements.
    pub(crate) fn of_array(&self, kind: BasicType) -> u32 {
        let place = usize::from(kind.code());
        self.arrays.get(place).copied().unwrap_or(self.unknown)
    }

    /// The class with this number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&ClassFacts> {
        self.facts.get(number as usize)
    }

    /// Number of classes.
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// Name of a class that is not in the table.
    pub(crate) fn invented_name(&self, number: u32) -> &'static str {
        let code = self.arrays.iter().position(|array| *array == number);
        let kind = code.and_then(|code| BasicType::from_code(u8::try_from(code).ok()?));
        kind.map_or(UNKNOWN_CLASS, BasicType::array_name)
    }
}

impl ClassFacts {
    fn without_fields(sizes: &Sizes) -> Self {
        Self {
            references: Box::default(),
            referent: None,
            units: sizes.units(sizes.header_bytes),
            object: NONE,
        }
    }
}

/// The inputs for computing the facts about a class.
struct Rule<'a> {
    table: &'a ClassTable,
    strings: &'a StringTable,
    sizes: &'a Sizes,
    facts: &'a JvmFacts,
}

impl Rule<'_> {
    fn instance(&self, number: usize) -> ClassFacts {
        let sizes = self.sizes;
        if !matches!(self.table.layout(number), Layout::Complete { .. }) {
            return ClassFacts::without_fields(sizes);
        }
        let (mut offsets, mut referent) = (Vec::new(), None);
        let is_reference = |class| self.strings.is_class(class, "java/lang/ref/Reference");
        for place in self.table.places(number) {
            if place.is_named(self.strings, REFERENT) && is_reference(place.class.name) {
                referent = Some(place.bytes.start);
            } else if place.field.kind == BasicType::Object {
                offsets.push(place.bytes.start);
            }
        }
        ClassFacts {
            references: offsets.into(),
            referent,
            units: sizes.instance_units(self.table, number, self.facts),
            object: NONE,
        }
    }
}
