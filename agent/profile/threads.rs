//! The threads of a session: a number each, and the names for reports.

use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::jvmti::thread::ThreadNames;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use tables::ThreadId;

/// A thread that has a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownThread {
    /// Its name and groups when it was first met.
    pub(crate) names: ThreadNames,
    /// It has ended.
    pub(crate) has_ended: bool,
}

/// The threads that were met, virtual ones too. A thread carries its number in JVMTI's thread local storage.
#[derive(Debug)]
pub(crate) struct Threads {
    keeps_ended: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    last: u32,
    threads: BTreeMap<ThreadId, KnownThread>,
}

impl Threads {
    /// No threads yet. Those that have ended are forgotten unless `keeps_ended`: traces name them (`thread=y`).
    pub(crate) fn new(keeps_ended: bool) -> Self {
        Self {
            keeps_ended,
            known: Mutex::default(),
        }
    }

    /// The thread's number: it gets one when it is first asked for. `None` if the thread has ended.
    ///
    /// On any attached thread. No lock is held across calls of the JVM: of two who ask for a new thread at once each
    /// may get a number, and the later one stays.
    pub(crate) fn number(&self, env: &Env, jni: &Jni<'_>, thread: &Object<'_>) -> Option<ThreadId> {
        let number = env.thread_number(thread).ok()?;
        if let Some(id) = u32::try_from(number).ok().and_then(ThreadId::new) {
            return Some(id);
        }
        let names = env.thread_names(jni, thread).unwrap_or_default();
        let id = self.add(names)?;
        env.set_thread_number(thread, usize::try_from(id.get()).ok()?)
            .ok()?;
        Some(id)
    }

    /// `ThreadEnd` and `VirtualThreadEnd`, on that thread.
    pub(crate) fn note_end(&self, env: &Env, thread: &Object<'_>) {
        let number = env.thread_number(thread).unwrap_or(0);
        if let Some(id) = u32::try_from(number).ok().and_then(ThreadId::new) {
            self.end(id);
        }
    }

    /// All threads by number, to be written before what names them.
    pub(crate) fn rows(&self) -> Vec<(ThreadId, KnownThread)> {
        let known = self.known.lock();
        let rows = known.threads.iter();
        rows.map(|(&id, thread)| (id, thread.clone())).collect()
    }

    fn add(&self, names: ThreadNames) -> Option<ThreadId> {
        let mut known = self.known.lock();
        let id = ThreadId::new(known.last.checked_add(1)?)?;
        known.last = id.get();
        let thread = KnownThread {
            names,
            has_ended: false,
        };
        known.threads.insert(id, thread);
        Some(id)
    }

    fn end(&self, id: ThreadId) {
        let mut known = self.known.lock();
        if !self.keeps_ended {
            known.threads.remove(&id);
        } else if let Some(thread) = known.threads.get_mut(&id) {
            thread.has_ended = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_threads_are_kept_for_those_who_name_them() {
        for keeps_ended in [false, true] {
            let threads = Threads::new(keeps_ended);
            let first = threads.add(ThreadNames::default()).unwrap();
            let second = threads.add(ThreadNames::default()).unwrap();
            threads.end(first);
            let rows: Vec<(ThreadId, bool)> = threads
                .rows()
                .into_iter()
                .map(|(id, thread)| (id, thread.has_ended))
                .collect();
            let expected = if keeps_ended {
                vec![(first, true), (second, false)]
            } else {
                vec![(second, false)]
            };
            assert_eq!(rows, expected);
        }
    }

    #[test]
    fn numbers_are_never_given_twice() {
        let threads = Threads::new(false);
        let first = threads.add(ThreadNames::default()).unwrap();
        threads.end(first);
        assert_ne!(threads.add(ThreadNames::default()).unwrap(), first);
    }
}
