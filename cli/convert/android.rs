//! An Android dump becomes one that other tools read.
//!
//! Android's hprof-conv does the same, but that it leaves arrays without elements their length, so
//! that readers lose their way.

use std::io::{self, Write};

use format::{record, sub_record, HEADER_1_0_2};
use reader::{DamageKind, DumpReader, Event, HeapRecord, RootKind, Tee, Version};

use crate::files::input_file::InputFile;
use crate::output::{counted, Failure, Verdict};

use super::arguments::{Arguments, Form};

/// Bytes of sub-records that are gathered for a segment.
const SEGMENT_BYTES: usize = 1 << 20;

/// Most bytes of elements or fields that are gathered with other sub-records.
const GATHERED_BYTES: u64 = 256 << 10;

/// Reads the dump and writes the other one.
pub(super) fn write(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = arguments.input()?;
    let opened = file.open();
    let opened = opened.map_err(|fault| Failure::reading(&arguments.graph.file, fault))?;
    let (held, opened) = Tee::new(opened);
    let mut dump = DumpReader::new(opened).map_err(|fault| file.failure(&fault))?;
    if dump.header().version != Version::V1_0_3 {
        let why = "not an Android dump, so there is nothing to convert; --redact leaves values out";
        return Err(file.refuse(why));
    }
    let changed = arguments.write(&file, Form::Hprof, |to| {
        let mut converter = Converter {
            held,
            to,
            bytes: Vec::new(),
            segment: Vec::new(),
            time: 0,
            changed: 0,
        };
        converter.all(&mut dump, &file)?;
        Ok(converter.changed)
    })?;
    let changed = counted(changed, "record");
    arguments.tell(&format!(
        "version 1.0.2; changed or left out: {changed} that only Android has"
    ))?;
    Ok(Verdict::Sound)
}

struct Converter<'a> {
    held: Tee,
    to: &'a mut dyn Write,
    /// The bytes of the last event, without data.
    bytes: Vec<u8>,
    /// Sub-records that are not written yet.
    segment: Vec<u8>,
    /// Time of the heap record that is being read.
    time: u32,
    /// Sub-records that are Android's alone.
    changed: u64,
}

impl Converter<'_> {
    fn all(&mut self, dump: &mut DumpReader<'_>, file: &InputFile) -> Result<(), Failure> {
        let header = dump.header();
        self.to.write_all(HEADER_1_0_2)?;
        self.to.write_all(&[0])?;
        self.to.write_all(&header.id_bytes.to_be_bytes())?;
        self.to.write_all(&header.time_millis.to_be_bytes())?;
        self.take(dump);
        let mut is_segment = false;
        while let Some(event) = dump.next_event().map_err(|fault| file.failure(&fault))? {
            self.take(dump);
            match event {
                Event::Record(..) => self.pass(dump, file)?,
                Event::HeapStart(head) => {
                    self.time = head.time_micros;
                    is_segment = head.tag == record::HEAP_DUMP_SEGMENT;
                }
                Event::Heap(_, record) => {
                    self.sub_record(&record, header.id_bytes as usize)?;
                    self.data(record.data_bytes(header.id_bytes), dump, file)?;
                }
                Event::HeapEnd => {
                    self.flush(0)?;
                    if !is_segment {
                        self.record_head(record::HEAP_DUMP_END, 0)?;
                    }
                }
                Event::Damage(damage) => match damage.kind {
                    DamageKind::UnknownRecord { .. }
                    | DamageKind::RecordTooShort { .. }
                    | DamageKind::RecordTooLong { .. }
                    | DamageKind::HeapLengthZero => self.pass(dump, file)?,
                    // The sub-record is there, and its segment gets the right length.
                    DamageKind::HeapLengthShort => {}
                    kind => {
                        let (offset, advice) = (damage.offset, "hprof check tells more");
                        let why = format!("it is damaged at offset {offset:#x} ({kind}); {advice}");
                        return Err(file.refuse(why));
                    }
                },
            }
        }
        Ok(())
    }

    /// Takes the bytes that were read for the event.
    fn take(&mut self, dump: &DumpReader<'_>) {
        self.bytes.clear();
        self.held.take_to(dump.offset(), &mut self.bytes);
    }

    /// Writes the event's bytes and its data as they are.
    fn pass(&mut self, dump: &mut DumpReader<'_>, file: &InputFile) -> Result<(), Failure> {
        self.to.write_all(&self.bytes)?;
        let failed = |fault| file.failure(&fault);
        while !dump.next_chunk().map_err(failed)?.is_empty() {
            self.take(dump);
            self.to.write_all(&self.bytes)?;
        }
        Ok(())
    }

    fn record_head(&mut self, tag: u8, length: u32) -> io::Result<()> {
        self.to.write_all(&[tag])?;
        self.to.write_all(&self.time.to_be_bytes())?;
        self.to.write_all(&length.to_be_bytes())
    }

    /// Ends the segment, of which so many more bytes are written next.
    fn flush(&mut self, more_bytes: u64) -> io::Result<()> {
        let length = (self.segment.len() as u64).saturating_add(more_bytes);
        if length > 0 {
            let length = u32::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
            self.record_head(record::HEAP_DUMP_SEGMENT, length)?;
            self.to.write_all(&self.segment)?;
            self.segment.clear();
        }
        Ok(())
    }

    /// Adds a sub-record without its data. Of a root that only Android has, the object alone is
    /// kept.
    fn sub_record(&mut self, record: &HeapRecord, id_bytes: usize) -> io::Result<()> {
        if self.segment.len() >= SEGMENT_BYTES {
            self.flush(0)?;
        }
        let kept = |bytes: usize| self.bytes.get(1..1 + bytes).unwrap_or_default();
        match record {
            HeapRecord::HeapInfo(_) => {}
            HeapRecord::Root(root) if root.kind.is_androids() => {
                self.segment.push(RootKind::Unknown.tag());
                self.segment.extend(kept(id_bytes));
            }
            HeapRecord::NoData(array) => {
                self.segment.push(sub_record::PRIM_ARRAY_DUMP);
                self.segment.extend(kept(id_bytes + 4));
                self.segment.extend([0, 0, 0, 0, array.kind.code()]);
            }
            _ => {
                self.segment.extend(&self.bytes);
                return Ok(());
            }
        }
        self.changed += 1;
        Ok(())
    }

    /// The elements or field values of the sub-record whose head stands at the end of the segment.
    /// Many get a segment of their own, so that they need not be kept.
    fn data(
        &mut self,
        bytes: u64,
        dump: &mut DumpReader<'_>,
        file: &InputFile,
    ) -> Result<(), Failure> {
        self.bytes.clear();
        if bytes > GATHERED_BYTES {
            self.flush(bytes)?;
            return self.pass(dump, file);
        }
        let read = dump.read_data(&mut self.segment);
        self.take(dump);
        read.map_err(|fault| file.failure(&fault))
    }
}
