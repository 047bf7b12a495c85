//! The trace table: stacks of frames.

use std::sync::Arc;

use crate::{FrameId, Interner, ThreadId, TraceId};

/// A stack of frames, with its thread if it is a live thread's own stack.
///
/// The thread is part of the key: two threads with equal frames have two traces, because readers
/// find a thread's stack by the thread in the trace. Traces of allocations, samples and monitors
/// have no thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The thread whose stack this was at the dump; `None` for all other traces.
    pub thread: Option<ThreadId>,
    /// The frames, top first; empty if nothing is known.
    pub frames: Vec<FrameId>,
}

/// Traces, each stored once; the first is [`TraceId::EMPTY`]. Any thread may call any method.
#[derive(Debug)]
pub struct TraceTable {
    traces: Interner<Trace, TraceId>,
}

impl Default for TraceTable {
    fn default() -> Self {
        Self::new()
    }
}

impl TraceTable {
    /// A table that holds the empty trace.
    pub fn new() -> Self {
        let traces = Interner::default();
        let _empty: TraceId = traces.intern(Trace::default());
        Self { traces }
    }

    /// The id of this trace. Adds the trace if it is new.
    pub fn intern(&self, trace: Trace) -> TraceId {
        self.traces.intern(trace)
    }

    /// The id of this trace; `None` if it was never added.
    pub fn find(&self, trace: &Trace) -> Option<TraceId> {
        self.traces.find(trace)
    }

    /// The trace with this id; `None` if the id came from elsewhere.
    pub fn get(&self, id: TraceId) -> Option<Arc<Trace>> {
        self.traces.get(id)
    }

    /// The number of different traces, including the empty one.
    pub fn len(&self) -> usize {
        self.traces.len()
    }

    /// Always false, because the empty trace always exists.
    pub fn is_empty(&self) -> bool {
        self.traces.is_empty()
    }

    /// Calls `visit` for each trace in the order of ids; no lock is held meanwhile.
    pub fn for_each(&self, visit: impl FnMut(TraceId, &Trace)) {
        self.traces.for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_trace_is_there_from_the_start() {
        let traces = TraceTable::new();
        assert_eq!(traces.len(), 1);
        assert_eq!(traces.intern(Trace::default()), TraceId::EMPTY);
        assert!(traces.get(TraceId::EMPTY).unwrap().frames.is_empty());
    }

    #[test]
    fn the_thread_is_part_of_the_key() {
        let traces = TraceTable::new();
        let frames = vec![FrameId::new(1).unwrap()];
        let of = |thread| Trace {
            thread: ThreadId::new(thread),
            frames: frames.clone(),
        };
        let first = traces.intern(of(1));
        assert_ne!(traces.intern(of(2)), first);
        assert_ne!(traces.intern(of(0)), first);
        assert_eq!(traces.intern(of(1)), first);
    }
}
