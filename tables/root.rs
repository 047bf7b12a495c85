//! Roots: why an object is alive although no object refers to it.

use crate::{ObjectIndex, ThreadId, TraceId};

/// One root of one object, as the walk found it (format text, the ROOT sub-records).
///
/// Plain data without a lock. What the JVM itself holds is `JniGlobal` with reference 0: HotSpot
/// writes it so, and some readers reject the kind "unknown".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Held by a global JNI reference.
    JniGlobal {
        /// The object.
        object: ObjectIndex,
        /// The reference's own number; 0 if it is the JVM's.
        reference: u64,
    },
    /// Held by a local JNI reference.
    JniLocal {
        /// The object.
        object: ObjectIndex,
        /// The thread that owns the reference.
        thread: ThreadId,
        /// The frame, counted from the top (0); `None` if it belongs to no frame.
        frame: Option<u32>,
    },
    /// Held by a local variable or an operand.
    JavaFrame {
        /// The object.
        object: ObjectIndex,
        /// The thread whose stack contains it.
        thread: ThreadId,
        /// The frame, counted from the top (0); `None` if unknown.
        frame: Option<u32>,
    },
    /// A class of the bootstrap loader, which is never unloaded.
    StickyClass {
        /// The class's mirror.
        object: ObjectIndex,
    },
    /// A thread owns its monitor, or waits for it.
    MonitorUsed {
        /// The object.
        object: ObjectIndex,
    },
    /// A live thread.
    ThreadObject {
        /// The `java.lang.Thread` object.
        object: ObjectIndex,
        /// The thread it is.
        thread: ThreadId,
        /// The thread's stack.
        trace: TraceId,
    },
    /// Held by a thread, but not by its stack.
    ThreadBlock {
        /// The object.
        object: ObjectIndex,
        /// The thread.
        thread: ThreadId,
    },
}

impl Root {
    /// The object that is kept alive.
    pub fn object(&self) -> ObjectIndex {
        match *self {
            Self::JniGlobal { object, .. }
            | Self::JniLocal { object, .. }
            | Self::JavaFrame { object, .. }
            | Self::StickyClass { object }
            | Self::MonitorUsed { object }
            | Self::ThreadObject { object, .. }
            | Self::ThreadBlock { object, .. } => object,
        }
    }

    /// The root's thread; `None` for kinds without one.
    pub fn thread(&self) -> Option<ThreadId> {
        match *self {
            Self::JniLocal { thread, .. }
            | Self::JavaFrame { thread, .. }
            | Self::ThreadObject { thread, .. }
            | Self::ThreadBlock { thread, .. } => Some(thread),
            Self::JniGlobal { .. } | Self::StickyClass { .. } | Self::MonitorUsed { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_thread_roots_have_a_thread() {
        let object = ObjectIndex::new(3).unwrap();
        let thread = ThreadId::new(1).unwrap();
        assert_eq!(Root::StickyClass { object }.thread(), None);
        let local = Root::JniLocal {
            object,
            thread,
            frame: None,
        };
        assert_eq!((local.object(), local.thread()), (object, Some(thread)));
    }
}
