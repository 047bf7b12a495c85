//! The trace table: stacks of frames.

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

/// Traces, each stored once; in [`Tables`](crate::Tables) the first is [`TraceId::EMPTY`].
pub type TraceTable = Interner<Trace, TraceId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_trace_is_there_from_the_start() {
        let traces = crate::Tables::default().traces;
        assert_eq!(traces.len(), 1);
        assert_eq!(traces.intern(&Trace::default()), TraceId::EMPTY);
        assert!(traces.get(TraceId::EMPTY).unwrap().frames.is_empty());
    }

    #[test]
    fn the_thread_is_part_of_the_key() {
        let traces = TraceTable::default();
        let frames = vec![FrameId::new(1).unwrap()];
        let of = |thread| Trace {
            thread: ThreadId::new(thread),
            frames: frames.clone(),
        };
        let first = traces.intern(&of(1));
        assert_ne!(traces.intern(&of(2)), first);
        assert_ne!(traces.intern(&of(0)), first);
        assert_eq!(traces.intern(&of(1)), first);
    }
}
