//! The second pass over HotSpot's file: the objects, each with the stack that allocated it.

use crate::records::object;
use crate::rows::Rows;
use crate::survey::{object_id, Survey};
use crate::{Settings, Surroundings, TranslateError};
use format::BasicType;
use reader::{ClassDump, DumpReader, Event, HeapRecord, Instance, ObjectArray, PrimitiveArray};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::ops::Range;
use tables::TraceId;
use writer::heap_record::{InstanceDump, ObjectArrayHeader, PrimitiveArrayHeader};
use writer::{Deliver, Segments, WriteError};

/// Objects between two reports of progress.
const LIFE_OBJECTS: u64 = 1 << 16;
/// Bytes of the id of an object.
const ID_BYTES: u32 = 8;

/// The offsets of the fields in the instances of a class.
#[derive(Debug, Default)]
struct Fields {
    references: Vec<usize>,
    primitives: Vec<Range<usize>>,
}

/// Writes the objects.
#[derive(Debug)]
pub(crate) struct Objects<'d, D> {
    survey: &'d Survey,
    rows: &'d Rows,
    settings: &'d Settings,
    segments: Segments<D>,
    /// The offsets of fields, by class.
    layouts: FxHashMap<u64, Fields>,
    classes: HashMap<u64, &'d ClassDump>,
    data: Vec<u8>,
    cut_arrays: u64,
}

impl<'d, D: Deliver> Objects<'d, D> {
    /// A writer that appends to `segments`.
    pub(crate) fn new(
        survey: &'d Survey,
        rows: &'d Rows,
        settings: &'d Settings,
        segments: Segments<D>,
    ) -> Self {
        let classes = survey.classes.iter().map(|class| (class.class, class));
        Self {
            survey,
            rows,
            settings,
            segments,
            layouts: FxHashMap::default(),
            classes: classes.collect(),
            data: Vec::new(),
            cut_arrays: 0,
        }
    }

    /// Reads the file, and writes all objects; returns the number of arrays that were cut.
    pub(crate) fn write(mut self, surroundings: &dyn Surroundings) -> Result<u64, TranslateError> {
        let mut dump = DumpReader::new(surroundings.open_finally())?;
        let mut objects = 0;
        while let Some(event) = dump.next_event()? {
            let Event::Heap(_, record) = event else {
                continue;
            };
            if self.rows.agents.contains(&object_id(&record)) {
                objects += 1;
                continue;
            }
            let missing = match record {
                HeapRecord::Instance(instance) => self.instance(instance, &mut dump)?,
                HeapRecord::ObjectArray(array) => self.object_array(array, &mut dump)?,
                HeapRecord::PrimitiveArray(array) => self.primitive_array(array, &mut dump)?,
                _ => continue,
            };
            self.cut_arrays += u64::from(missing > 0);
            objects += 1;
            if objects % LIFE_OBJECTS == 0 {
                surroundings.show_life();
            }
        }
        if objects != self.survey.objects {
            return Err(TranslateError::unreadable("it has changed"));
        }
        self.segments.finish()?;
        Ok(self.cut_arrays)
    }

    /// Returns the number of elements left out, 0 for an instance.
    fn instance(
        &mut self,
        instance: Instance,
        dump: &mut DumpReader<'_>,
    ) -> Result<u64, TranslateError> {
        let mut data = std::mem::take(&mut self.data);
        data.clear();
        dump.read_data(&mut data)?;
        if !self.survey.left_out.is_empty() || !self.settings.primitive_fields {
            self.leave_out(instance.class, &mut data);
        }
        let record = InstanceDump {
            object: object(instance.object)?,
            trace: self.trace(instance.object),
            class: object(instance.class)?,
            data: &data,
        };
        self.segments.record(|out| record.encode(out))?;
        self.data = data;
        Ok(0)
    }

    /// Returns the number of elements left out.
    fn object_array(
        &mut self,
        array: ObjectArray,
        dump: &mut DumpReader<'_>,
    ) -> Result<u64, TranslateError> {
        let header = ObjectArrayHeader {
            object: object(array.object)?,
            trace: self.trace(array.object),
            class: object(array.class)?,
        };
        let ids = &self.survey.ids;
        let put = |range: Range<u64>, out: &mut Vec<u8>| {
            for _ in range {
                let id = dump.next_id().map_err(|_| WriteError::Closed)?.unwrap_or(0);
                // HotSpot 26 has an array that refers to objects of classes that are not loaded. It
                // leaves these objects out.
                let id = if ids.contains(id) { id } else { 0 };
                out.extend_from_slice(&id.to_be_bytes());
            }
            Ok(())
        };
        let missing = self
            .segments
            .object_array_with(&header, array.length.into(), put)?;
        Ok(missing)
    }

    /// Returns the number of elements left out.
    fn primitive_array(
        &mut self,
        array: PrimitiveArray,
        dump: &mut DumpReader<'_>,
    ) -> Result<u64, TranslateError> {
        let header = PrimitiveArrayHeader {
            object: object(array.object)?,
            trace: self.trace(array.object),
            element_type: array.kind,
        };
        if !self.settings.primitive_arrays {
            return Ok(self.segments.zeroed_array(&header, array.length)?);
        }
        let width = array.kind.size_bytes(ID_BYTES);
        let data = &mut self.data;
        data.clear();
        let put = |range: Range<u64>, out: &mut Vec<u8>| {
            let wanted = usize::try_from((range.end - range.start) * u64::from(width));
            let wanted = wanted.unwrap_or(usize::MAX);
            while data.len() < wanted {
                let chunk = dump.next_chunk().map_err(|_| WriteError::Closed)?;
                if chunk.is_empty() {
                    break;
                }
                data.extend_from_slice(chunk);
            }
            out.extend(data.drain(..wanted.min(data.len())));
            Ok(())
        };
        let missing = self
            .segments
            .primitive_array_with(&header, array.length, put)?;
        Ok(missing)
    }

    fn trace(&self, object: u64) -> TraceId {
        let allocated = self.rows.allocated.get(&object);
        allocated.copied().unwrap_or(TraceId::EMPTY)
    }

    /// Sets references to classes that HotSpot has left out to null, and unwanted values to zero.
    fn leave_out(&mut self, class: u64, data: &mut [u8]) {
        let (survey, values) = (self.survey, self.settings.primitive_fields);
        let fields = self.fields(class);
        for &at in &fields.references {
            let bytes = data.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
            if let Some(bytes) =
                bytes.filter(|bytes| survey.left_out.contains(&u64::from_be_bytes(**bytes)))
            {
                *bytes = [0; ID_BYTES as usize];
            }
        }
        if !values {
            for range in &fields.primitives {
                data.get_mut(range.clone()).unwrap_or_default().fill(0);
            }
        }
    }

    /// The fields of a class's instances: its own come first, then those of its superclasses.
    fn fields(&mut self, class: u64) -> &Fields {
        let classes = &self.classes;
        self.layouts.entry(class).or_insert_with(|| {
            let (mut fields, mut at, mut next) = (Fields::default(), 0, class);
            // No class has more superclasses than there are classes.
            for _ in 0..classes.len() {
                let Some(dump) = classes.get(&next) else {
                    break;
                };
                for field in &dump.fields {
                    let end = at + field.kind.size_bytes(ID_BYTES) as usize;
                    match field.kind {
                        BasicType::Object => fields.references.push(at),
                        _ => fields.primitives.push(at..end),
                    }
                    at = end;
                }
                next = dump.super_class;
            }
            fields
        })
    }
}
