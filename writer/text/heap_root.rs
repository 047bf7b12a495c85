//! A heap dump in text: its first and last line, and why objects are alive.

use std::io::{self, Write};

use tables::{ObjectId, ThreadId, TraceId};

use super::Moment;
use crate::ClassName;

/// The first line of a heap dump. Roots follow, then instances and arrays, then classes.
#[derive(Clone, Copy, Debug)]
pub struct HeapDumpBegin {
    /// How many objects live, arrays and classes included.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the dump was taken.
    pub at: Moment,
}

impl HeapDumpBegin {
    /// Writes the line.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        let (objects, bytes, at) = (self.objects, self.bytes, self.at);
        writeln!(
            out,
            "HEAP DUMP BEGIN ({objects} objects, {bytes} bytes) {at}"
        )
    }
}

/// The last line of a heap dump.
#[derive(Clone, Copy, Debug)]
pub struct HeapDumpEnd;

impl HeapDumpEnd {
    /// Writes the line.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "HEAP DUMP END")
    }
}

/// Why an object is alive though no object refers to it. A thread that is `None` is written as 0,
/// a frame that is `None` as -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootLine<'a> {
    /// A live thread, and the trace that allocated it.
    Thread(ObjectId, Option<ThreadId>, TraceId),
    /// Held by a thread, but not by its stack.
    ThreadBlock(ObjectId, Option<ThreadId>),
    /// Held by the native part of a thread's stack.
    NativeStack(ObjectId, Option<ThreadId>),
    /// Held by a local variable of a thread and a frame.
    JavaStack(ObjectId, Option<ThreadId>, Option<u32>),
    /// Held by a local JNI reference of a thread and a frame.
    JniLocal(ObjectId, Option<ThreadId>, Option<u32>),
    /// Held by a global JNI reference with this number, and the trace that allocated the object.
    JniGlobal(ObjectId, u64, TraceId),
    /// A class that is never unloaded.
    SystemClass(ObjectId, ClassName<'a>),
    /// An object whose monitor is in use.
    BusyMonitor(ObjectId),
    /// Held by something else.
    Unknown(ObjectId),
}

impl RootLine<'_> {
    /// Writes the line.
    pub fn encode(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "ROOT {:x} (kind=<", self.object().get())?;
        match *self {
            Self::Thread(_, thread, trace) => {
                write!(out, "thread>, id={}, trace={}", serial(thread), trace.get())
            }
            Self::ThreadBlock(_, thread) => {
                write!(out, "thread block>, thread={}", serial(thread))
            }
            Self::NativeStack(_, thread) => {
                write!(out, "native stack>, thread={}", serial(thread))
            }
            Self::JavaStack(_, thread, depth) => in_frame("Java stack", thread, depth, out),
            Self::JniLocal(_, thread, depth) => in_frame("JNI local ref", thread, depth, out),
            Self::JniGlobal(_, reference, trace) => {
                let trace = trace.get();
                write!(out, "JNI global ref>, id={reference:x}, trace={trace}")
            }
            Self::SystemClass(_, name) => write!(out, "system class>, name={name}"),
            Self::BusyMonitor(_) => write!(out, "busy monitor>"),
            Self::Unknown(_) => write!(out, "unknown>"),
        }?;
        writeln!(out, ")")
    }

    fn object(&self) -> ObjectId {
        match *self {
            Self::Thread(object, ..)
            | Self::ThreadBlock(object, ..)
            | Self::NativeStack(object, ..)
            | Self::JavaStack(object, ..)
            | Self::JniLocal(object, ..)
            | Self::JniGlobal(object, ..)
            | Self::SystemClass(object, ..)
            | Self::BusyMonitor(object)
            | Self::Unknown(object) => object,
        }
    }
}

fn serial(thread: Option<ThreadId>) -> u32 {
    thread.map_or(0, ThreadId::get)
}

fn in_frame(
    kind: &str,
    thread: Option<ThreadId>,
    depth: Option<u32>,
    out: &mut impl Write,
) -> io::Result<()> {
    let depth = depth.map_or(-1, i64::from);
    write!(out, "{kind}>, thread={}, frame={depth}", serial(thread))
}
