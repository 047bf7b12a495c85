//! The top-level records of a file, one struct for each kind.

use format::record as tag;

use crate::error::ReadError;
use crate::stream::Source;

/// Most bytes kept of a string: a name in a class file has no more.
pub const TEXT_BYTES_MAX: u64 = 0xFFFF;

/// Most entries kept of a record's list (frames, samples, sites); more than any JVM writes.
pub const ENTRIES_MAX: u32 = 1 << 22;

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Offset of the tag.
    pub offset: u64,
    /// Kind of the record (format text, "The following TAGs are supported").
    pub tag: u8,
    /// Microseconds since the header's time; 0 in most files.
    pub time_micros: u32,
    /// Length of the body, as the record claims.
    pub length: u32,
}

/// A top-level record without heap content.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// STRING IN UTF8.
    Utf8(Utf8),
    /// LOAD CLASS.
    LoadClass(LoadClass),
    /// UNLOAD CLASS, with the class serial.
    UnloadClass(u32),
    /// STACK FRAME.
    Frame(Frame),
    /// STACK TRACE.
    Trace(Trace),
    /// ALLOC SITES.
    AllocSites(AllocSites),
    /// HEAP SUMMARY.
    HeapSummary(HeapSummary),
    /// START THREAD.
    StartThread(StartThread),
    /// END THREAD, with the thread serial.
    EndThread(u32),
    /// CPU SAMPLES.
    CpuSamples(CpuSamples),
    /// CONTROL SETTINGS.
    ControlSettings(ControlSettings),
    /// HEAP DUMP END.
    HeapDumpEnd,
}

/// A string and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utf8 {
    /// Id that other records use; never 0 in a valid file.
    pub id: u64,
    /// The bytes, at most [`TEXT_BYTES_MAX`] of them; UTF-8 by the format, modified UTF-8 in
    /// HotSpot's files.
    pub text: Vec<u8>,
    /// Bytes of the whole text in the file.
    pub text_bytes: u64,
}

/// A class was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadClass {
    /// Serial, from 1.
    pub serial: u32,
    /// Id of the class object.
    pub class: u64,
    /// Serial of the trace that loaded it.
    pub trace: u32,
    /// String id of the name, in the form `java/lang/String`.
    pub name: u64,
}

/// One frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Id of the frame.
    pub id: u64,
    /// String id of the method's name.
    pub method: u64,
    /// String id of the method's descriptor.
    pub signature: u64,
    /// String id of the source file's name; 0 if unknown.
    pub source: u64,
    /// Serial of the class.
    pub class_serial: u32,
    /// Line, above 0; or -1 for unknown, -2 for a compiled method, -3 for a native method.
    pub line: i32,
}

/// A stack, top frame first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Serial, from 1.
    pub serial: u32,
    /// Serial of the thread with this stack; 0 for a trace of no particular thread.
    pub thread_serial: u32,
    /// Ids of the frames, top first; at most [`ENTRIES_MAX`].
    pub frames: Vec<u64>,
}

/// Allocation statistics by class and trace.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocSites {
    /// Bit 0 incremental, bit 1 sorted by allocation, bit 2 a collection was forced.
    pub flags: u16,
    /// Share of the total below which sites were omitted.
    pub cutoff: f32,
    /// Live bytes.
    pub live_bytes: u32,
    /// Live objects.
    pub live_objects: u32,
    /// Bytes allocated since the start.
    pub allocated_bytes: u64,
    /// Objects allocated since the start.
    pub allocated_objects: u64,
    /// The sites, at most [`ENTRIES_MAX`].
    pub sites: Vec<AllocSite>,
}

/// One row of [`AllocSites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocSite {
    /// 0 for plain objects, else the basic type of an array's elements.
    pub array_type: u8,
    /// Serial of the class; may be 0 for objects created while the JVM started.
    pub class_serial: u32,
    /// Serial of the trace.
    pub trace: u32,
    /// Live bytes.
    pub live_bytes: u32,
    /// Live objects.
    pub live_objects: u32,
    /// Bytes allocated.
    pub allocated_bytes: u32,
    /// Objects allocated.
    pub allocated_objects: u32,
}

/// Totals of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapSummary {
    /// Live bytes.
    pub live_bytes: u32,
    /// Live objects.
    pub live_objects: u32,
    /// Bytes allocated since the start.
    pub allocated_bytes: u64,
    /// Objects allocated since the start.
    pub allocated_objects: u64,
}

/// A thread started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartThread {
    /// Serial of the thread.
    pub serial: u32,
    /// Id of the thread object.
    pub object: u64,
    /// Serial of the trace where it was started.
    pub trace: u32,
    /// String id of the name.
    pub name: u64,
    /// String id of the group's name; 0 if there is none.
    pub group: u64,
    /// String id of the name of the group's parent; 0 if there is none.
    pub parent_group: u64,
}

/// Samples of running threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSamples {
    /// Total number of samples.
    pub total: u32,
    /// The traces, at most [`ENTRIES_MAX`].
    pub rows: Vec<CpuSample>,
}

/// One row of [`CpuSamples`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSample {
    /// Samples in this trace.
    pub samples: u32,
    /// Serial of the trace.
    pub trace: u32,
}

/// The profiler's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlSettings {
    /// Bit 0 allocation traces, bit 1 CPU sampling.
    pub flags: u32,
    /// Greatest depth of a trace in frames.
    pub depth_frames: u16,
}

impl Record {
    /// Decodes the body between the source's position and its limit; `None` if no record of this
    /// kind has the tag (heap dumps included). May leave bytes over.
    ///
    /// Errors: bytes are missing.
    pub fn read(head: &RecordHead, from: &mut Source<'_>) -> Result<Option<Self>, ReadError> {
        Ok(Some(match head.tag {
            tag::UTF8 => Self::Utf8(utf8(from)?),
            tag::LOAD_CLASS => Self::LoadClass(load_class(from)?),
            tag::UNLOAD_CLASS => Self::UnloadClass(from.u4()?),
            tag::FRAME => Self::Frame(frame(from)?),
            tag::TRACE => Self::Trace(trace(from)?),
            tag::ALLOC_SITES => Self::AllocSites(alloc_sites(from)?),
            tag::HEAP_SUMMARY => Self::HeapSummary(heap_summary(from)?),
            tag::START_THREAD => Self::StartThread(start_thread(from)?),
            tag::END_THREAD => Self::EndThread(from.u4()?),
            tag::CPU_SAMPLES => Self::CpuSamples(cpu_samples(from)?),
            tag::CONTROL_SETTINGS => Self::ControlSettings(ControlSettings {
                flags: from.u4()?,
                depth_frames: from.u2()?,
            }),
            tag::HEAP_DUMP_END => Self::HeapDumpEnd,
            _ => return Ok(None),
        }))
    }
}

/// The format text's name of a record's kind, or `None` for an unknown tag.
pub fn record_name(tag: u8) -> Option<&'static str> {
    Some(match tag {
        tag::UTF8 => "UTF8",
        tag::LOAD_CLASS => "LOAD CLASS",
        tag::UNLOAD_CLASS => "UNLOAD CLASS",
        tag::FRAME => "FRAME",
        tag::TRACE => "TRACE",
        tag::ALLOC_SITES => "ALLOC SITES",
        tag::HEAP_SUMMARY => "HEAP SUMMARY",
        tag::START_THREAD => "START THREAD",
        tag::END_THREAD => "END THREAD",
        tag::HEAP_DUMP => "HEAP DUMP",
        tag::CPU_SAMPLES => "CPU SAMPLES",
        tag::CONTROL_SETTINGS => "CONTROL SETTINGS",
        tag::HEAP_DUMP_SEGMENT => "HEAP DUMP SEGMENT",
        tag::HEAP_DUMP_END => "HEAP DUMP END",
        _ => return None,
    })
}

fn utf8(from: &mut Source<'_>) -> Result<Utf8, ReadError> {
    let id = from.id()?;
    let text_bytes = from.left();
    let end = from.offset().saturating_add(text_bytes);
    let mut text = Vec::new();
    from.append(&mut text, text_bytes.min(TEXT_BYTES_MAX))?;
    from.skip_to(end)?;
    Ok(Utf8 {
        id,
        text,
        text_bytes,
    })
}

fn load_class(from: &mut Source<'_>) -> Result<LoadClass, ReadError> {
    Ok(LoadClass {
        serial: from.u4()?,
        class: from.id()?,
        trace: from.u4()?,
        name: from.id()?,
    })
}

fn frame(from: &mut Source<'_>) -> Result<Frame, ReadError> {
    Ok(Frame {
        id: from.id()?,
        method: from.id()?,
        signature: from.id()?,
        source: from.id()?,
        class_serial: from.u4()?,
        line: from.i4()?,
    })
}

fn trace(from: &mut Source<'_>) -> Result<Trace, ReadError> {
    Ok(Trace {
        serial: from.u4()?,
        thread_serial: from.u4()?,
        frames: list(from, Source::id)?,
    })
}

fn alloc_sites(from: &mut Source<'_>) -> Result<AllocSites, ReadError> {
    Ok(AllocSites {
        flags: from.u2()?,
        cutoff: f32::from_bits(from.u4()?),
        live_bytes: from.u4()?,
        live_objects: from.u4()?,
        allocated_bytes: from.u8()?,
        allocated_objects: from.u8()?,
        sites: list(from, alloc_site)?,
    })
}

fn alloc_site(from: &mut Source<'_>) -> Result<AllocSite, ReadError> {
    Ok(AllocSite {
        array_type: from.u1()?,
        class_serial: from.u4()?,
        trace: from.u4()?,
        live_bytes: from.u4()?,
        live_objects: from.u4()?,
        allocated_bytes: from.u4()?,
        allocated_objects: from.u4()?,
    })
}

fn heap_summary(from: &mut Source<'_>) -> Result<HeapSummary, ReadError> {
    Ok(HeapSummary {
        live_bytes: from.u4()?,
        live_objects: from.u4()?,
        allocated_bytes: from.u8()?,
        allocated_objects: from.u8()?,
    })
}

fn start_thread(from: &mut Source<'_>) -> Result<StartThread, ReadError> {
    Ok(StartThread {
        serial: from.u4()?,
        object: from.id()?,
        trace: from.u4()?,
        name: from.id()?,
        group: from.id()?,
        parent_group: from.id()?,
    })
}

fn cpu_samples(from: &mut Source<'_>) -> Result<CpuSamples, ReadError> {
    Ok(CpuSamples {
        total: from.u4()?,
        rows: list(from, |from| {
            Ok(CpuSample {
                samples: from.u4()?,
                trace: from.u4()?,
            })
        })?,
    })
}

/// A u4 count and that many entries; the vector grows with the entries read, not with the count.
fn list<'r, T>(
    from: &mut Source<'r>,
    entry: impl Fn(&mut Source<'r>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let count = from.u4()?;
    let mut entries = Vec::new();
    for number in 0..count {
        let entry = entry(from)?;
        if number < ENTRIES_MAX {
            entries.push(entry);
        }
    }
    Ok(entries)
}
