//! ResourceExhausted: the JVM is about to throw an OutOfMemoryError.

use crate::heap;
use crate::jvmti::event::ResourceKind;
use crate::options::OnOutOfMemory;
use crate::session::Session;

/// `ResourceExhausted`: asks for a dump at the first one, and waits for it. Meanwhile the frames that hold the leak stay on this thread's
/// stack, so they are in the dump. `what` is the error's message.
///
/// Not for a thread that makes a dump itself: it would wait for its own end.
pub(crate) fn resource_exhausted(session: &Session, kind: ResourceKind, what: &str) {
    if session.options.oom == OnOutOfMemory::Nothing || heap::is_dumping_here() {
        return;
    }
    session.dump_queue.request_for_error(kind, what);
}
