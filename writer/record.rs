//! Top-level records, one struct each, and the header of the file.
//!
//! Source: format text, "The following TAGs are supported". Stateless: any thread may encode into
//! its own buffer. Each `encode` appends one whole record, or nothing if it returns an error. The
//! only possible error is [`WriteError::TooLarge`]. The time of every record is 0.

use tables::{ClassId, FrameId, ObjectId, StringId, ThreadId, TraceId};

use crate::encoder::{put_object, put_string, put_u4, put_u8, record, u4};
use crate::WriteError;
use format::ObjectSizes;
use format::{record as tag, HEADER_1_0_2, HEADER_GRAPH, ID_SIZE_BYTES};

/// The first bytes of the file: name and version, size of ids, time.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Milliseconds since 1 January 1970, UTC, at the dump.
    pub millis_since_epoch: u64,
}

impl Header {
    /// Appends the header. Never an error.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.extend_from_slice(HEADER_1_0_2);
        out.push(0);
        put_u4(out, ID_SIZE_BYTES);
        // "High word, low word" is one big-endian u8.
        put_u8(out, self.millis_since_epoch);
        Ok(())
    }
}

/// The first bytes of a graph stream: those of a file, and the sizes of the JVM's objects.
#[derive(Clone, Copy, Debug)]
pub struct GraphHeader {
    /// Milliseconds since 1 January 1970, UTC, at the dump.
    pub millis_since_epoch: u64,
    /// The sizes of objects in the heap.
    pub sizes: ObjectSizes,
}

impl GraphHeader {
    /// Appends the header. The error is [`WriteError::TooLarge`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let ObjectSizes {
            header_bytes,
            array_header_bytes,
            reference_bytes,
            alignment_bytes,
            value_header_bytes: _,
        } = self.sizes;
        out.extend_from_slice(HEADER_GRAPH);
        out.push(0);
        put_u4(out, ID_SIZE_BYTES);
        put_u8(out, self.millis_since_epoch);
        for bytes in [
            header_bytes,
            array_header_bytes,
            reference_bytes,
            alignment_bytes,
        ] {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            put_u4(out, u4("a size of objects", bytes)?);
        }
        Ok(())
    }
}

/// A string and its id.
#[derive(Clone, Copy, Debug)]
pub struct Utf8<'a> {
    /// The id other records refer to.
    pub id: StringId,
    /// True UTF-8, below 32 KiB; see [`format::mutf8`].
    pub text: &'a [u8],
}

impl Utf8<'_> {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::UTF8, |out| {
            put_string(out, self.id);
            out.extend_from_slice(self.text);
            Ok(())
        })
    }
}

/// A class and its name.
#[derive(Clone, Copy, Debug)]
pub struct LoadClass {
    /// The class's serial number, from 1 without gaps.
    pub serial: ClassId,
    /// The class object.
    pub object: ObjectId,
    /// The trace that loaded it; [`TraceId::EMPTY`] if unknown.
    pub trace: TraceId,
    /// The name in HotSpot's form, `java/lang/String`.
    pub name: StringId,
}

impl LoadClass {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::LOAD_CLASS, |out| {
            put_u4(out, self.serial.get());
            put_object(out, Some(self.object));
            put_u4(out, self.trace.get());
            put_string(out, self.name);
            Ok(())
        })
    }
}

/// A stack frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The id that traces refer to.
    pub id: FrameId,
    /// The method's name.
    pub method: StringId,
    /// The method's descriptor.
    pub signature: StringId,
    /// The source file's name.
    pub source: StringId,
    /// The serial number of the class that declares the method.
    pub class: ClassId,
    /// The line from 1, or one of [`format::LINE_UNKNOWN`], `LINE_COMPILED`, `LINE_NATIVE`.
    pub line: i32,
}

impl Frame {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::FRAME, |out| {
            put_u8(out, u64::from(self.id.get()));
            put_string(out, self.method);
            put_string(out, self.signature);
            put_string(out, self.source);
            put_u4(out, self.class.get());
            out.extend_from_slice(&self.line.to_be_bytes());
            Ok(())
        })
    }
}

/// A stack trace.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    /// The serial number other records refer to.
    pub serial: TraceId,
    /// The live thread whose stack this is; `None`, written as 0, for every other trace.
    pub thread: Option<ThreadId>,
    /// The frames, top first.
    pub frames: &'a [FrameId],
}

impl Trace<'_> {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::TRACE, |out| {
            put_u4(out, self.serial.get());
            put_u4(out, self.thread.map_or(0, ThreadId::get));
            put_u4(out, u4("the depth of a stack trace", self.frames.len())?);
            for frame in self.frames {
                put_u8(out, u64::from(frame.get()));
            }
            Ok(())
        })
    }
}

/// A thread and its names.
#[derive(Clone, Copy, Debug)]
pub struct StartThread {
    /// The thread's serial number, from 1 without gaps.
    pub thread: ThreadId,
    /// The `java.lang.Thread` object; `None`, written as 0, in a file without objects.
    pub object: Option<ObjectId>,
    /// The thread's stack; [`TraceId::EMPTY`] if it has no Java frames.
    pub trace: TraceId,
    /// The thread's name.
    pub name: StringId,
    /// The name of its group.
    pub group: StringId,
    /// The name of the group's parent.
    pub parent_group: StringId,
}

impl StartThread {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::START_THREAD, |out| {
            put_u4(out, self.thread.get());
            put_object(out, self.object);
            put_u4(out, self.trace.get());
            put_string(out, self.name);
            put_string(out, self.group);
            put_string(out, self.parent_group);
            Ok(())
        })
    }
}

/// The end of the heap dump; the only record whose body may be empty.
#[derive(Clone, Copy, Debug)]
pub struct HeapDumpEnd;

impl HeapDumpEnd {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        record(out, tag::HEAP_DUMP_END, |_| Ok(()))
    }
}
