//! The second pass: checks each object's data and whether the targets of its references exist.

use format::BasicType;

use super::fault::Faults;
use super::rule::Rule;
use crate::classes::{ClassTable, Layout};
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::id_set::IdSet;
use crate::strings::StringTable;
use format::sub_record::{ClassDump, HeapRecord, Instance, ObjectArray, PrimitiveArray, Static};
use format::RootKind;

/// References that are looked up at once.
const AT_ONCE: usize = 64;

/// Where a reference is: ids of names, classes and objects.
#[derive(Clone, Copy, Debug)]
enum Place {
    Root(RootKind),
    ClassSlot { slot: &'static str, class: u64 },
    Static { name: u64, class: u64 },
    Field { name: u64, class: u64 },
    Element { number: u64, array: u64 },
}

impl Place {
    fn text(self, classes: &ClassTable, strings: &StringTable) -> String {
        let class_name = |class| classes.java_name(class, strings);
        let text = |name| strings.text(name).unwrap_or_default();
        match self {
            Self::Root(kind) => kind.name().to_owned(),
            Self::ClassSlot { slot, class } => format!("the {slot} of {}", class_name(class)),
            Self::Static { name, class } => {
                format!("static {} of {}", text(name), class_name(class))
            }
            Self::Field { name, class } => format!("{} of {}", text(name), class_name(class)),
            Self::Element { number, array } => format!("element {number} of array {array:#x}"),
        }
    }
}

/// A reference that has not been looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    rule: Rule,
    offset: u64,
    place: Place,
    to: u64,
}

/// The results of the first pass, and a buffer for one object's data.
#[derive(Debug)]
pub(super) struct References<'a> {
    pub(super) classes: &'a ClassTable,
    pub(super) strings: &'a StringTable,
    pub(super) ids: &'a IdSet,
    pub(super) faults: &'a mut Faults,
    pub(super) data: Vec<u8>,
    /// They are looked up together, so that the processor waits for the memory of many at the same
    /// time.
    pub(super) open: Vec<Reference>,
}

impl References<'_> {
    /// Reads the whole file again.
    pub(super) fn judge(&mut self, dump: &mut DumpReader<'_>) -> Result<(), ReadError> {
        while let Some(event) = dump.next_event()? {
            let Event::Heap(offset, record) = event else {
                continue;
            };
            match &record {
                HeapRecord::Root(root) => {
                    let place = Place::Root(root.kind);
                    self.refer(Rule::RootDangling, offset, root.object, place);
                }
                HeapRecord::Class(class) => self.class(offset, class),
                HeapRecord::Instance(instance) => self.instance(offset, instance, dump)?,
                HeapRecord::ObjectArray(array) => self.object_array(offset, array, dump)?,
                HeapRecord::PrimitiveArray(array) => self.primitive_array(offset, array, dump)?,
                HeapRecord::NoData(_) | HeapRecord::HeapInfo(_) => {}
            }
        }
        self.look_up();
        Ok(())
    }

    #[inline]
    fn refer(&mut self, rule: Rule, offset: u64, to: u64, place: Place) {
        if to == 0 {
            return;
        }
        self.open.push(Reference {
            rule,
            offset,
            place,
            to,
        });
        if self.open.len() == AT_ONCE {
            self.look_up();
        }
    }

    fn look_up(&mut self) {
        for reference in &self.open {
            let (to, place) = (reference.to, reference.place);
            if !self.ids.contains(to) {
                self.faults.add(reference.rule, reference.offset, || {
                    let from = place.text(self.classes, self.strings);
                    format!("{from} refers to {to:#x}, which is not in the file")
                });
            }
        }
        self.open.clear();
    }

    /// Adds a fault after those of the references before it.
    fn fault(&mut self, rule: Rule, offset: u64, text: impl FnOnce() -> String) {
        self.look_up();
        self.faults.add(rule, offset, text);
    }

    /// A boolean must be 0 or 1.
    fn boolean(&mut self, offset: u64, value: u64, place: Place) {
        if value > 1 {
            let (classes, strings) = (self.classes, self.strings);
            self.fault(Rule::BooleanValue, offset, || {
                format!("{} is {value}", place.text(classes, strings))
            });
        }
    }

    fn class(&mut self, offset: u64, dump: &ClassDump) {
        let class = dump.class;
        for (slot, id) in [
            ("loader", dump.loader),
            ("signers", dump.signers),
            ("protection domain", dump.protection_domain),
        ] {
            let place = Place::ClassSlot { slot, class };
            self.refer(Rule::ClassSlotDangling, offset, id, place);
        }
        for Static { name, kind, value } in dump.statics.iter().copied() {
            let place = Place::Static { name, class };
            match kind {
                BasicType::Object => self.refer(Rule::StaticDangling, offset, value, place),
                BasicType::Boolean => self.boolean(offset, value, place),
                _ => {}
            }
        }
    }

    fn instance(
        &mut self,
        offset: u64,
        instance: &Instance,
        dump: &mut DumpReader<'_>,
    ) -> Result<(), ReadError> {
        let (classes, strings) = (self.classes, self.strings);
        let name = || classes.java_name(instance.class, strings);
        let index = classes.index(instance.class);
        let Some(index) = index.filter(|_| classes.is_dumped(instance.class)) else {
            self.fault(Rule::ClassNotDumped, offset, || {
                let (object, name) = (instance.object, name());
                format!("object {object:#x} is of {name}, which has no CLASS DUMP")
            });
            return Ok(());
        };
        // A broken superclass chain is reported where it is broken.
        let Layout::Complete { data_bytes, .. } = classes.layout(index) else {
            return Ok(());
        };
        if data_bytes != u64::from(instance.data_bytes) {
            self.fault(Rule::InstanceLength, offset, || {
                let (there, name) = (instance.data_bytes, name());
                format!("{there} bytes of data, the fields of {name} take {data_bytes}")
            });
            return Ok(());
        }
        self.data.clear();
        dump.read_data(&mut self.data)?;
        self.fields(offset, index);
        Ok(())
    }

    /// Walks the fields in the data read last.
    fn fields(&mut self, offset: u64, class: usize) {
        let data = std::mem::take(&mut self.data);
        for field in self.classes.places(class) {
            let (name, class) = (field.field.name, field.class.id);
            let (value, place) = (|| field.value(&data), Place::Field { name, class });
            match field.field.kind {
                BasicType::Object => {
                    self.refer(Rule::FieldDangling, offset, value().unwrap_or(0), place);
                }
                BasicType::Boolean => self.boolean(offset, value().unwrap_or(0), place),
                _ => {}
            }
        }
        self.data = data;
    }

    fn object_array(
        &mut self,
        offset: u64,
        array: &ObjectArray,
        dump: &mut DumpReader<'_>,
    ) -> Result<(), ReadError> {
        let (classes, strings) = (self.classes, self.strings);
        if !classes.is_dumped(array.class) {
            self.fault(Rule::ArrayClassMissing, offset, || {
                let (array, class) = (array.object, classes.java_name(array.class, strings));
                format!("array {array:#x} is of {class}, which has no CLASS DUMP")
            });
        }
        let mut number = 0_u64;
        while let Some(id) = dump.next_id()? {
            let array = array.object;
            let place = Place::Element { number, array };
            self.refer(Rule::ElementDangling, offset, id, place);
            number += 1;
        }
        Ok(())
    }

    fn primitive_array(
        &mut self,
        offset: u64,
        array: &PrimitiveArray,
        dump: &mut DumpReader<'_>,
    ) -> Result<(), ReadError> {
        if array.kind != BasicType::Boolean {
            return Ok(());
        }
        let mut odd = None;
        loop {
            let chunk = dump.next_chunk()?;
            if chunk.is_empty() {
                break;
            }
            odd = odd.or(chunk.iter().copied().find(|value| *value > 1));
        }
        if let Some(value) = odd {
            self.fault(Rule::BooleanValue, offset, || {
                format!("an element of boolean array {:#x} is {value}", array.object)
            });
        }
        Ok(())
    }
}
