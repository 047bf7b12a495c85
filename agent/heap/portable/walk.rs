//! The walk: each reference and value that the JVM reports becomes part of a record, each object once.
//!
//! HotSpot reports all that an object holds in one piece, so a record is put together on the fly and
//! sent off when the next object begins. The specification does not promise it; an object that comes back
//! ends the dump with a clear line instead of a wrong file.

use super::super::catalogue::Catalogue;
use super::super::error::DumpError;
use super::super::roots::RootNotes;
use super::class_values::{ClassValues, StaticValue};
use super::late::LateObject;
use super::shape::{overwrite, zeros, Content, Open, Shape};
use crate::jvmti::heap::{Primitive, PrimitiveField, Reference, TagCell, Target, Visit, Visitor};
use std::collections::{HashMap, HashSet};
use tables::{BasicType, ClassId, ObjectId, ObjectIndex, ObjectTable, Tables, TraceId};
use writer::heap_record::{InstanceDump, ObjectArrayHeader, PrimitiveArrayHeader};
use writer::{ObjectsSender, Segments};

/// One walk over the heap. It runs on the VM thread; nothing else touches it meanwhile.
#[derive(Debug)]
pub(in super::super) struct Walk {
    objects: ObjectTable,
    shapes: Vec<Shape>,
    first_look: usize,
    class_class: Option<ObjectIndex>,
    primitive_arrays: bool,
    roots: RootNotes,
    class_values: HashMap<ObjectIndex, ClassValues>,
    new_mirrors: HashSet<ObjectIndex>,
    late: Vec<LateObject>,
    segments: Segments<ObjectsSender>,
    open: Option<Open>,
    spare: Vec<u8>,
    cut_arrays: u64,
    failure: Option<DumpError>,
}

/// What a walk leaves behind.
#[derive(Debug)]
pub(in super::super) struct Walked {
    /// Every object that was met.
    pub(in super::super) objects: ObjectTable,
    /// The roots.
    pub(in super::super) roots: RootNotes,
    /// What the classes hold, by mirror.
    pub(in super::super) class_values: HashMap<ObjectIndex, ClassValues>,
    /// Mirrors of classes that the catalogue did not know.
    pub(in super::super) new_mirrors: HashSet<ObjectIndex>,
    /// Instances of classes whose fields are not known yet.
    pub(super) late: Vec<LateObject>,
    /// Where the remaining objects go.
    pub(super) segments: Segments<ObjectsSender>,
    /// Arrays that were cut because their record would have passed 4 GiB.
    pub(in super::super) cut_arrays: u64,
}

impl Walk {
    /// Prepares a walk over the classes of the catalogue; records go to `segments`.
    pub(in super::super) fn new(
        catalogue: &Catalogue<'_>,
        tables: &Tables,
        objects: ObjectTable,
        own_thread: Option<ObjectIndex>,
        primitive_arrays: bool,
        segments: Segments<ObjectsSender>,
    ) -> Self {
        Self {
            objects,
            shapes: Shape::all(tables, catalogue),
            first_look: catalogue.first_look(),
            class_class: catalogue.mirror(catalogue.class_class()),
            primitive_arrays,
            roots: RootNotes::new(own_thread),
            class_values: HashMap::new(),
            new_mirrors: HashSet::new(),
            late: Vec::new(),
            segments,
            open: None,
            spare: Vec::new(),
            cut_arrays: 0,
            failure: None,
        }
    }

    /// Ends the walk: sends the last object off, or tells what went wrong.
    pub(in super::super) fn finish(mut self) -> Result<Walked, DumpError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.close()?;
        Ok(Walked {
            objects: self.objects,
            roots: self.roots,
            class_values: self.class_values,
            new_mirrors: self.new_mirrors,
            late: self.late,
            segments: self.segments,
            cut_arrays: self.cut_arrays,
        })
    }

    fn step(
        &mut self,
        kind: Reference,
        target: Target,
        object: &TagCell,
        referrer: Option<&TagCell>,
    ) -> Result<(), DumpError> {
        let index = self.identify(target, object)?;
        let Some(referrer) = referrer else {
            self.roots.note(kind, index);
            return Ok(());
        };
        let referrer = ObjectIndex::from_tag(referrer.get())
            .ok_or(DumpError::Layout("a reference from an object"))?;
        if kind == Reference::Class {
            // Known already but for instances of classes that the catalogue has not met.
            if self
                .objects
                .get(referrer)
                .is_some_and(|row| row.class().is_none())
            {
                self.objects.set_class(referrer, index);
            }
        }
        self.open(referrer)?;
        self.put_reference(kind, index)
    }

    /// The object's index; at the first meeting it gets one.
    fn identify(&mut self, target: Target, object: &TagCell) -> Result<ObjectIndex, DumpError> {
        if let Some(index) = ObjectIndex::from_tag(object.get()) {
            return Ok(index);
        }
        let class = ObjectIndex::from_tag(target.class_tag);
        let index = self.objects.push(target.size_bytes, class, target.length)?;
        object.set(index.tag());
        if class.is_some() && class == self.class_class {
            self.new_mirrors.insert(index);
        }
        Ok(index)
    }

    fn open(&mut self, index: ObjectIndex) -> Result<(), DumpError> {
        if self.open.as_ref().is_some_and(|open| open.index == index) {
            return Ok(());
        }
        self.close()?;
        let content = if index.index() < self.first_look || self.new_mirrors.contains(&index) {
            Content::Mirror
        } else if self.objects.mark_written(index) {
            self.content(index)?
        } else {
            return Err(DumpError::InPieces);
        };
        self.open = Some(Open { index, content });
        Ok(())
    }

    fn content(&mut self, index: ObjectIndex) -> Result<Content, DumpError> {
        let row = self
            .objects
            .get(index)
            .ok_or(DumpError::Layout("an object"))?;
        let length = row.length().unwrap_or(0) as usize;
        let place = row.class().map(ObjectIndex::index);
        let shape =
            place.and_then(|place| Some((ClassId::from_index(place)?, self.shapes.get(place)?)));
        Ok(match shape {
            Some((class, Shape::Instance(layout))) => {
                let data = zeros(
                    layout.data_bytes() as usize,
                    std::mem::take(&mut self.spare),
                )?;
                Content::Instance { class, data }
            }
            Some((_, Shape::ObjectArray)) => Content::ObjectArray {
                elements: zeros(length * 8, std::mem::take(&mut self.spare))?,
            },
            Some((_, Shape::PrimitiveArray(element_type))) => Content::PrimitiveArray {
                element_type: *element_type,
                told: false,
            },
            Some((_, Shape::Unknown)) | None => Content::Late(Vec::new()),
        })
    }

    fn put_reference(&mut self, kind: Reference, target: ObjectIndex) -> Result<(), DumpError> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let id = self
            .objects
            .id(target)
            .map_or(0, ObjectId::get)
            .to_be_bytes();
        match (&mut open.content, kind) {
            (Content::Mirror, _) => {
                self.class_values
                    .entry(open.index)
                    .or_default()
                    .refer(kind, target);
                Ok(())
            }
            (Content::Instance { class, data }, Reference::Field(field)) => {
                let offset = slot(&self.shapes, *class, field, BasicType::Object)?;
                overwrite(data, offset, &id)
            }
            (Content::ObjectArray { elements }, Reference::ArrayElement(element)) => {
                overwrite(elements, element as usize * 8, &id)
            }
            (Content::Late(values), Reference::Field(place) | Reference::ArrayElement(place)) => {
                values.push((place, StaticValue::Reference(target)));
                Ok(())
            }
            (_, Reference::Class) => Ok(()),
            _ => Err(DumpError::Layout("a reference")),
        }
    }

    fn put_primitive(&mut self, object: &TagCell, field: PrimitiveField) -> Result<(), DumpError> {
        let index =
            ObjectIndex::from_tag(object.get()).ok_or(DumpError::Layout("a value of an object"))?;
        self.open(index)?;
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let value = StaticValue::Primitive(field.value);
        match &mut open.content {
            Content::Mirror if field.is_static => {
                self.class_values
                    .entry(index)
                    .or_default()
                    .statics
                    .push((field.index, value));
                Ok(())
            }
            Content::Instance { class, data } if !field.is_static => {
                let offset = slot(&self.shapes, *class, field.index, field.value.basic_type)?;
                put_value(data, offset, field.value)
            }
            Content::Late(values) => {
                values.push((field.index, value));
                Ok(())
            }
            _ => Err(DumpError::Layout("a value")),
        }
    }

    fn put_array(
        &mut self,
        object: &TagCell,
        found: BasicType,
        bytes: &[u8],
    ) -> Result<(), DumpError> {
        let index = ObjectIndex::from_tag(object.get()).ok_or(DumpError::Layout("an array"))?;
        self.open(index)?;
        match self.open.as_mut().map(|open| &mut open.content) {
            Some(Content::PrimitiveArray { element_type, told }) if *element_type == found => {
                *told = true
            }
            _ => return Err(DumpError::Layout("an array")),
        }
        self.write_primitive_array(index, found, bytes)
    }

    fn write_primitive_array(
        &mut self,
        index: ObjectIndex,
        element_type: BasicType,
        elements: &[u8],
    ) -> Result<(), DumpError> {
        let Some(object) = self.objects.id(index) else {
            return Ok(());
        };
        let header = PrimitiveArrayHeader {
            object,
            trace: TraceId::EMPTY,
            element_type,
        };
        let missing = self.segments.primitive_array(&header, elements)?;
        self.cut_arrays += u64::from(missing > 0);
        Ok(())
    }

    /// Sends the open object off.
    fn close(&mut self) -> Result<(), DumpError> {
        let Some(Open { index, content }) = self.open.take() else {
            return Ok(());
        };
        let class = self.objects.get(index).and_then(|row| row.class());
        let ids = self
            .objects
            .id(index)
            .zip(class.and_then(|class| self.objects.id(class)));
        match (content, ids) {
            (Content::Mirror, _) => {}
            (Content::Instance { data, .. }, Some((object, class))) => {
                let record = InstanceDump {
                    object,
                    trace: TraceId::EMPTY,
                    class,
                    data: &data,
                };
                self.segments.record(|out| record.encode(out))?;
                self.spare = data;
            }
            (Content::ObjectArray { elements }, Some((object, class))) => {
                let header = ObjectArrayHeader {
                    object,
                    trace: TraceId::EMPTY,
                    class,
                };
                let missing = self.segments.object_array(&header, &elements)?;
                self.cut_arrays += u64::from(missing > 0);
                self.spare = elements;
            }
            (Content::PrimitiveArray { told: true, .. }, _) => {}
            (Content::PrimitiveArray { element_type, .. }, _) => {
                let length = self
                    .objects
                    .get(index)
                    .and_then(|row| row.length())
                    .unwrap_or(0);
                if length > 0 && self.primitive_arrays {
                    return Err(DumpError::Layout("an array without the elements"));
                }
                self.write_primitive_array(index, element_type, &[])?;
            }
            (Content::Late(values), _) => self.late.push(LateObject { index, values }),
            (_, None) => return Err(DumpError::Layout("an object")),
        }
        Ok(())
    }

    fn answer(&mut self, result: Result<(), DumpError>) -> Visit {
        match result {
            Ok(()) => Visit::On,
            Err(failure) => {
                self.failure.get_or_insert(failure);
                Visit::Abort
            }
        }
    }
}

/// Where a field of this type lies in the data of an instance; an error if the class has none there.
fn slot(
    shapes: &[Shape],
    class: ClassId,
    field: u32,
    found: BasicType,
) -> Result<usize, DumpError> {
    match shapes.get(class.index()) {
        Some(Shape::Instance(layout)) => layout
            .slot(field)
            .filter(|slot| slot.basic_type == found)
            .map(|slot| slot.offset_bytes as usize)
            .ok_or(DumpError::Layout("a field")),
        _ => Err(DumpError::Layout("a field")),
    }
}

/// Writes a primitive value, big-endian, at `offset`.
pub(super) fn put_value(data: &mut [u8], offset: usize, value: Primitive) -> Result<(), DumpError> {
    // Readers want a boolean to be 0 or 1; native code may have stored anything.
    let bits = if value.basic_type == BasicType::Boolean {
        u64::from(value.bits != 0)
    } else {
        value.bits
    };
    let bytes = bits.to_be_bytes();
    let width = value.basic_type.size_bytes(8) as usize;
    overwrite(
        data,
        offset,
        bytes.get(bytes.len() - width..).unwrap_or(&bytes),
    )
}

impl Visitor for Walk {
    fn reference(
        &mut self,
        kind: Reference,
        target: Target,
        object: &TagCell,
        referrer: Option<&TagCell>,
    ) -> Visit {
        let result = self.step(kind, target, object, referrer);
        self.answer(result)
    }

    fn primitive_field(&mut self, object: &TagCell, field: PrimitiveField) -> Visit {
        let result = self.put_primitive(object, field);
        self.answer(result)
    }

    fn primitive_array(
        &mut self,
        object: &TagCell,
        basic_type: BasicType,
        elements: &[u8],
    ) -> Visit {
        let result = self.put_array(object, basic_type, elements);
        self.answer(result)
    }
}
