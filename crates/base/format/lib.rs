//! The HPROF binary format (header, records, sub-records, basic types) and how names are spelled.
//!
//! Source: "HPROF Binary Format", the comment that stood in the JDK's `hprof_b_spec.h`, and the
//! head of HotSpot's `heapDumper.cpp`. Three number spaces exist and each has its own module or
//! type here, because 0x01 means UTF8 as a record and ROOT JNI GLOBAL as a sub-record.

#![forbid(unsafe_code)]

pub mod answer;
pub mod codec;
pub mod mutf8;
pub mod name;
pub mod name_pattern;
pub mod record;
pub mod redaction;
pub mod sent_numbers;
pub mod sub_record;

mod basic_type;
mod class_name;
mod counted_class;
mod jvm_facts;
mod memory_area;
mod object_sizes;
mod root;

pub use basic_type::BasicType;
pub use class_name::{is_spelling, ClassName};
pub use counted_class::CountedClass;
pub use jvm_facts::{ClassUnits, JvmFacts, UNIT_BYTES};
pub use memory_area::{AreaKind, MemoryArea};
pub use object_sizes::ObjectSizes;
pub use root::{Root, RootKind};

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

/// Most elements of an array of references in a graph stream; the rest is left out.
pub const GRAPH_ELEMENTS_MAX: u32 = 1 << 28;

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
