//! The constants of the HPROF binary format (header, record tags, sub-record tags, basic types) and
//! how names are spelled.
//!
//! Source: "HPROF Binary Format", the comment that stood in the JDK's `hprof_b_spec.h`, and the
//! head of HotSpot's `heapDumper.cpp`. Three number spaces exist and each has its own type here,
//! because 0x01 means UTF8 as a record and ROOT JNI GLOBAL as a sub-record.

#![forbid(unsafe_code)]

pub mod answer;
pub mod mutf8;
pub mod name;
pub mod name_pattern;
pub mod redaction;
pub mod sent_numbers;
pub mod sub_record;

mod basic_type;
mod class_name;
mod counted_class;
mod jvm_facts;
mod memory_area;
mod object_sizes;
mod root_kind;

pub use basic_type::BasicType;
pub use class_name::{is_spelling, ClassName};
pub use counted_class::CountedClass;
pub use jvm_facts::{ClassUnits, JvmFacts, UNIT_BYTES};
pub use memory_area::{AreaKind, MemoryArea};
pub use object_sizes::ObjectSizes;
pub use root_kind::{RootFacts, RootKind};

/// First bytes of a file with heap dump segments; a NUL byte follows (format text: "JAVA PROFILE
/// 1.0.2").
pub const HEADER_1_0_2: &[u8] = b"JAVA PROFILE 1.0.2";

/// First bytes of a file whose heap dump is one single HEAP DUMP record; a NUL byte follows.
pub const HEADER_1_0_1: &[u8] = b"JAVA PROFILE 1.0.1";

/// First bytes of a dump made by Android; a NUL byte follows.
pub const HEADER_1_0_3: &[u8] = b"JAVA PROFILE 1.0.3";

/// First bytes of a graph stream, which is not HPROF: the agent sends it to the command `hprof` for
/// questions about references between objects. Of values it contains only [`sent_numbers`]. A NUL
/// byte follows. The number is the version.
pub const HEADER_GRAPH: &[u8] = b"HPROF-RS GRAPH 2";

/// Bytes of one identifier in every file that we write: the size of a pointer on all JVMs we know.
pub const ID_SIZE_BYTES: u32 = 8;

/// Bytes before a record's body: u1 tag, u4 time, u4 length.
pub const RECORD_HEADER_BYTES: usize = 9;

/// The stack trace serial of every record without its own trace: a trace with no frames.
pub const EMPTY_TRACE_SERIAL: u32 = 1;

/// The flag of ALLOC SITES for "sorted by allocation" (format text); without it by live bytes.
pub const SORTED_BY_ALLOCATION: u16 = 0x0002;

/// Line number of a frame whose line is not known (format text, FRAME).
pub const LINE_UNKNOWN: i32 = -1;
/// Line number of a frame of a compiled method whose line is not known (format text, FRAME).
pub const LINE_COMPILED: i32 = -2;
/// Line number of a frame of a native method (format text, FRAME).
pub const LINE_NATIVE: i32 = -3;

/// Frame number of a root that belongs to a thread but to none of its frames (format text: "-1 for
/// empty").
pub const NO_FRAME: u32 = u32::MAX;

/// Tags of top-level records (format text, "The following TAGs are supported").
pub mod record {
    /// A string and its id.
    pub const UTF8: u8 = 0x01;
    /// A class was loaded: serial, class object id, trace serial, name id.
    pub const LOAD_CLASS: u8 = 0x02;
    /// A class was unloaded: serial.
    pub const UNLOAD_CLASS: u8 = 0x03;
    /// A stack frame.
    pub const FRAME: u8 = 0x04;
    /// A stack trace: serial, thread serial, frame ids, top first.
    pub const TRACE: u8 = 0x05;
    /// Live and allocated objects by class and trace.
    pub const ALLOC_SITES: u8 = 0x06;
    /// Totals of the heap.
    pub const HEAP_SUMMARY: u8 = 0x07;
    /// A thread started.
    pub const START_THREAD: u8 = 0x0A;
    /// A thread ended.
    pub const END_THREAD: u8 = 0x0B;
    /// A whole heap dump in one record.
    pub const HEAP_DUMP: u8 = 0x0C;
    /// Samples of running threads by trace.
    pub const CPU_SAMPLES: u8 = 0x0D;
    /// The profiler's settings.
    pub const CONTROL_SETTINGS: u8 = 0x0E;
    /// A part of a heap dump.
    pub const HEAP_DUMP_SEGMENT: u8 = 0x1C;
    /// The last segment has been written.
    pub const HEAP_DUMP_END: u8 = 0x2C;
}

/// Tags of sub-records inside HEAP DUMP and HEAP DUMP SEGMENT.
pub mod heap {
    /// Root of unknown kind: id.
    pub const ROOT_UNKNOWN: u8 = 0xFF;
    /// Global JNI reference: id, reference id.
    pub const ROOT_JNI_GLOBAL: u8 = 0x01;
    /// Local JNI reference: id, thread serial, frame number.
    pub const ROOT_JNI_LOCAL: u8 = 0x02;
    /// Local variable or operand of a Java frame: id, thread serial, frame number.
    pub const ROOT_JAVA_FRAME: u8 = 0x03;
    /// Native stack: id, thread serial.
    pub const ROOT_NATIVE_STACK: u8 = 0x04;
    /// A class that is never unloaded: id.
    pub const ROOT_STICKY_CLASS: u8 = 0x05;
    /// Referenced from a thread block: id, thread serial.
    pub const ROOT_THREAD_BLOCK: u8 = 0x06;
    /// A monitor in use: id.
    pub const ROOT_MONITOR_USED: u8 = 0x07;
    /// A thread object: id, thread serial, trace serial.
    pub const ROOT_THREAD_OBJ: u8 = 0x08;
    /// A class with its static fields and the layout of its instances.
    pub const CLASS_DUMP: u8 = 0x20;
    /// An object that is neither an array nor a class.
    pub const INSTANCE_DUMP: u8 = 0x21;
    /// An array of references.
    pub const OBJ_ARRAY_DUMP: u8 = 0x22;
    /// An array of primitive values.
    pub const PRIM_ARRAY_DUMP: u8 = 0x23;
    /// Neighbours in the heap with their references, in a graph stream only: u4 length, then the
    /// bytes that `writer/graph_objects.rs` describes.
    pub const GRAPH_OBJECTS: u8 = 0x40;
}

/// Most elements of an array of references in a graph stream; the rest is left out.
pub const GRAPH_ELEMENTS_MAX: u32 = 1 << 28;

/// Tags of sub-records that only Android's runtime writes (its `hprof.cc`); read, never written.
pub mod android {
    /// Interned string root: id.
    pub const ROOT_INTERNED_STRING: u8 = 0x89;
    /// Object that waits for finalization: id.
    pub const ROOT_FINALIZING: u8 = 0x8A;
    /// Held by a debugger: id.
    pub const ROOT_DEBUGGER: u8 = 0x8B;
    /// Held by the reference queue: id.
    pub const ROOT_REFERENCE_CLEANUP: u8 = 0x8C;
    /// Held by the runtime: id.
    pub const ROOT_VM_INTERNAL: u8 = 0x8D;
    /// JNI monitor: id, thread serial, frame number.
    pub const ROOT_JNI_MONITOR: u8 = 0x8E;
    /// Not reachable: id.
    pub const ROOT_UNREACHABLE: u8 = 0x90;
    /// Primitive array without its elements: id, trace serial, length, type.
    pub const PRIM_ARRAY_NODATA: u8 = 0xC3;
    /// The heap that the following objects belong to: u4 heap, name id.
    pub const HEAP_DUMP_INFO: u8 = 0xFE;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the format's text (FRAME), and the largest array of a graph stream.
    #[test]
    fn numbers_without_a_record_are_those_of_the_format() {
        assert_eq!((LINE_UNKNOWN, LINE_COMPILED, LINE_NATIVE), (-1, -2, -3));
        assert_eq!(GRAPH_ELEMENTS_MAX, 268_435_456);
    }
}
