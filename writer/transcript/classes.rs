//! The classes of a dump: what they are called, and where in an instance its references are.

use std::collections::HashMap;
use std::rc::Rc;

use format::BasicType;
use tables::{ClassId, ObjectId};

use super::heap_records::ClassRecord;
use super::names::Names;
use super::ObjectSizes;
use crate::ClassName;
use format::ID_SIZE_BYTES;

/// All classes of a file.
#[derive(Debug, Default)]
pub(super) struct Classes {
    /// Numbers of names, by the classes' objects and by their serial numbers.
    by_object: HashMap<ObjectId, u64>,
    by_serial: HashMap<ClassId, u64>,
    layouts: HashMap<ObjectId, OwnFields>,
    instances: HashMap<ObjectId, Rc<Instances>>,
}

#[derive(Debug)]
struct OwnFields {
    super_class: Option<ObjectId>,
    fields: Vec<(u64, BasicType)>,
}

/// What all instances of a class have in common.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Instances {
    /// The size of one in the heap, an estimate.
    pub(super) size_bytes: u64,
    /// Where in the values each reference is, and the number of its name; inherited ones first.
    pub(super) references: Vec<(usize, u64)>,
}

impl Classes {
    /// Keeps what a class is called.
    pub(super) fn insert_name(&mut self, serial: ClassId, object: ObjectId, name: u64) {
        self.by_serial.insert(serial, name);
        self.by_object.insert(object, name);
    }

    /// Keeps the fields of a class.
    pub(super) fn insert_fields(&mut self, class: ClassRecord) {
        let own = OwnFields {
            super_class: class.super_class,
            fields: class.fields,
        };
        self.layouts.insert(class.object, own);
    }

    /// What the class with this object is called.
    pub(super) fn name<'n>(&self, object: ObjectId, names: &'n Names) -> ClassName<'n> {
        named(self.by_object.get(&object), names)
    }

    /// What the class with this serial number is called.
    pub(super) fn name_of_serial<'n>(&self, serial: ClassId, names: &'n Names) -> ClassName<'n> {
        named(self.by_serial.get(&serial), names)
    }

    /// The name as it is in the file, `java/lang/String` or `[I`; empty if there is none.
    pub(super) fn bytes_of_serial<'n>(&self, serial: ClassId, names: &'n Names) -> &'n [u8] {
        let name = self.by_serial.get(&serial);
        name.map_or(&[], |&name| names.get(name))
    }

    /// The instances of a class, whose supers are known by now; computed once.
    pub(super) fn instances(&mut self, class: ObjectId, sizes: &ObjectSizes) -> Rc<Instances> {
        if let Some(known) = self.instances.get(&class) {
            return Rc::clone(known);
        }
        let computed = Rc::new(self.compute(class, sizes));
        self.instances.insert(class, Rc::clone(&computed));
        computed
    }

    fn compute(&self, class: ObjectId, sizes: &ObjectSizes) -> Instances {
        let chain = self.chain(class);
        let mut offset = 0;
        let mut references: Vec<Vec<(usize, u64)>> = Vec::new();
        for own in &chain {
            let mut of_class = Vec::new();
            for &(name, basic_type) in &own.fields {
                if basic_type == BasicType::Object {
                    of_class.push((offset, name));
                }
                offset += basic_type.size_bytes(ID_SIZE_BYTES) as usize;
            }
            references.push(of_class);
        }
        let fields = chain.iter().flat_map(|own| &own.fields);
        Instances {
            size_bytes: sizes.instance_bytes(fields.map(|&(_, basic_type)| basic_type)),
            references: references.into_iter().rev().flatten().collect(),
        }
    }

    /// The class and its supers, in the order in which the values of an instance are.
    fn chain(&self, class: ObjectId) -> Vec<&OwnFields> {
        let mut chain = Vec::new();
        let mut next = Some(class);
        // No chain is longer than there are classes, unless it is a ring.
        while let Some(own) = next.and_then(|class| self.layouts.get(&class)) {
            if chain.len() == self.layouts.len() {
                break;
            }
            chain.push(own);
            next = own.super_class;
        }
        chain
    }
}

fn named<'n>(name: Option<&u64>, names: &'n Names) -> ClassName<'n> {
    name.map_or(ClassName::UNKNOWN, |&name| {
        ClassName::from_name(names.get(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::TraceId;

    fn id(address: u64) -> ObjectId {
        ObjectId::new(address).unwrap()
    }

    fn class(address: u64, super_class: u64, fields: &[(u64, BasicType)]) -> ClassRecord {
        ClassRecord {
            object: id(address),
            trace: TraceId::EMPTY,
            super_class: ObjectId::new(super_class),
            loader: None,
            signers: None,
            protection_domain: None,
            statics: Vec::new(),
            fields: fields.to_vec(),
        }
    }

    #[test]
    fn inherited_references_come_first_though_their_values_come_last() {
        let mut classes = Classes::default();
        let own = [
            (1, BasicType::Int),
            (2, BasicType::Object),
            (3, BasicType::Object),
        ];
        classes.insert_fields(class(16, 8, &own));
        classes.insert_fields(class(8, 0, &[(4, BasicType::Byte), (5, BasicType::Object)]));
        let expected = Instances {
            size_bytes: 32,
            references: vec![(21, 5), (4, 2), (12, 3)],
        };
        let sizes = ObjectSizes::default();
        for _ in 0..2 {
            assert_eq!(*classes.instances(id(16), &sizes), expected);
        }
        let unknown = classes.instances(id(99), &sizes);
        assert_eq!((unknown.size_bytes, unknown.references.len()), (16, 0));
    }

    #[test]
    fn a_ring_of_supers_has_an_end() {
        let mut classes = Classes::default();
        classes.insert_fields(class(8, 16, &[(1, BasicType::Int)]));
        classes.insert_fields(class(16, 8, &[]));
        assert_eq!(
            classes.instances(id(8), &ObjectSizes::default()).size_bytes,
            16
        );
    }

    #[test]
    fn names_are_found_by_object_and_by_serial() {
        let (mut classes, mut names) = (Classes::default(), Names::default());
        names.insert(5, b"demo/Main");
        let serial = ClassId::new(1).unwrap();
        classes.insert_name(serial, id(8), 5);
        assert_eq!(classes.name(id(8), &names).to_string(), "demo.Main");
        assert_eq!(
            classes.name_of_serial(serial, &names).to_string(),
            "demo.Main"
        );
        assert_eq!(classes.bytes_of_serial(serial, &names), b"demo/Main");
        assert_eq!(classes.name(id(9), &names), ClassName::UNKNOWN);
    }
}
