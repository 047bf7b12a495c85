//! Late objects: instances of classes that were loaded or linked after the catalogue was taken.
//!
//! The walk keeps their values by index; when the JVM runs again it is asked for their classes.

use super::class_values::StaticValue;
use super::shape::{overwrite, zeros, Shape};
use super::visitor::{put_value, Walked};
use crate::heap::error::{DumpError, For};
use crate::heap::facts::catalogue::Catalogue;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use format::BasicType;
use tables::{InstanceLayout, ObjectId, ObjectIndex, Tables};
use writer::heap_record::{InstanceDump, ObjectArrayHeader, PrimitiveArrayHeader};

/// An object of a class whose fields were not known during the walk.
#[derive(Debug)]
pub(super) struct LateObject {
    /// Which object.
    pub(super) index: ObjectIndex,
    /// Its values, by JVMTI field or element index; what is not there is null or 0.
    pub(super) values: Vec<(u32, StaticValue)>,
}

impl Walked {
    /// Catalogues the classes that only the walk has met, and looks again at those that were not linked.
    ///
    /// The JVM is asked for its classes once more, not for the objects behind the tags: the walk also meets
    /// mirrors that HotSpot keeps in its archive for classes that were never loaded, and some JVMTI
    /// functions crash on those (GetClassLoader, 17 and 25). They stay plain objects of `java.lang.Class`.
    pub(in crate::heap) fn admit_new_classes<'f>(
        &mut self,
        env: &'f Env,
        jni: &'f Jni<'f>,
        catalogue: &mut Catalogue<'f>,
        tables: &Tables,
    ) -> Result<(), DumpError> {
        if !self.new_mirrors.is_empty() {
            for class in env.loaded_classes(jni).when("the list of loaded classes")? {
                let tag = env.tag(&class).when("the tag of a class")?;
                if ObjectIndex::from_tag(tag)
                    .is_some_and(|mirror| self.new_mirrors.contains(&mirror))
                {
                    catalogue.admit(class, tables, &mut self.objects)?;
                } else {
                    jni.forget(class);
                }
            }
        }
        let classes_of_late = self
            .late
            .iter()
            .filter_map(|late| catalogue.class_of_mirror(self.objects.get(late.index)?.class()?));
        catalogue.link(classes_of_late, tables)?;
        catalogue.ask_again(tables, &mut self.objects)
    }

    /// Writes the late objects, and those that the JVM named but told nothing of; then no object is missing.
    ///
    /// Answers how many objects the file holds, classes included.
    pub(in crate::heap) fn write_rest(
        &mut self,
        catalogue: &Catalogue<'_>,
        tables: &Tables,
    ) -> Result<u64, DumpError> {
        for late in std::mem::take(&mut self.late) {
            self.write_late(&late, catalogue, tables)?;
        }
        let silent: Vec<ObjectIndex> = self
            .objects
            .unwritten()
            .map(|(index, _)| index)
            .filter(|&index| catalogue.class_of_mirror(index).is_none())
            .collect();
        for index in silent {
            self.write_late(
                &LateObject {
                    index,
                    values: Vec::new(),
                },
                catalogue,
                tables,
            )?;
        }
        Ok(self.objects.len())
    }

    /// Delivers the last segment.
    pub(in crate::heap) fn finish_segments(self) -> Result<(), DumpError> {
        self.segments.finish()?;
        Ok(())
    }

    fn write_late(
        &mut self,
        late: &LateObject,
        catalogue: &Catalogue<'_>,
        tables: &Tables,
    ) -> Result<(), DumpError> {
        let row = self
            .objects
            .get(late.index)
            .ok_or(DumpError::Layout("an object"))?;
        let (mirror, length) = (
            row.class().ok_or(DumpError::ClassGone)?,
            row.length().unwrap_or(0),
        );
        let class = catalogue
            .class_of_mirror(mirror)
            .ok_or(DumpError::ClassGone)?;
        let (Some(object), Some(class_object)) = (row.id(), self.objects.id(mirror)) else {
            return Err(DumpError::ClassGone);
        };
        let id = |index: ObjectIndex| self.objects.id(index);
        match Shape::of(tables, class) {
            Shape::Instance(layout) => {
                let data = instance_data(&layout, late, id)?;
                let record = InstanceDump {
                    object,
                    trace: self.traces.of(late.index),
                    class: class_object,
                    data: &data,
                };
                self.segments.record(|out| record.encode(out))?;
            }
            Shape::ObjectArray => {
                let elements = elements(length, late, id)?;
                let header = ObjectArrayHeader {
                    object,
                    trace: self.traces.of(late.index),
                    class: class_object,
                };
                self.segments.object_array(&header, &elements)?;
            }
            Shape::PrimitiveArray(element_type) => {
                // The walk told no elements: there are none, or none were wanted.
                let header = PrimitiveArrayHeader {
                    object,
                    trace: self.traces.of(late.index),
                    element_type,
                };
                self.segments.zeroed_array(&header, length)?;
            }
            Shape::Unknown => return Err(DumpError::Layout("an object of a class without fields")),
        }
        Ok(())
    }
}

fn instance_data(
    layout: &InstanceLayout,
    late: &LateObject,
    id: impl Fn(ObjectIndex) -> Option<ObjectId>,
) -> Result<Vec<u8>, DumpError> {
    let mut data = zeros(layout.data_bytes() as usize, Vec::new())?;
    for &(field, value) in &late.values {
        let slot = layout.slot(field).ok_or(DumpError::Layout("a field"))?;
        let offset = slot.offset_bytes as usize;
        match value {
            StaticValue::Reference(target) if slot.basic_type == BasicType::Object => {
                overwrite(
                    &mut data,
                    offset,
                    &id(target).map_or(0, ObjectId::get).to_be_bytes(),
                )?;
            }
            StaticValue::Primitive(value) if slot.basic_type == value.basic_type => {
                put_value(&mut data, offset, value)?;
            }
            _ => return Err(DumpError::Layout("a field")),
        }
    }
    Ok(data)
}

fn elements(
    length: u32,
    late: &LateObject,
    id: impl Fn(ObjectIndex) -> Option<ObjectId>,
) -> Result<Vec<u8>, DumpError> {
    let mut elements = zeros(length as usize * 8, Vec::new())?;
    for &(element, value) in &late.values {
        let StaticValue::Reference(target) = value else {
            return Err(DumpError::Layout("an element"));
        };
        overwrite(
            &mut elements,
            element as usize * 8,
            &id(target).map_or(0, ObjectId::get).to_be_bytes(),
        )?;
    }
    Ok(elements)
}
