//! The thread table: the threads that were alive at the dump.

use crate::{ObjectIndex, Rows, StringId, ThreadId, TraceId};

/// One thread (format text, START THREAD).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRow {
    /// The `java.lang.Thread` object.
    pub object: ObjectIndex,
    /// The thread's name.
    pub name: StringId,
    /// Its group's name; the empty string if it has none.
    pub group: StringId,
    /// The name of the group's parent; the empty string if there is none.
    pub parent_group: StringId,
    /// Its stack; [`TraceId::EMPTY`] if it has no Java frames.
    pub trace: TraceId,
}

/// Threads in order of arrival. Rows are never merged: each is one thread.
///
/// A trace contains its thread's id, so a thread is added with the empty trace and gets its own
/// trace later.
pub type ThreadTable = Rows<ThreadRow, ThreadId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_two_threads() {
        let threads = ThreadTable::default();
        let name = StringId::new(1).unwrap();
        let row = ThreadRow {
            object: ObjectIndex::new(1).unwrap(),
            name,
            group: name,
            parent_group: name,
            trace: TraceId::EMPTY,
        };
        let first = threads.add(row.clone());
        let second = threads.add(row.clone());
        assert_eq!((first.get(), second.get()), (1, 2));
        let trace = TraceId::new(2).unwrap();
        assert!(threads.replace(second, ThreadRow { trace, ..row }));
        assert_eq!(threads.get(second).unwrap().trace, trace);
    }
}
