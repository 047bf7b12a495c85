//! Rules on frames and traces: unique, dense, defined before they are referred to.

use foldhash::HashMap;
use format::{self, EMPTY_TRACE_SERIAL};

use super::citations::Citations;
use super::fault::Faults;
use super::rule::Rule;
use super::serials::Serials;
use crate::budget::entries;
use format::record::{Frame, Trace};

/// The facts about a trace that later rules need.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceFacts {
    /// Number of frames.
    pub(super) depth_frames: u64,
    /// Serial of its thread; 0 for none.
    pub(super) thread_serial: u32,
}

/// The frames and traces so far, and those referred to too early.
#[derive(Debug, Default)]
pub(super) struct TraceRules {
    frames: Serials,
    frame_citations: Citations<u64>,
    serials: Serials,
    traces: HashMap<u32, TraceFacts>,
    /// The trace of each thread, by thread serial.
    by_thread: HashMap<u32, u32>,
    /// Traces whose thread has another trace.
    shared: Vec<Shared>,
    citations: Citations<u32>,
}

impl TraceRules {
    pub(super) fn get(&self, serial: u32) -> Option<TraceFacts> {
        self.traces.get(&serial).copied()
    }

    pub(super) fn frame(&mut self, offset: u64, frame: &Frame, faults: &mut Faults) {
        let id = frame.id;
        if !self.frames.insert(id, offset) {
            faults.add(Rule::DuplicateFrame, offset, || {
                format!("a second frame with id {id:#x}")
            });
        }
        self.frame_citations
            .define(id, Rule::FrameLate, faults, || {
                format!("frame {id:#x}, which stands at {offset:#x}")
            });
        let known = [
            format::LINE_UNKNOWN,
            format::LINE_COMPILED,
            format::LINE_NATIVE,
        ];
        if frame.line <= 0 && !known.contains(&frame.line) {
            faults.add(Rule::LineNumber, offset, || {
                format!("frame {id:#x} at line {}", frame.line)
            });
        }
        if frame.source == 0 {
            faults.add(Rule::SourceZero, offset, || {
                format!("frame {id:#x} with source file id 0")
            });
        }
    }

    pub(super) fn trace(&mut self, offset: u64, trace: &Trace, faults: &mut Faults) {
        let serial = trace.serial;
        for frame in &trace.frames {
            if !self.frames.contains(*frame) {
                self.frame_citations.add(*frame, offset, "TRACE");
            }
        }
        if self.serials.insert(u64::from(serial), offset) {
            let facts = TraceFacts {
                depth_frames: trace.frames.len() as u64,
                thread_serial: trace.thread_serial,
            };
            self.traces.insert(serial, facts);
        } else {
            faults.add(Rule::DuplicateTrace, offset, || {
                format!("a second trace with serial {serial}")
            });
        }
        // Classes are loaded before the traces come in the file, whatever the writer.
        let early = self.citations.resolve(serial);
        if let Some(early) = early.filter(|early| early.by != LOAD_CLASS) {
            faults.add(Rule::TraceLate, early.offset, || {
                let by = early.by;
                format!("{by} names trace {serial}, which stands at {offset:#x}")
            });
        }
        self.note_thread(offset, trace);
    }

    /// Checks a reference to a trace.
    pub(super) fn cite(&mut self, offset: u64, serial: u32, by: &'static str, faults: &mut Faults) {
        if serial == 0 {
            faults.add(Rule::TraceZero, offset, || {
                format!("{by} with trace serial 0, 1 expected")
            });
        } else if !self.traces.contains_key(&serial) {
            self.citations.add(serial, offset, by);
        }
    }

    /// Bytes of memory that the tables take.
    pub(super) fn held_bytes(&self) -> u64 {
        let serials = self.frames.held_bytes() + self.serials.held_bytes();
        let citations = self.frame_citations.held_bytes() + self.citations.held_bytes();
        serials + citations + entries(self.traces.len() + self.by_thread.len() + self.shared.len())
    }

    /// Checks what only the whole file shows, with or without a heap.
    pub(super) fn finish(mut self, has_heap: bool, faults: &mut Faults) {
        // In a profile a thread may have many stacks.
        for shared in self.shared.iter().filter(|_| has_heap) {
            let Shared {
                trace,
                thread,
                first,
                ..
            } = shared;
            faults.add(Rule::ThreadTraceShared, shared.offset, || {
                format!("trace {trace} has thread serial {thread}, as trace {first} has")
            });
        }
        self.frames.judge(Rule::FrameIdGap, "frames", faults);
        self.serials.judge(Rule::TraceSerialGap, "traces", faults);
        self.frame_citations
            .judge(Rule::FrameMissing, faults, |id| {
                format!("frame {id:#x}, which is nowhere")
            });
        // The missing empty trace has its own rule.
        self.citations.resolve(EMPTY_TRACE_SERIAL);
        self.citations.judge(Rule::TraceMissing, faults, |serial| {
            format!("trace {serial}, which is nowhere")
        });
        let empty = self.traces.get(&EMPTY_TRACE_SERIAL);
        if empty.is_none_or(|trace| trace.depth_frames != 0 || trace.thread_serial != 0) {
            faults.add(Rule::EmptyTraceMissing, 0, || match empty {
                None => "no trace with serial 1".to_owned(),
                Some(trace) => format!(
                    "trace 1 has {} frames and thread serial {}",
                    trace.depth_frames, trace.thread_serial
                ),
            });
        }
    }

    fn note_thread(&mut self, offset: u64, trace: &Trace) {
        let (thread, trace) = (trace.thread_serial, trace.serial);
        if thread == 0 {
            return;
        }
        let first = *self.by_thread.entry(thread).or_insert(trace);
        if first != trace {
            self.shared.push(Shared {
                offset,
                trace,
                thread,
                first,
            });
        }
    }
}

/// A trace with the thread serial of an earlier one.
#[derive(Debug)]
struct Shared {
    offset: u64,
    trace: u32,
    thread: u32,
    first: u32,
}

/// The name that LOAD CLASS passes to [`TraceRules::cite`].
pub(super) const LOAD_CLASS: &str = "LOAD CLASS";
