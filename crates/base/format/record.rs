//! The top-level records of a file: their tags and names, and what each consists of.
//!
//! Source: format text, "The following TAGs are supported".

use crate::codec::{
    bytes_of, parts, row_bytes, tags, FieldCodec, Id, Input, Left, List, Output, Rest, TooMany, F4,
    I4, U1, U2, U4, U8,
};

tags! {
    /// A top-level record without heap content.
    Record,
    /// A string and its id.
    UTF8 = 0x01 "UTF8" Utf8(Utf8);
    /// A class was loaded.
    LOAD_CLASS = 0x02 "LOAD CLASS" LoadClass(LoadClass);
    /// A class was unloaded.
    UNLOAD_CLASS = 0x03 "UNLOAD CLASS" UnloadClass(UnloadClass);
    /// A stack frame.
    FRAME = 0x04 "FRAME" Frame(Frame);
    /// A stack trace.
    TRACE = 0x05 "TRACE" Trace(Trace);
    /// Live and allocated objects by class and trace.
    ALLOC_SITES = 0x06 "ALLOC SITES" AllocSites(AllocSites);
    /// Totals of the heap.
    HEAP_SUMMARY = 0x07 "HEAP SUMMARY" HeapSummary(HeapSummary);
    /// A thread started.
    START_THREAD = 0x0A "START THREAD" StartThread(StartThread);
    /// A thread ended.
    END_THREAD = 0x0B "END THREAD" EndThread(EndThread);
    /// A whole heap dump in one record.
    HEAP_DUMP = 0x0C "HEAP DUMP";
    /// Samples of running threads by trace.
    CPU_SAMPLES = 0x0D "CPU SAMPLES" CpuSamples(CpuSamples);
    /// The profiler's settings.
    CONTROL_SETTINGS = 0x0E "CONTROL SETTINGS" ControlSettings(ControlSettings);
    /// A part of a heap dump.
    HEAP_DUMP_SEGMENT = 0x1C "HEAP DUMP SEGMENT";
    /// The last segment has been written.
    HEAP_DUMP_END = 0x2C "HEAP DUMP END" HeapDumpEnd(HeapDumpEnd);
}

parts! {
    /// A string and its id.
    #[derive(Eq)]
    Utf8 {
        /// Id that other records use; never 0 in a valid file.
        id: Id,
        /// Bytes of the whole text in the file. Not a field of its own.
        text_bytes: Left,
        /// The bytes; a decoder keeps 65,535 of them. UTF-8 by the format, see [`crate::mutf8`];
        /// modified UTF-8 in HotSpot's files.
        text: Rest,
    }

    /// A class was loaded.
    #[derive(Copy, Eq)]
    LoadClass {
        /// Serial, from 1; in our files without gaps.
        serial: U4,
        /// Id of the class object.
        class: Id,
        /// Serial of the trace that loaded it; [`crate::EMPTY_TRACE_SERIAL`] if unknown.
        trace: U4,
        /// String id of the name, in the form `java/lang/String`.
        name: Id,
    }

    /// A class was unloaded.
    #[derive(Copy, Eq)]
    UnloadClass {
        /// Serial of the class.
        serial: U4,
    }

    /// One frame of a stack.
    #[derive(Copy, Eq)]
    Frame {
        /// Id of the frame.
        id: Id,
        /// String id of the method's name.
        method: Id,
        /// String id of the method's descriptor.
        signature: Id,
        /// String id of the source file's name; 0 if unknown.
        source: Id,
        /// Serial of the class that declares the method.
        class_serial: U4,
        /// Line, above 0; or [`crate::LINE_UNKNOWN`], `LINE_COMPILED` or `LINE_NATIVE`.
        line: I4,
    }

    /// A stack, top frame first.
    #[derive(Eq)]
    Trace {
        /// Serial, from 1.
        serial: U4,
        /// Serial of the live thread with this stack; 0 for a trace of no particular thread.
        thread_serial: U4,
        /// Ids of the frames, top first.
        frames: List<U4, Id>,
    }

    /// Allocation statistics by class and trace.
    AllocSites {
        /// Bit 0 incremental, bit 1 sorted by allocation, bit 2 a collection was forced.
        flags: U2,
        /// Share of the total below which sites were omitted.
        cutoff: F4,
        /// Live bytes.
        live_bytes: U4,
        /// Live objects.
        live_objects: U4,
        /// Bytes allocated since the start.
        allocated_bytes: U8,
        /// Objects allocated since the start.
        allocated_objects: U8,
        /// The sites.
        sites: List<U4, AllocSite>,
    }

    /// One row of [`AllocSites`].
    #[derive(Copy, Eq)]
    AllocSite {
        /// 0 for plain objects, else the basic type of an array's elements.
        array_type: U1,
        /// Serial of the class; may be 0 for objects created while the JVM started.
        class_serial: U4,
        /// Serial of the trace.
        trace: U4,
        /// Live bytes.
        live_bytes: U4,
        /// Live objects.
        live_objects: U4,
        /// Bytes allocated.
        allocated_bytes: U4,
        /// Objects allocated.
        allocated_objects: U4,
    }

    /// Totals of the heap.
    ///
    /// Not for a file with a heap dump: some viewers take these numbers for the dump's own and read
    /// them as signed.
    #[derive(Copy, Eq)]
    HeapSummary {
        /// Live bytes.
        live_bytes: U4,
        /// Live objects.
        live_objects: U4,
        /// Bytes allocated since the start.
        allocated_bytes: U8,
        /// Objects allocated since the start.
        allocated_objects: U8,
    }

    /// A thread started.
    #[derive(Copy, Eq)]
    StartThread {
        /// Serial of the thread; in our files from 1 without gaps.
        serial: U4,
        /// Id of the thread object; 0 in a file without objects.
        object: Id,
        /// Serial of the trace where it was started; in our files of its stack.
        trace: U4,
        /// String id of the name.
        name: Id,
        /// String id of the group's name; 0 if there is none.
        group: Id,
        /// String id of the name of the group's parent; 0 if there is none.
        parent_group: Id,
    }

    /// A thread ended.
    #[derive(Copy, Eq)]
    EndThread {
        /// Serial of the thread.
        serial: U4,
    }

    /// Samples of running threads.
    #[derive(Eq)]
    CpuSamples {
        /// Total number of samples.
        total: U4,
        /// The traces.
        rows: List<U4, CpuSample>,
    }

    /// One row of [`CpuSamples`].
    #[derive(Copy, Eq)]
    CpuSample {
        /// Samples in this trace.
        samples: U4,
        /// Serial of the trace.
        trace: U4,
    }

    /// The profiler's settings.
    #[derive(Copy, Eq)]
    ControlSettings {
        /// Bit 0 allocation traces, bit 1 CPU sampling.
        flags: U4,
        /// Greatest depth of a trace in frames.
        depth_frames: U2,
    }

    /// The end of a heap dump in segments.
    #[derive(Copy, Eq)]
    HeapDumpEnd {}
}

impl Utf8 {
    /// A string with all its bytes.
    pub fn new(id: u64, text: Vec<u8>) -> Self {
        let text_bytes = text.len() as u64;
        Self {
            id,
            text_bytes,
            text,
        }
    }
}
