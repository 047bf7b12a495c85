//! `hprof convert`: makes an Android dump one that other tools read.

use std::io::{self, Write};
use std::path::PathBuf;

use format::sub_record::{class_head_bytes, TAG_BYTES};
use format::{android, heap, record, BasicType, RootKind, HEADER_1_0_2};
use reader::{Header, ReadError, Source, Version};

use crate::dump_file::DumpFile;
use crate::number::counted;
use crate::outcome::{Failure, Verdict};
use crate::plain::plain;
use crate::target;

/// Bytes of sub-records that are gathered for a segment.
const SEGMENT_BYTES: usize = 1 << 20;

/// Bytes of elements or fields that are copied at once.
const COPY_BYTES: u64 = 256 << 10;

/// Makes a dump of version 1.0.2, which all tools read, of one that Android wrote (1.0.3)
///
/// Android's own roots become roots of unknown kind, arrays without elements become empty, and the
/// names of Android's heaps are left out. The rest stays as it is, in segments of about 1 MiB.
/// Android's hprof-conv does the same, but that it leaves arrays without elements their length, so
/// that readers lose their way.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  hprof convert android.hprof -o app.hprof")]
pub(crate) struct Arguments {
    /// The dump, plain or gzip; - for standard input
    file: PathBuf,
    /// Write to this file, which is replaced unless it is a dump or a profile
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Reads the dump and writes the other one.
pub(crate) fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let file = DumpFile::new(&arguments.file)?;
    let opened = file.open();
    let opened = opened.map_err(|fault| Failure::reading(&arguments.file, fault))?;
    let mut source = Source::new(opened);
    let header = Header::read(&mut source).map_err(|fault| file.failure(&fault))?;
    if header.version != Version::V1_0_3 {
        return Err(file.refuse("it is no dump of Android's, so there is nothing to convert"));
    }
    let mut fault = None;
    let mut changed = 0;
    let written = target::write(&arguments.output, &file, |to| {
        let mut converter = Converter {
            source,
            to,
            time: 0,
            segment: Vec::new(),
            changed: 0,
        };
        let done = converter.all(&header);
        changed = converter.changed;
        done.map_err(|why| match why {
            Fault::Writing(fault) => fault,
            other => {
                fault = Some(other);
                io::ErrorKind::InvalidData.into()
            }
        })
    });
    match fault {
        Some(Fault::Reading(fault)) => return Err(file.failure(&fault)),
        Some(Fault::Unknown(offset)) => {
            let advice = "hprof check tells more";
            return Err(file.refuse(format!(
                "nothing known begins at offset {offset:#x}; {advice}"
            )));
        }
        Some(Fault::Writing(_)) | None => written?,
    }
    file.done();
    let name = plain(&arguments.output.display().to_string());
    let changed = counted(changed, "sub-record");
    writeln!(
        io::stdout(),
        "{name}: {changed} of Android's changed or left out"
    )?;
    Ok(Verdict::Sound)
}

/// Why a dump is not converted.
enum Fault {
    Reading(ReadError),
    /// At this offset there is no sub-record, or no type.
    Unknown(u64),
    Writing(io::Error),
}

impl From<ReadError> for Fault {
    fn from(fault: ReadError) -> Self {
        Self::Reading(fault)
    }
}

impl From<io::Error> for Fault {
    fn from(fault: io::Error) -> Self {
        Self::Writing(fault)
    }
}

struct Converter<'a, 'r> {
    source: Source<'r>,
    to: &'a mut dyn Write,
    /// Time of the record that is being read.
    time: u32,
    /// Sub-records that are not written yet.
    segment: Vec<u8>,
    /// Sub-records that are Android's alone.
    changed: u64,
}

impl Converter<'_, '_> {
    fn all(&mut self, header: &Header) -> Result<(), Fault> {
        self.to.write_all(HEADER_1_0_2)?;
        self.to.write_all(&[0])?;
        self.to.write_all(&header.id_bytes.to_be_bytes())?;
        self.to.write_all(&header.time_millis.to_be_bytes())?;
        while !self.source.at_end()? {
            let tag = self.source.u1()?;
            self.time = self.source.u4()?;
            let length = self.source.u4()?;
            let end = self.source.offset().saturating_add(length.into());
            match tag {
                record::HEAP_DUMP | record::HEAP_DUMP_SEGMENT => {
                    self.source.set_limit(end);
                    while self.source.left() > 0 {
                        self.sub_record()?;
                    }
                    self.flush()?;
                    self.source.set_limit(u64::MAX);
                    if tag == record::HEAP_DUMP {
                        self.record_head(record::HEAP_DUMP_END, 0)?;
                    }
                }
                tag => {
                    self.record_head(tag, length)?;
                    self.pass(length.into())?;
                }
            }
        }
        Ok(())
    }

    fn record_head(&mut self, tag: u8, length: u32) -> Result<(), Fault> {
        self.to.write_all(&[tag])?;
        self.to.write_all(&self.time.to_be_bytes())?;
        Ok(self.to.write_all(&length.to_be_bytes())?)
    }

    /// Ends the segment.
    fn flush(&mut self) -> Result<(), Fault> {
        if !self.segment.is_empty() {
            let length = u32::try_from(self.segment.len()).unwrap_or(u32::MAX);
            self.record_head(record::HEAP_DUMP_SEGMENT, length)?;
            self.to.write_all(&self.segment)?;
            self.segment.clear();
        }
        Ok(())
    }

    fn sub_record(&mut self) -> Result<(), Fault> {
        if self.segment.len() >= SEGMENT_BYTES {
            self.flush()?;
        }
        let id = u64::from(self.source.id_bytes());
        let tag = self.source.u1()?;
        match tag {
            android::HEAP_DUMP_INFO => {
                self.changed += 1;
                let behind = self.source.offset() + 4 + id;
                self.source.skip_to(behind)?;
            }
            android::PRIM_ARRAY_NODATA => {
                self.changed += 1;
                self.segment.push(heap::PRIM_ARRAY_DUMP);
                self.source.append(&mut self.segment, id + 4)?;
                self.source.u4()?;
                self.segment.extend([0; 4]);
                self.source.append(&mut self.segment, 1)?;
            }
            heap::CLASS_DUMP => {
                self.segment.push(tag);
                self.class()?;
            }
            heap::INSTANCE_DUMP => {
                self.segment.push(tag);
                self.source.append(&mut self.segment, id + 4 + id)?;
                let bytes = self.count()?;
                self.data(bytes.into())?;
            }
            heap::OBJ_ARRAY_DUMP => {
                self.segment.push(tag);
                self.source.append(&mut self.segment, id + 4)?;
                let length = self.count()?;
                self.source.append(&mut self.segment, id)?;
                self.data(u64::from(length) * id)?;
            }
            heap::PRIM_ARRAY_DUMP => {
                self.segment.push(tag);
                self.source.append(&mut self.segment, id + 4)?;
                let length = self.count()?;
                let kind = self.kind()?;
                self.data(u64::from(length) * u64::from(kind.size_bytes(8)))?;
            }
            tag => self.root(tag)?,
        }
        Ok(())
    }

    /// A root. Of a kind that only Android has, the object alone is kept.
    fn root(&mut self, tag: u8) -> Result<(), Fault> {
        let offset = self.source.offset() - u64::from(TAG_BYTES);
        let kind = RootKind::from_tag(tag).ok_or(Fault::Unknown(offset))?;
        let id_bytes = self.source.id_bytes();
        let facts_bytes = u64::from(kind.facts().bytes(id_bytes));
        if kind.is_androids() {
            self.changed += 1;
            self.segment.push(heap::ROOT_UNKNOWN);
            self.source.append(&mut self.segment, id_bytes.into())?;
            return Ok(self.source.skip_to(self.source.offset() + facts_bytes)?);
        }
        self.segment.push(tag);
        let bytes = u64::from(id_bytes) + facts_bytes;
        Ok(self.source.append(&mut self.segment, bytes)?)
    }

    fn class(&mut self) -> Result<(), Fault> {
        let id = u64::from(self.source.id_bytes());
        let head_bytes = class_head_bytes(self.source.id_bytes()) - TAG_BYTES;
        self.source.append(&mut self.segment, head_bytes.into())?;
        for _ in 0..self.short()? {
            self.source.append(&mut self.segment, 2)?;
            self.value()?;
        }
        for _ in 0..self.short()? {
            self.source.append(&mut self.segment, id)?;
            self.value()?;
        }
        let fields = u64::from(self.short()?);
        Ok(self.source.append(&mut self.segment, fields * (id + 1))?)
    }

    fn value(&mut self) -> Result<(), Fault> {
        let size = self.kind()?.size_bytes(self.source.id_bytes());
        Ok(self.source.append(&mut self.segment, size.into())?)
    }

    fn kind(&mut self) -> Result<BasicType, Fault> {
        let offset = self.source.offset();
        let code = self.source.u1()?;
        self.segment.push(code);
        let kind = BasicType::from_code(code);
        kind.ok_or(Fault::Unknown(offset))
    }

    fn short(&mut self) -> Result<u16, Fault> {
        let number = self.source.u2()?;
        self.segment.extend(number.to_be_bytes());
        Ok(number)
    }

    fn count(&mut self) -> Result<u32, Fault> {
        let number = self.source.u4()?;
        self.segment.extend(number.to_be_bytes());
        Ok(number)
    }

    /// The elements or field values of the sub-record whose head stands at the end of the segment.
    /// Many get a segment of their own, so that they need not be kept.
    fn data(&mut self, bytes: u64) -> Result<(), Fault> {
        if bytes <= COPY_BYTES {
            return Ok(self.source.append(&mut self.segment, bytes)?);
        }
        let length = (self.segment.len() as u64).saturating_add(bytes);
        let offset = self.source.offset();
        let length = u32::try_from(length).map_err(|_| ReadError::PastLimit { offset })?;
        self.record_head(record::HEAP_DUMP_SEGMENT, length)?;
        self.to.write_all(&self.segment)?;
        self.segment.clear();
        self.pass(bytes)
    }

    /// Copies bytes as they are.
    fn pass(&mut self, bytes: u64) -> Result<(), Fault> {
        let mut left = bytes;
        while left > 0 {
            let chunk = self.source.chunk(left.min(COPY_BYTES))?;
            left -= chunk.len() as u64;
            self.to.write_all(chunk)?;
        }
        Ok(())
    }
}
