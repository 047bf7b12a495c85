//! The roots of a heap dump: their tags, their names, and what their sub-records contain besides
//! the object.

use crate::codec::{FieldCodec, Id, Input, Output, TooMany, U4};
use crate::NO_FRAME;

/// What a root's sub-record may contain after the object's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    /// An id: the JNI reference itself.
    Reference,
    /// The thread's serial.
    Thread,
    /// The number of the frame.
    Frame,
    /// The serial of the thread's trace.
    Trace,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $tag:literal $name:literal [$($fact:ident)*];)*) => {
        /// Why an object is a root of the heap.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RootKind {
            $($(#[$doc])* #[doc = $name] $kind,)*
        }

        impl RootKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The kind with this tag; `None` if it is not the tag of a root.
            pub fn from_tag(tag: u8) -> Option<Self> {
                Some(match tag {
                    $($tag => Self::$kind,)*
                    _ => return None,
                })
            }

            /// The sub-record's tag, its name in the format's text, and what follows the object.
            const fn row(self) -> (u8, &'static str, &'static [Fact]) {
                match self {
                    $(Self::$kind => ($tag, $name, &[$(Fact::$fact),*]),)*
                }
            }
        }
    };
}

kinds! {
    Unknown = 0xFF "ROOT UNKNOWN" [];
    JniGlobal = 0x01 "ROOT JNI GLOBAL" [Reference];
    JniLocal = 0x02 "ROOT JNI LOCAL" [Thread Frame];
    JavaFrame = 0x03 "ROOT JAVA FRAME" [Thread Frame];
    NativeStack = 0x04 "ROOT NATIVE STACK" [Thread];
    StickyClass = 0x05 "ROOT STICKY CLASS" [];
    ThreadBlock = 0x06 "ROOT THREAD BLOCK" [Thread];
    MonitorUsed = 0x07 "ROOT MONITOR USED" [];
    ThreadObject = 0x08 "ROOT THREAD OBJECT" [Thread Trace];
    /// Android: interned string.
    InternedString = 0x89 "ROOT INTERNED STRING" [];
    /// Android: waits for finalization.
    Finalizing = 0x8A "ROOT FINALIZING" [];
    /// Android: held by a debugger.
    Debugger = 0x8B "ROOT DEBUGGER" [];
    /// Android: held by the reference queue.
    ReferenceCleanup = 0x8C "ROOT REFERENCE CLEANUP" [];
    /// Android: held by the runtime.
    VmInternal = 0x8D "ROOT VM INTERNAL" [];
    /// Android: JNI monitor.
    JniMonitor = 0x8E "ROOT JNI MONITOR" [Thread Frame];
    /// Android: not reachable, but listed.
    Unreachable = 0x90 "ROOT UNREACHABLE" [];
}

impl RootKind {
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

    /// Whether only Android's runtime writes this kind.
    pub fn is_androids(self) -> bool {
        self >= Self::InternedString
    }

    /// Bytes of the sub-record if ids have `id_bytes`.
    pub fn bytes(self, id_bytes: u32) -> u32 {
        let bytes = |fact: &Fact| match fact {
            Fact::Reference => id_bytes,
            Fact::Thread | Fact::Frame | Fact::Trace => U4::BYTES,
        };
        1 + id_bytes + self.row().2.iter().map(bytes).sum::<u32>()
    }
}

/// A root of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Why it is a root.
    pub kind: RootKind,
    /// The object; 0 is null, which does not occur in a valid file.
    pub object: u64,
    /// Serial of the thread, for kinds that have one.
    pub thread_serial: Option<u32>,
    /// Serial of the thread's trace; only for [`RootKind::ThreadObject`].
    pub trace: Option<u32>,
    /// Number of the frame in the thread's trace, 0 for the top, [`NO_FRAME`] for none; for
    /// kinds that have one.
    pub frame_number: Option<u32>,
    /// The JNI reference itself (in a JVM's own dump the address of its slot), 0 if unknown; only
    /// for [`RootKind::JniGlobal`].
    pub reference: Option<u64>,
}

impl Root {
    /// A root without further facts.
    pub fn new(kind: RootKind, object: u64) -> Self {
        Self {
            kind,
            object,
            thread_serial: None,
            trace: None,
            frame_number: None,
            reference: None,
        }
    }

    /// Decodes the root with this tag; `None` if it is not the tag of a root. Errors: bytes are
    /// missing.
    pub fn read<I: Input>(tag: u8, from: &mut I) -> Result<Option<Self>, I::Error> {
        let Some(kind) = RootKind::from_tag(tag) else {
            return Ok(None);
        };
        let mut root = Self::new(kind, Id::read(from)?);
        for fact in kind.row().2 {
            match fact {
                Fact::Reference => root.reference = Some(Id::read(from)?),
                Fact::Thread => root.thread_serial = Some(U4::read(from)?),
                Fact::Frame => root.frame_number = Some(U4::read(from)?),
                Fact::Trace => root.trace = Some(U4::read(from)?),
            }
        }
        Ok(Some(root))
    }

    /// Appends the root without its tag, with ids of 8 bytes. A fact that it lacks is 0, a frame
    /// [`NO_FRAME`]. Never an error.
    pub(crate) fn put(&self, to: &mut impl Output) -> Result<(), TooMany> {
        to.put(&self.object.to_be_bytes());
        for fact in self.kind.row().2 {
            match fact {
                Fact::Reference => to.put(&self.reference.unwrap_or_default().to_be_bytes()),
                Fact::Thread => to.put(&self.thread_serial.unwrap_or_default().to_be_bytes()),
                Fact::Frame => to.put(&self.frame_number.unwrap_or(NO_FRAME).to_be_bytes()),
                Fact::Trace => to.put(&self.trace.unwrap_or_default().to_be_bytes()),
            }
        }
        Ok(())
    }

    /// The name of a root's kind with this tag.
    pub(crate) fn name_of(tag: u8) -> Option<&'static str> {
        RootKind::from_tag(tag).map(RootKind::name)
    }

    /// The sub-record's tag.
    pub(crate) fn tag(&self) -> u8 {
        self.kind.tag()
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
        let found = RootKind::ALL.iter().map(|kind| {
            let bytes = kind.bytes(4) - 5;
            (kind.tag(), kind.name(), bytes, kind.is_androids())
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(RootKind::JniGlobal.bytes(8), 17);
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
