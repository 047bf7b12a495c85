//! CLASS DUMP records: a class's row together with the values that the walk found in it.

use super::class_values::{ClassValues, StaticValue};
use super::visitor::Walked;
use crate::heap::error::DumpError;
use crate::heap::facts::catalogue::Catalogue;
use std::collections::HashSet;
use tables::{
    class_chain, ClassId, ClassRow, InstanceLayout, ObjectId, ObjectIndex, StaticLayout, Tables,
};
use writer::heap_record::{ClassDump, StaticField, Value};
use writer::{Deliver, Segments};

/// Makes the CLASS DUMP of every class of a dump.
#[derive(Debug)]
pub(in crate::heap) struct ClassRecords<'d, 'f> {
    tables: &'d Tables,
    catalogue: &'d Catalogue<'f>,
    walked: &'d Walked,
    nothing: ClassValues,
}

impl<'d, 'f> ClassRecords<'d, 'f> {
    /// For the classes of `catalogue` with what `walked` found in them.
    pub(in crate::heap) fn new(
        tables: &'d Tables,
        catalogue: &'d Catalogue<'f>,
        walked: &'d Walked,
    ) -> Self {
        Self {
            tables,
            catalogue,
            walked,
            nothing: ClassValues::default(),
        }
    }

    /// Interns the names that only CLASS DUMPs use.
    pub(in crate::heap) fn intern_names(&self) {
        for values in self.walked.class_values.values() {
            for (index, _) in self.constants(values) {
                self.tables.strings.intern(&constant_name(index));
            }
        }
    }

    /// Writes all records, in the order of the class table.
    pub(in crate::heap) fn write(
        &self,
        segments: &mut Segments<impl Deliver>,
    ) -> Result<(), DumpError> {
        for class in (0..self.tables.classes.len()).filter_map(ClassId::from_index) {
            self.write_one(class, segments)?;
        }
        Ok(())
    }

    fn write_one(
        &self,
        class: ClassId,
        segments: &mut Segments<impl Deliver>,
    ) -> Result<(), DumpError> {
        let (Some(row), Some(mirror)) =
            (self.tables.classes.get(class), self.catalogue.mirror(class))
        else {
            return Ok(());
        };
        let Some(object) = self.id(mirror) else {
            return Ok(());
        };
        let values = self
            .walked
            .class_values
            .get(&mirror)
            .unwrap_or(&self.nothing);
        let statics = self.statics(class, &row, values)?;
        let instance_fields = row.own_fields().iter().filter(|field| !field.is_static);
        let fields: Vec<_> = instance_fields
            .map(|field| (field.name, field.basic_type))
            .collect();
        // A class that is not linked has no fields in the file, so its instances have its superclass's.
        let layout = class_chain(&self.tables.classes, class)
            .into_iter()
            .find_map(|class| InstanceLayout::of(&self.tables.classes, class));
        let record = ClassDump {
            class: object,
            super_class: row
                .super_class
                .and_then(|class| self.id(self.catalogue.mirror(class)?)),
            loader: row
                .loader
                .and_then(|loader| self.id(self.tables.loaders.get(loader)?)),
            signers: values.signers.and_then(|index| self.id(index)),
            protection_domain: values.protection_domain.and_then(|index| self.id(index)),
            instance_size_bytes: layout.map_or(0, |layout| layout.data_bytes()),
            statics: &statics,
            fields: &fields,
        };
        segments.record(|out| record.encode(out))?;
        Ok(())
    }

    /// The static fields in the order of the class file, then one for each object that constants were resolved to.
    fn statics(
        &self,
        class: ClassId,
        row: &ClassRow,
        values: &ClassValues,
    ) -> Result<Vec<StaticField>, DumpError> {
        let mut found: Vec<Option<Value>> = row.own_fields().iter().map(|_| None).collect();
        let layout = StaticLayout::of(&self.tables.classes, class);
        for &(index, value) in &values.statics {
            let place = layout.as_ref().and_then(|layout| layout.position(index));
            let place = place
                .and_then(|place| found.get_mut(place))
                .ok_or(DumpError::Layout("a static field"))?;
            *place = Some(match value {
                StaticValue::Reference(target) => Value::Object(self.id(target)),
                StaticValue::Primitive(primitive) => {
                    Value::of_bits(primitive.basic_type, primitive.bits)
                }
            });
        }
        // Of a class that was not linked the walk tells no values: it was linked for its instances, afterwards.
        let is_untold = values.statics.is_empty() && self.catalogue.is_linked_late(class);
        let declared = row
            .own_fields()
            .iter()
            .zip(found)
            .filter(|(field, _)| field.is_static && !is_untold)
            .map(|(field, value)| StaticField {
                name: field.name,
                value: value.unwrap_or_else(|| Value::zero(field.basic_type)),
            });
        let constants = self.constants(values).map(|(index, target)| StaticField {
            name: self.tables.strings.intern(&constant_name(index)),
            value: Value::Object(self.id(target)),
        });
        Ok(declared.chain(constants).collect())
    }

    /// What the class's constants were resolved to, each object once, with an index in the pool.
    ///
    /// Classes are left out: HotSpot's dumps have no such references, and the loaders hold the classes.
    fn constants<'v>(
        &'v self,
        values: &'v ClassValues,
    ) -> impl Iterator<Item = (u32, ObjectIndex)> + use<'v, 'd, 'f> {
        let mut met = HashSet::new();
        let constants = values.constant_pool.iter().copied();
        constants.filter(move |&(_, target)| {
            self.catalogue.class_of_mirror(target).is_none() && met.insert(target)
        })
    }

    fn id(&self, index: ObjectIndex) -> Option<ObjectId> {
        self.walked.objects.id(index)
    }
}

/// Name of the synthetic static field that keeps a constant pool entry: readers skip HPROF's own pool entries,
/// and the object would look unreachable.
fn constant_name(index: u32) -> Vec<u8> {
    format!("<constant pool {index}>").into_bytes()
}
