//! `oom=`: what the first OutOfMemoryError does.

/// What the first OutOfMemoryError does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnOutOfMemory {
    /// Nothing.
    Nothing,
    /// It is dumped, or reported; then the application goes on.
    Dump,
    /// The same, and then the JVM ends with status 3.
    DumpAndExit,
}

impl OnOutOfMemory {
    /// Without the option: a session that makes heap dumps makes one then.
    pub(super) fn by_default(heap_dump: bool) -> Self {
        if heap_dump {
            Self::Dump
        } else {
            Self::Nothing
        }
    }
}
