//! `oom=`: the reaction to the first OutOfMemoryError.

/// The reaction to the first OutOfMemoryError.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOutOfMemory {
    /// Nothing.
    Nothing,
    /// Dump or report; then the application continues.
    Dump,
    /// Dump or report; then the JVM exits with status 3.
    DumpAndExit,
}

impl OnOutOfMemory {
    /// The default: a session that makes heap dumps makes one then.
    pub(super) fn by_default(heap_dump: bool) -> Self {
        if heap_dump {
            Self::Dump
        } else {
            Self::Nothing
        }
    }
}
