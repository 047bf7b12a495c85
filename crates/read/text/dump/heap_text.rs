//! The heap dump itself: reads the records again, and writes one or several lines for each.

use std::io::Write;

use format::{BasicType, ObjectSizes};
use reader::{
    Budget, ClassDump, DumpReader, Event, FieldPlace, HeapRecord, Instance, Layout, ObjectArray,
    Open,
};

use super::error::TextError;
use super::heap_line;
use super::survey::Survey;

/// The parts of a heap dump in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Roots,
    Objects,
    Classes,
}

impl Part {
    /// `None` if it is not part of the text.
    fn of(record: &HeapRecord) -> Option<Self> {
        match record {
            HeapRecord::Root(_) => Some(Self::Roots),
            HeapRecord::Class(_) => Some(Self::Classes),
            HeapRecord::HeapInfo(_) => None,
            HeapRecord::Instance(_)
            | HeapRecord::ObjectArray(_)
            | HeapRecord::PrimitiveArray(_)
            | HeapRecord::NoData(_) => Some(Self::Objects),
        }
    }
}

/// Writes the lines of a heap dump.
pub(super) struct HeapText<'s> {
    survey: &'s Survey,
    /// The values of the current instance.
    values: Vec<u8>,
    /// Its fields.
    places: Vec<FieldPlace<'s>>,
    /// Instances whose values do not match their class.
    damaged: u64,
}

impl<'s> HeapText<'s> {
    /// A writer for a dump that was surveyed.
    pub(super) fn new(survey: &'s Survey) -> Self {
        Self {
            survey,
            values: Vec::new(),
            places: Vec::new(),
            damaged: 0,
        }
    }

    /// Writes all lines, and returns the number of objects whose values do not match their class.
    pub(super) fn encode(
        mut self,
        open: &mut Open<'_, '_>,
        budget: Budget,
        out: &mut impl Write,
    ) -> Result<u64, TextError> {
        let survey = self.survey;
        heap_line::begin(survey.all_objects(), survey.bytes(), survey.at, out)?;
        for (part, count) in [
            (Part::Roots, survey.roots),
            (Part::Objects, survey.objects),
            (Part::Classes, survey.classes),
        ] {
            self.part(part, count, &mut DumpReader::open(open, budget)?, out)?;
        }
        heap_line::end(out)?;
        Ok(self.damaged)
    }

    /// Writes the records of this part, and stops after the last one: only objects can be anywhere
    /// in a file.
    fn part(
        &mut self,
        part: Part,
        mut left: u64,
        dump: &mut DumpReader<'_>,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        while left > 0 {
            let Some(event) = dump.next_event()? else {
                break;
            };
            match event {
                Event::Heap(_, record) if Part::of(&record) == Some(part) => {
                    left -= 1;
                    self.record(&record, dump, out)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        record: &HeapRecord,
        dump: &mut DumpReader<'_>,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        match record {
            HeapRecord::Root(root) => Ok(heap_line::root(
                root,
                self.survey.class_name(root.object),
                out,
            )?),
            HeapRecord::Class(class) => self.class(class, out),
            HeapRecord::Instance(instance) => self.instance(instance, dump, out),
            HeapRecord::ObjectArray(array) => self.object_array(array, dump, out),
            HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
                let size_bytes = ObjectSizes::primitive_array_bytes(array.length, array.kind);
                Ok(heap_line::primitive_array(array, size_bytes, out)?)
            }
            HeapRecord::HeapInfo(_) => Ok(()),
        }
    }

    fn class(&self, class: &ClassDump, out: &mut impl Write) -> Result<(), TextError> {
        heap_line::class(class, self.survey.class_name(class.class), out)?;
        let statics = class.statics.iter();
        for field in statics.filter(|field| field.kind == BasicType::Object) {
            heap_line::static_field(self.survey.string(field.name), field.value, out)?;
        }
        let constants = class.constants.iter();
        for constant in constants.filter(|constant| constant.kind == BasicType::Object) {
            heap_line::constant(constant.name, constant.value, out)?;
        }
        Ok(())
    }

    fn instance(
        &mut self,
        instance: &Instance,
        dump: &mut DumpReader<'_>,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        let survey = self.survey;
        let size_bytes = survey.instance_bytes(instance.class, instance.data_bytes);
        let name = survey.class_name(instance.class);
        heap_line::instance(instance, size_bytes, name, out)?;
        let classes = &survey.directory.classes;
        let class = classes.index(instance.class);
        let complete = class.filter(|&class| {
            matches!(classes.layout(class), Layout::Complete { data_bytes, .. }
                if data_bytes == u64::from(instance.data_bytes))
        });
        let Some(class) = complete else {
            self.damaged += 1;
            return Ok(());
        };
        self.values.clear();
        dump.read_data(&mut self.values)?;
        self.places.clear();
        self.places.extend(classes.places(class));
        // In text, the last superclass is first.
        let of_classes = self
            .places
            .chunk_by(|a, b| a.class_number == b.class_number);
        for place in of_classes.rev().flatten() {
            if place.field.kind == BasicType::Object {
                let value = place.value(&self.values).unwrap_or(0);
                heap_line::field(survey.string(place.field.name), value, out)?;
            }
        }
        Ok(())
    }

    fn object_array(
        &self,
        array: &ObjectArray,
        dump: &mut DumpReader<'_>,
        out: &mut impl Write,
    ) -> Result<(), TextError> {
        let size_bytes = self.survey.sizes.object_array_bytes(array.length);
        let name = self.survey.class_name(array.class);
        heap_line::object_array(array, size_bytes, name, out)?;
        for index in 0..array.length {
            let Some(value) = dump.next_id()? else {
                break;
            };
            heap_line::element(index, value, out)?;
        }
        Ok(())
    }
}
