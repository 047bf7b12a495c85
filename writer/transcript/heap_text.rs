//! The heap dump itself: records read once more, a line or several each.

use std::io::{self, Read, Seek, Write};

use format::BasicType;
use tables::ObjectId;

use super::heap_records::{
    ClassRecord, HeapRecord, InstanceRecord, ObjectArrayRecord, PrimitiveArrayRecord,
};
use super::records::Records;
use super::survey::Survey;
use super::ObjectSizes;
use crate::heap_record::RootRecord;
use crate::text::{
    ArrayLine, ClassLine, ElementLine, FieldLine, HeapDumpBegin, HeapDumpEnd, InstanceLine,
    RootLine, StaticLine,
};
use crate::ClassName;
use format::record;

/// The parts of a heap dump in the order that text has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Roots,
    Objects,
    Classes,
}

impl Part {
    fn of(record: &HeapRecord) -> Self {
        match record {
            HeapRecord::Root(_) => Self::Roots,
            HeapRecord::Class(_) => Self::Classes,
            _ => Self::Objects,
        }
    }
}

/// Writes the lines of a heap dump.
pub(super) struct HeapText<'d, R> {
    records: &'d mut Records<R>,
    survey: &'d mut Survey,
    sizes: &'d ObjectSizes,
    /// The values of the instance at hand.
    values: Vec<u8>,
}

impl<'d, R: Read + Seek> HeapText<'d, R> {
    /// For a dump that was looked at.
    pub(super) fn new(
        records: &'d mut Records<R>,
        survey: &'d mut Survey,
        sizes: &'d ObjectSizes,
    ) -> Self {
        Self {
            records,
            survey,
            sizes,
            values: Vec::new(),
        }
    }

    /// Writes all lines, from the first to the last.
    pub(super) fn encode(mut self, out: &mut impl Write) -> io::Result<()> {
        HeapDumpBegin {
            objects: self.survey.objects(),
            bytes: self.survey.bytes(self.sizes),
            at: self.survey.at,
        }
        .encode(out)?;
        for part in [Part::Roots, Part::Objects, Part::Classes] {
            self.part(part, out)?;
        }
        HeapDumpEnd.encode(out)
    }

    /// Writes the records of this part, and stops behind the last one: only objects are everywhere in a file.
    fn part(&mut self, part: Part, out: &mut impl Write) -> io::Result<()> {
        let counts = &self.survey.counts;
        let mut left = match part {
            Part::Roots => counts.roots,
            Part::Objects => counts.objects,
            Part::Classes => counts.classes,
        };
        self.records.first()?;
        while left > 0 {
            match self.records.next()? {
                Some(record::HEAP_DUMP_SEGMENT) => self.segment(part, &mut left, out)?,
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn segment(&mut self, part: Part, left: &mut u64, out: &mut impl Write) -> io::Result<()> {
        while *left > 0 {
            let Some(record) = HeapRecord::read(self.records)? else {
                break;
            };
            if Part::of(&record) != part {
                record.skip_values(self.records)?;
                continue;
            }
            *left -= 1;
            match &record {
                HeapRecord::Root(root) => self.root(root, out)?,
                HeapRecord::Class(class) => self.class(class, out)?,
                HeapRecord::Instance(instance) => self.instance(instance, out)?,
                HeapRecord::ObjectArray(array) => self.object_array(array, out)?,
                HeapRecord::PrimitiveArray(array) => self.primitive_array(array, out)?,
            }
        }
        Ok(())
    }

    fn root(&self, root: &RootRecord, out: &mut impl Write) -> io::Result<()> {
        // Who allocated a root is said in its own line; of a global reference the record tells nobody.
        let unknown = tables::TraceId::EMPTY;
        match *root {
            RootRecord::JniGlobal(object, reference) => {
                RootLine::JniGlobal(object, reference, unknown)
            }
            RootRecord::JniLocal(object, thread, depth) => {
                RootLine::JniLocal(object, Some(thread), depth)
            }
            RootRecord::JavaFrame(object, thread, depth) => {
                RootLine::JavaStack(object, Some(thread), depth)
            }
            RootRecord::StickyClass(object) => RootLine::SystemClass(object, self.name(object)),
            RootRecord::MonitorUsed(object) => RootLine::BusyMonitor(object),
            RootRecord::ThreadObject(object, thread, trace) => {
                RootLine::Thread(object, Some(thread), trace)
            }
            RootRecord::ThreadBlock(object, thread) => RootLine::ThreadBlock(object, Some(thread)),
        }
        .encode(out)
    }

    fn class(&self, class: &ClassRecord, out: &mut impl Write) -> io::Result<()> {
        ClassLine {
            object: class.object,
            name: self.name(class.object),
            trace: class.trace,
            super_class: class.super_class,
            loader: class.loader,
            signers: class.signers,
            protection_domain: class.protection_domain,
        }
        .encode(out)?;
        class.statics.iter().try_for_each(|&(name, value)| {
            let name = self.survey.names.get(name);
            StaticLine { name, value }.encode(out)
        })
    }

    fn instance(&mut self, instance: &InstanceRecord, out: &mut impl Write) -> io::Result<()> {
        let data_bytes = u64::from(instance.data_bytes);
        self.records.bytes(data_bytes, &mut self.values)?;
        let shared = self.survey.classes.instances(instance.class, self.sizes);
        InstanceLine {
            object: instance.object,
            size_bytes: shared.size_bytes,
            trace: instance.trace,
            class: self.name(instance.class),
            class_object: instance.class,
        }
        .encode(out)?;
        for &(offset, name) in &shared.references {
            let Some(value) = reference_at(&self.values, offset) else {
                return Err(self.records.broken("have an object without all its fields"));
            };
            let name = self.survey.names.get(name);
            FieldLine { name, value }.encode(out)?;
        }
        Ok(())
    }

    fn object_array(&mut self, array: &ObjectArrayRecord, out: &mut impl Write) -> io::Result<()> {
        ArrayLine {
            object: array.object,
            size_bytes: self.sizes.object_array_bytes(array.elements),
            trace: array.trace,
            elements: array.elements,
            class: self.name(array.class),
            class_object: Some(array.class),
        }
        .encode(out)?;
        for index in 0..array.elements {
            let value = self.records.reference()?;
            ElementLine { index, value }.encode(out)?;
        }
        Ok(())
    }

    fn primitive_array(
        &mut self,
        array: &PrimitiveArrayRecord,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.records.skip(array.data_bytes())?;
        ArrayLine {
            object: array.object,
            size_bytes: array.data_bytes(),
            trace: array.trace,
            elements: array.elements,
            class: ClassName::from_signature(array_signature(array.element_type)),
            class_object: None,
        }
        .encode(out)
    }

    fn name(&self, class: ObjectId) -> ClassName<'_> {
        self.survey.classes.name(class, &self.survey.names)
    }
}

/// The reference at this place, which may be null; `None` if the values end before it does.
fn reference_at(values: &[u8], offset: usize) -> Option<Option<ObjectId>> {
    let bytes = values.get(offset..)?.first_chunk()?;
    Some(ObjectId::new(u64::from_be_bytes(*bytes)))
}

fn array_signature(element_type: BasicType) -> &'static [u8] {
    match element_type {
        BasicType::Boolean => b"[Z",
        BasicType::Char => b"[C",
        BasicType::Float => b"[F",
        BasicType::Double => b"[D",
        BasicType::Byte => b"[B",
        BasicType::Short => b"[S",
        BasicType::Int => b"[I",
        BasicType::Long => b"[J",
        // Arrays of references have a class that is named.
        BasicType::Object => b"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_eight_bytes_or_none() {
        let values = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2];
        assert_eq!(reference_at(&values, 0), Some(None));
        assert_eq!(reference_at(&values, 8), Some(ObjectId::new(0x102)));
        assert_eq!(reference_at(&values, 9), None);
        assert_eq!(reference_at(&values, 99), None);
    }
}
