//! The kinds of roots: their tags, their names, and what their sub-records contain besides the
//! object.

use crate::{android, heap};

/// Why an object is a root of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RootKind {
    /// ROOT UNKNOWN.
    Unknown,
    /// ROOT JNI GLOBAL.
    JniGlobal,
    /// ROOT JNI LOCAL.
    JniLocal,
    /// ROOT JAVA FRAME.
    JavaFrame,
    /// ROOT NATIVE STACK.
    NativeStack,
    /// ROOT STICKY CLASS.
    StickyClass,
    /// ROOT THREAD BLOCK.
    ThreadBlock,
    /// ROOT MONITOR USED.
    MonitorUsed,
    /// ROOT THREAD OBJECT.
    ThreadObject,
    /// Android: interned string.
    InternedString,
    /// Android: waits for finalization.
    Finalizing,
    /// Android: held by a debugger.
    Debugger,
    /// Android: held by the reference queue.
    ReferenceCleanup,
    /// Android: held by the runtime.
    VmInternal,
    /// Android: JNI monitor.
    JniMonitor,
    /// Android: not reachable, but listed.
    Unreachable,
}

/// What a root's sub-record contains after the object's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootFacts {
    /// Nothing.
    None,
    /// An id: the JNI reference itself.
    Reference,
    /// The thread's serial.
    Thread,
    /// The thread's serial, and the number of the frame.
    ThreadAndFrame,
    /// The thread's serial, and the serial of its trace.
    ThreadAndTrace,
}

impl RootFacts {
    /// The number of bytes if ids have `id_bytes`.
    pub const fn bytes(self, id_bytes: u32) -> u32 {
        match self {
            Self::None => 0,
            Self::Reference => id_bytes,
            Self::Thread => 4,
            Self::ThreadAndFrame | Self::ThreadAndTrace => 8,
        }
    }
}

impl RootKind {
    /// All kinds.
    pub const ALL: [Self; 16] = [
        Self::Unknown,
        Self::JniGlobal,
        Self::JniLocal,
        Self::JavaFrame,
        Self::NativeStack,
        Self::StickyClass,
        Self::ThreadBlock,
        Self::MonitorUsed,
        Self::ThreadObject,
        Self::InternedString,
        Self::Finalizing,
        Self::Debugger,
        Self::ReferenceCleanup,
        Self::VmInternal,
        Self::JniMonitor,
        Self::Unreachable,
    ];

    /// The sub-record's tag, its name in the format's text, and what follows the object's id.
    const fn row(self) -> (u8, &'static str, RootFacts) {
        use RootFacts::{None, Reference, Thread, ThreadAndFrame, ThreadAndTrace};
        match self {
            Self::Unknown => (heap::ROOT_UNKNOWN, "ROOT UNKNOWN", None),
            Self::JniGlobal => (heap::ROOT_JNI_GLOBAL, "ROOT JNI GLOBAL", Reference),
            Self::JniLocal => (heap::ROOT_JNI_LOCAL, "ROOT JNI LOCAL", ThreadAndFrame),
            Self::JavaFrame => (heap::ROOT_JAVA_FRAME, "ROOT JAVA FRAME", ThreadAndFrame),
            Self::NativeStack => (heap::ROOT_NATIVE_STACK, "ROOT NATIVE STACK", Thread),
            Self::StickyClass => (heap::ROOT_STICKY_CLASS, "ROOT STICKY CLASS", None),
            Self::ThreadBlock => (heap::ROOT_THREAD_BLOCK, "ROOT THREAD BLOCK", Thread),
            Self::MonitorUsed => (heap::ROOT_MONITOR_USED, "ROOT MONITOR USED", None),
            Self::ThreadObject => (heap::ROOT_THREAD_OBJ, "ROOT THREAD OBJECT", ThreadAndTrace),
            Self::InternedString => {
                let tag = android::ROOT_INTERNED_STRING;
                (tag, "ROOT INTERNED STRING", None)
            }
            Self::Finalizing => (android::ROOT_FINALIZING, "ROOT FINALIZING", None),
            Self::Debugger => (android::ROOT_DEBUGGER, "ROOT DEBUGGER", None),
            Self::ReferenceCleanup => {
                let tag = android::ROOT_REFERENCE_CLEANUP;
                (tag, "ROOT REFERENCE CLEANUP", None)
            }
            Self::VmInternal => (android::ROOT_VM_INTERNAL, "ROOT VM INTERNAL", None),
            Self::JniMonitor => {
                let tag = android::ROOT_JNI_MONITOR;
                (tag, "ROOT JNI MONITOR", ThreadAndFrame)
            }
            Self::Unreachable => (android::ROOT_UNREACHABLE, "ROOT UNREACHABLE", None),
        }
    }

    /// The sub-record's tag.
    pub const fn tag(self) -> u8 {
        self.row().0
    }

    /// The name in the format's text, in capitals.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// Whether such a root lasts only as long as a method runs, or as a monitor is in use.
    pub const fn is_passing(self) -> bool {
        matches!(
            self,
            Self::JniLocal
                | Self::JavaFrame
                | Self::NativeStack
                | Self::ThreadBlock
                | Self::MonitorUsed
                | Self::JniMonitor
        )
    }

    /// What follows the object's id.
    pub const fn facts(self) -> RootFacts {
        self.row().2
    }

    /// The kind with this tag; `None` if it is not the tag of a root.
    pub fn from_tag(tag: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.tag() == tag)
    }

    /// Whether only Android's runtime writes this kind.
    pub fn is_androids(self) -> bool {
        self >= Self::InternedString
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers and names of the format's text, and those of Android's `hprof.cc`.
    #[test]
    fn each_kind_has_its_tag_name_and_length() {
        let expected = [
            (0xFF, "ROOT UNKNOWN", 0, false),
            (0x01, "ROOT JNI GLOBAL", 4, false),
            (0x02, "ROOT JNI LOCAL", 8, false),
            (0x03, "ROOT JAVA FRAME", 8, false),
            (0x04, "ROOT NATIVE STACK", 4, false),
            (0x05, "ROOT STICKY CLASS", 0, false),
            (0x06, "ROOT THREAD BLOCK", 4, false),
            (0x07, "ROOT MONITOR USED", 0, false),
            (0x08, "ROOT THREAD OBJECT", 8, false),
            (0x89, "ROOT INTERNED STRING", 0, true),
            (0x8A, "ROOT FINALIZING", 0, true),
            (0x8B, "ROOT DEBUGGER", 0, true),
            (0x8C, "ROOT REFERENCE CLEANUP", 0, true),
            (0x8D, "ROOT VM INTERNAL", 0, true),
            (0x8E, "ROOT JNI MONITOR", 8, true),
            (0x90, "ROOT UNREACHABLE", 0, true),
        ];
        let found = RootKind::ALL.map(|kind| {
            let bytes = kind.facts().bytes(4);
            (kind.tag(), kind.name(), bytes, kind.is_androids())
        });
        assert_eq!(found, expected);
        assert_eq!(RootFacts::Reference.bytes(8), 8);
    }

    #[test]
    fn a_tag_leads_back_to_its_kind() {
        for tag in 0..=u8::MAX {
            let kind = RootKind::from_tag(tag);
            assert_eq!(kind.map(RootKind::tag), kind.map(|_| tag));
        }
        let kinds = (0..=u8::MAX).filter_map(RootKind::from_tag);
        assert_eq!(kinds.count(), RootKind::ALL.len());
    }
}
