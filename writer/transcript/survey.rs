//! The first look at a dump's records: names, classes, stacks, threads, and how many objects there are.
//!
//! What is kept is bounded by classes, strings and stacks; objects are only counted.

use std::collections::HashMap;
use std::io::{self, Read, Seek};

use tables::{ClassId, Line, ObjectId, ThreadId, TraceId};

use super::classes::Classes;
use super::heap_records::HeapRecord;
use super::names::Names;
use super::records::Records;
use super::site_rows::SiteRows;
use super::ObjectSizes;
use crate::text::Moment;
use format::{record, LINE_NATIVE};

/// What a dump has beside its objects.
#[derive(Debug)]
pub(super) struct Survey {
    /// When the dump was taken.
    pub(super) at: Moment,
    pub(super) names: Names,
    pub(super) classes: Classes,
    pub(super) frames: HashMap<u64, FrameRecord>,
    /// Each stack and the numbers of its frames, innermost first, in the order of the file.
    pub(super) traces: Vec<(TraceId, Vec<u64>)>,
    pub(super) threads: Vec<ThreadRecord>,
    pub(super) sites: Option<SiteRows>,
    pub(super) counts: Counts,
}

/// A frame; names are numbers of strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameRecord {
    pub(super) method: u64,
    pub(super) source: u64,
    pub(super) class: ClassId,
    pub(super) line: Line,
}

/// A thread; names are numbers of strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadRecord {
    pub(super) thread: ThreadId,
    pub(super) object: ObjectId,
    pub(super) name: u64,
    pub(super) group: u64,
}

/// How much of what there is.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) roots: u64,
    pub(super) classes: u64,
    /// Instances and arrays.
    pub(super) objects: u64,
    array_bytes: u64,
    instances: HashMap<ObjectId, u64>,
}

impl Survey {
    /// Looks at all records, the last of which is the end of the heap dump.
    pub(super) fn take<R: Read + Seek>(
        records: &mut Records<R>,
        sizes: &ObjectSizes,
        utc_offset_seconds: i32,
    ) -> io::Result<Self> {
        let millis = records.first()?;
        let mut survey = Self {
            at: Moment {
                seconds_since_epoch: i64::try_from(millis / 1000).unwrap_or(0),
                utc_offset_seconds,
            },
            names: Names::default(),
            classes: Classes::default(),
            frames: HashMap::new(),
            traces: Vec::new(),
            threads: Vec::new(),
            sites: None,
            counts: Counts::default(),
        };
        let mut is_whole = false;
        while let Some(tag) = records.next()? {
            match tag {
                record::HEAP_DUMP_END => is_whole = true,
                record::UTF8 => survey.name(records)?,
                record::LOAD_CLASS => survey.class(records)?,
                record::FRAME => survey.frame(records)?,
                record::TRACE => survey.trace(records)?,
                record::START_THREAD => survey.thread(records)?,
                record::ALLOC_SITES => survey.sites = Some(SiteRows::read(records)?),
                record::HEAP_DUMP_SEGMENT => survey.segment(records, sizes)?,
                _ => {}
            }
        }
        if is_whole {
            Ok(survey)
        } else {
            // What was passed over may be missing, too.
            Err(records.broken("end early"))
        }
    }

    /// Objects, arrays and classes together.
    pub(super) fn objects(&self) -> u64 {
        self.counts.objects.saturating_add(self.counts.classes)
    }

    /// The bytes of instances and arrays, as their lines have them.
    pub(super) fn bytes(&mut self, sizes: &ObjectSizes) -> u64 {
        let mut bytes = self.counts.array_bytes;
        for (&class, &instances) in &self.counts.instances {
            let one = self.classes.instances(class, sizes).size_bytes;
            bytes = bytes.saturating_add(one.saturating_mul(instances));
        }
        bytes
    }

    fn name<R: Read + Seek>(&mut self, records: &mut Records<R>) -> io::Result<()> {
        let number = records.u8()?;
        let mut text = Vec::new();
        records.bytes(records.left(), &mut text)?;
        self.names.insert(number, &text);
        Ok(())
    }

    fn class<R: Read + Seek>(&mut self, records: &mut Records<R>) -> io::Result<()> {
        let (serial, object) = (records.serial(ClassId::new)?, records.object()?);
        // The trace comes between.
        records.skip(4)?;
        self.classes.insert_name(serial, object, records.u8()?);
        Ok(())
    }

    fn frame<R: Read + Seek>(&mut self, records: &mut Records<R>) -> io::Result<()> {
        let (number, method) = (records.u8()?, records.u8()?);
        // The descriptor, which text has not.
        records.skip(8)?;
        let frame = FrameRecord {
            method,
            source: records.u8()?,
            class: records.serial(ClassId::new)?,
            line: line(records.u4()?),
        };
        self.frames.insert(number, frame);
        Ok(())
    }

    fn trace<R: Read + Seek>(&mut self, records: &mut Records<R>) -> io::Result<()> {
        let serial = records.serial(TraceId::new)?;
        // The thread whose stack it is.
        records.skip(4)?;
        let mut frames = Vec::new();
        for _ in 0..records.u4()? {
            frames.push(records.u8()?);
        }
        self.traces.push((serial, frames));
        Ok(())
    }

    fn thread<R: Read + Seek>(&mut self, records: &mut Records<R>) -> io::Result<()> {
        let (thread, object) = (records.serial(ThreadId::new)?, records.object()?);
        // Its stack.
        records.skip(4)?;
        self.threads.push(ThreadRecord {
            thread,
            object,
            name: records.u8()?,
            group: records.u8()?,
        });
        Ok(())
    }

    fn segment<R: Read + Seek>(
        &mut self,
        records: &mut Records<R>,
        sizes: &ObjectSizes,
    ) -> io::Result<()> {
        while let Some(record) = HeapRecord::read(records)? {
            record.skip_values(records)?;
            let counts = &mut self.counts;
            match record {
                HeapRecord::Root(_) => counts.roots += 1,
                HeapRecord::Class(class) => {
                    counts.classes += 1;
                    self.classes.insert_fields(class);
                }
                HeapRecord::Instance(instance) => {
                    *counts.instances.entry(instance.class).or_default() += 1;
                    counts.objects += 1;
                }
                HeapRecord::ObjectArray(array) => {
                    counts.add_array(sizes.object_array_bytes(array.elements));
                }
                HeapRecord::PrimitiveArray(array) => counts.add_array(array.data_bytes()),
            }
        }
        Ok(())
    }
}

impl Counts {
    fn add_array(&mut self, bytes: u64) {
        self.objects += 1;
        self.array_bytes = self.array_bytes.saturating_add(bytes);
    }
}

/// A line as [`crate::emit`] writes it.
fn line(bits: u32) -> Line {
    match i32::from_be_bytes(bits.to_be_bytes()) {
        LINE_NATIVE => Line::Native,
        number => u32::try_from(number).map_or(Line::Unknown, Line::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::{LINE_COMPILED, LINE_UNKNOWN};

    #[test]
    fn lines_are_those_that_were_written() {
        let of = |number: i32| line(u32::from_be_bytes(number.to_be_bytes()));
        assert_eq!(of(79), Line::Number(79));
        assert_eq!(of(LINE_NATIVE), Line::Native);
        assert_eq!(
            (of(LINE_UNKNOWN), of(LINE_COMPILED)),
            (Line::Unknown, Line::Unknown)
        );
    }
}
