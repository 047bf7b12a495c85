//! Rules on threads: their serials, their roots, and the frames to which roots refer.

use std::collections::HashMap;

use format::{EMPTY_TRACE_SERIAL, NO_FRAME};

use super::citations::Citations;
use super::fault::Faults;
use super::rule::Rule;
use super::serials::Serials;
use super::trace_rules::TraceRules;
use crate::budget::entries;
use format::Root;
use format::RootKind;

/// The threads so far, and serials referred to too early.
#[derive(Debug, Default)]
pub(super) struct ThreadRules {
    /// Serials of threads in the heap or in START THREAD.
    serials: Serials,
    /// For each thread's serial in the heap, the serial of its trace.
    roots: HashMap<u32, u32>,
    /// Roots in frames that came before their thread.
    citations: Citations<u32>,
    /// Records outside the heap, which may come before the thread's root.
    outside: Citations<u32>,
}

impl ThreadRules {
    /// Adds a START THREAD.
    pub(super) fn start(&mut self, offset: u64, serial: u32) {
        self.serials.insert(u64::from(serial), offset);
    }

    /// Checks a record outside the heap that refers to a thread.
    pub(super) fn cite(&mut self, offset: u64, serial: u32, by: &'static str) {
        self.outside.add(serial, offset, by);
    }

    /// Checks a root that refers to a thread.
    pub(super) fn root(
        &mut self,
        offset: u64,
        root: &Root,
        traces: &TraceRules,
        faults: &mut Faults,
    ) {
        let Some(serial) = root.thread_serial else {
            return;
        };
        if root.kind == RootKind::ThreadObject {
            self.thread(offset, serial, root.trace.unwrap_or(0), traces, faults);
            return;
        }
        let Some(trace) = self.roots.get(&serial) else {
            self.citations.add(serial, offset, root.kind.name());
            return;
        };
        let frame = root.frame_number.filter(|frame| *frame != NO_FRAME);
        let depth = traces.get(*trace).map_or(0, |trace| trace.depth_frames);
        if let Some(frame) = frame.filter(|frame| u64::from(*frame) >= depth) {
            faults.add(Rule::FrameNumber, offset, || {
                let root = root.kind.name();
                format!("{root} in frame {frame}, thread {serial} has {depth} frames")
            });
        }
    }

    /// Bytes of memory that the tables take.
    pub(super) fn held_bytes(&self) -> u64 {
        let citations = self.citations.held_bytes() + self.outside.held_bytes();
        self.serials.held_bytes() + citations + entries(self.roots.len())
    }

    /// Checks what only the whole file shows, with or without a heap.
    pub(super) fn finish(mut self, has_heap: bool, faults: &mut Faults) {
        // A profile lists only the threads that it has seen.
        if has_heap {
            self.serials.judge(Rule::ThreadSerialGap, "threads", faults);
        }
        let known = &self.serials;
        self.outside.retain(|serial| !known.contains(serial.into()));
        for citations in [self.outside, self.citations] {
            citations.judge(Rule::ThreadMissing, faults, |serial| {
                format!("thread serial {serial}, which has no root")
            });
        }
    }

    fn thread(
        &mut self,
        offset: u64,
        serial: u32,
        trace: u32,
        traces: &TraceRules,
        faults: &mut Faults,
    ) {
        self.serials.insert(u64::from(serial), offset);
        if self.roots.insert(serial, trace).is_some() {
            faults.add(Rule::DuplicateThread, offset, || {
                format!("a second root of thread serial {serial}")
            });
        }
        self.citations.define(serial, Rule::ThreadLate, faults, || {
            format!("thread serial {serial}, whose root stands at {offset:#x}")
        });
        let owner = traces.get(trace).map(|trace| trace.thread_serial);
        if trace != EMPTY_TRACE_SERIAL && owner.is_some_and(|owner| owner != serial) {
            faults.add(Rule::ThreadTraceMismatch, offset, || {
                let owner = owner.unwrap_or(0);
                format!(
                    "thread serial {serial} has trace {trace}, which is of thread serial {owner}"
                )
            });
        }
    }
}
