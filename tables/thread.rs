//! The thread table: the threads that were alive at the dump.

use std::sync::Arc;

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

/// Threads in order of arrival. Rows are never merged: each is one thread. Any thread may call any
/// method.
#[derive(Debug, Default)]
pub struct ThreadTable {
    threads: Rows<ThreadRow, ThreadId>,
}

impl ThreadTable {
    /// Appends a thread and returns its id.
    pub fn add(&self, row: ThreadRow) -> ThreadId {
        self.threads.add(Arc::new(row))
    }

    /// The thread with this id; `None` if the id came from elsewhere.
    pub fn get(&self, id: ThreadId) -> Option<Arc<ThreadRow>> {
        self.threads.get(id)
    }

    /// Replaces a thread's row; false if there is no such thread.
    ///
    /// A trace contains its thread's id, so a thread is added with the empty trace and gets its own
    /// trace later.
    pub fn replace(&self, id: ThreadId, row: ThreadRow) -> bool {
        self.threads.replace(id, Arc::new(row))
    }

    /// How many threads there are.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Calls `visit` for each thread in the order of ids; no lock is held meanwhile.
    pub fn for_each(&self, visit: impl FnMut(ThreadId, &ThreadRow)) {
        self.threads.for_each(visit);
    }
}

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
