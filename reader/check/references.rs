//! The second pass: checks each object's data and whether the targets of its references exist.

use format::BasicType;

use super::fault::Faults;
use super::rule::Rule;
use crate::classes::{ClassTable, Layout};
use crate::dump::{DumpReader, Event};
use crate::error::ReadError;
use crate::heap_record::{ClassDump, HeapRecord, Instance, ObjectArray, PrimitiveArray};
use crate::id_set::IdSet;
use crate::strings::StringTable;

/// The results of the first pass, and a buffer for one object's data.
#[derive(Debug)]
pub(super) struct References<'a> {
    pub(super) classes: &'a ClassTable,
    pub(super) strings: &'a StringTable,
    pub(super) ids: &'a IdSet,
    pub(super) faults: &'a mut Faults,
    pub(super) data: Vec<u8>,
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
                    self.refer(Rule::RootDangling, offset, root.object, || {
                        root.kind.name().to_owned()
                    })
                }
                HeapRecord::Class(class) => self.class(offset, class),
                HeapRecord::Instance(instance) => self.instance(offset, instance, dump)?,
                HeapRecord::ObjectArray(array) => self.object_array(offset, array, dump)?,
                HeapRecord::PrimitiveArray(array) => self.primitive_array(offset, array, dump)?,
                HeapRecord::HeapInfo { .. } => {}
            }
        }
        Ok(())
    }

    fn refer(&mut self, rule: Rule, offset: u64, id: u64, from: impl FnOnce() -> String) {
        if id != 0 && !self.ids.contains(id) {
            self.faults.add(rule, offset, || {
                format!("{} refers to {id:#x}, which is not in the file", from())
            });
        }
    }

    fn class(&mut self, offset: u64, class: &ClassDump) {
        let (classes, strings) = (self.classes, self.strings);
        let name = || classes.java_name(class.class, strings);
        for (slot, id) in [
            ("loader", class.loader),
            ("signers", class.signers),
            ("protection domain", class.protection_domain),
        ] {
            self.refer(Rule::ClassSlotDangling, offset, id, || {
                format!("the {slot} of {}", name())
            });
        }
        for field in &class.statics {
            let field_name = || strings.text(field.name).unwrap_or_default();
            match field.kind {
                BasicType::Object => self.refer(Rule::StaticDangling, offset, field.value, || {
                    format!("static {} of {}", field_name(), name())
                }),
                BasicType::Boolean if field.value > 1 => {
                    self.faults.add(Rule::BooleanValue, offset, || {
                        format!("static {} of {} is {}", field_name(), name(), field.value)
                    })
                }
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
        let index = classes
            .index(instance.class)
            .filter(|_| classes.is_dumped(instance.class));
        let Some(index) = index else {
            self.faults.add(Rule::ClassNotDumped, offset, || {
                format!(
                    "object {:#x} is of {}, which has no CLASS DUMP",
                    instance.object,
                    name()
                )
            });
            return Ok(());
        };
        // A broken superclass chain is reported where it is broken.
        let Layout::Complete { data_bytes, .. } = classes.layout(index) else {
            return Ok(());
        };
        if data_bytes != u64::from(instance.data_bytes) {
            self.faults.add(Rule::InstanceLength, offset, || {
                let there = instance.data_bytes;
                format!(
                    "{there} bytes of data, the fields of {} take {data_bytes}",
                    name()
                )
            });
            return Ok(());
        }
        self.data.clear();
        dump.read_data(&mut self.data)?;
        self.fields(offset, index, dump.header().id_bytes);
        Ok(())
    }

    /// Walks the fields in the data read last.
    fn fields(&mut self, offset: u64, class: usize, id_bytes: u32) {
        let (classes, strings) = (self.classes, self.strings);
        let data = std::mem::take(&mut self.data);
        let mut rest = data.as_slice();
        'data: for class in classes.chain(class) {
            for field in &class.fields {
                let size = field.kind.size_bytes(id_bytes) as usize;
                let Some((value, after)) = rest.split_at_checked(size) else {
                    break 'data;
                };
                rest = after;
                let name = || {
                    let field = strings.text(field.name).unwrap_or_default();
                    format!("{field} of {}", classes.java_name(class.id, strings))
                };
                match (field.kind, value) {
                    (BasicType::Object, value) => {
                        self.refer(Rule::FieldDangling, offset, big_endian(value), name)
                    }
                    (BasicType::Boolean, [0 | 1]) => {}
                    (BasicType::Boolean, value) => {
                        self.faults.add(Rule::BooleanValue, offset, || {
                            format!("{} is {}", name(), big_endian(value))
                        })
                    }
                    _ => {}
                }
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
            self.faults.add(Rule::ArrayClassMissing, offset, || {
                let class = classes.java_name(array.class, strings);
                format!(
                    "array {:#x} is of {class}, which has no CLASS DUMP",
                    array.object
                )
            });
        }
        let mut number = 0_u64;
        while let Some(id) = dump.next_id()? {
            self.refer(Rule::ElementDangling, offset, id, || {
                format!("element {number} of array {:#x}", array.object)
            });
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
            self.faults.add(Rule::BooleanValue, offset, || {
                format!("an element of boolean array {:#x} is {value}", array.object)
            });
        }
        Ok(())
    }
}

fn big_endian(value: &[u8]) -> u64 {
    value
        .iter()
        .fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
