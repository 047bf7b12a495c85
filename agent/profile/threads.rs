//! The threads of a session: a number for each, and names for reports.

use format::redaction::stars;
use jvm::env::Env;
use jvm::jni::Jni;
use jvm::object::Object;
use jvm::thread::ThreadNames;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use tables::ThreadId;

/// A thread with a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownThread {
    /// Its name and groups when it was first seen.
    pub(crate) names: ThreadNames,
    /// Whether it has ended.
    pub(crate) has_ended: bool,
}

impl KnownThread {
    fn shown(&self, hides_names: bool) -> Self {
        let mut shown = self.clone();
        if hides_names {
            let names = &mut shown.names;
            for text in [&mut names.name, &mut names.group, &mut names.parent_group] {
                *text = stars(text.len());
            }
        }
        shown
    }
}

/// The threads seen so far, including virtual ones. A thread carries its number in JVMTI's
/// thread-local storage.
#[derive(Debug)]
pub(crate) struct Threads {
    keeps_ended: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    last: u32,
    threads: BTreeMap<ThreadId, KnownThread>,
    /// Threads that may be forgotten, the oldest first.
    passing: VecDeque<ThreadId>,
}

/// Unless ended threads are kept, this many of them are remembered, and this many virtual threads,
/// whose end is not reported: lines about waits may refer to them.
const MOST_PASSING: usize = 10_000;

/// Where ended threads are kept, most threads with a number. Later ones have none, and share their
/// stacks.
const MOST_KEPT: usize = 100_000;

/// The group that JVMTI reports for all virtual threads.
const VIRTUAL_THREADS: &[u8] = b"VirtualThreads";

impl Threads {
    /// No threads yet. Ended and virtual threads are eventually forgotten, unless `keeps_ended`:
    /// then traces refer to them (`thread=y`).
    pub(crate) fn new(keeps_ended: bool) -> Self {
        Self {
            keeps_ended,
            known: Mutex::default(),
        }
    }

    /// The thread's number, assigned at the first request. `None` if the thread has ended.
    ///
    /// On any attached thread. No lock is held across calls of the JVM: two concurrent requests for
    /// a new thread may assign two numbers, and the later one stays.
    pub(crate) fn number(&self, env: &Env, jni: &Jni<'_>, thread: &Object<'_>) -> Option<ThreadId> {
        if let Some(id) = self.known_number(env, thread) {
            return Some(id);
        }
        let names = env.thread_names(jni, thread).unwrap_or_default();
        let id = self.add(names)?;
        // The thread may have requested its own number meanwhile.
        if let Some(own) = self.known_number(env, thread) {
            self.known.lock().threads.remove(&id);
            return Some(own);
        }
        let number = usize::try_from(id.get()).ok()?;
        if env.set_thread_number(thread, number).is_err() {
            self.known.lock().threads.remove(&id);
            return None;
        }
        Some(id)
    }

    /// Numbers each live platform thread, because a report in the classic layout starts with them.
    pub(crate) fn number_live(&self, env: &Env, jni: &Jni<'_>) {
        // If there is an error, the report only lists fewer threads.
        for thread in env.live_threads(jni).unwrap_or_default() {
            self.number(env, jni, &thread);
            jni.forget(thread);
        }
    }

    /// The thread's number, if it has one. On any attached thread.
    pub(crate) fn known_number(&self, env: &Env, thread: &Object<'_>) -> Option<ThreadId> {
        let number = env.thread_number(thread).ok()?;
        u32::try_from(number).ok().and_then(ThreadId::new)
    }

    /// Whether the thread with this number is virtual.
    pub(crate) fn is_virtual(&self, id: ThreadId) -> bool {
        let known = self.known.lock();
        let thread = known.threads.get(&id);
        thread.is_some_and(|thread| thread.names.group == VIRTUAL_THREADS)
    }

    /// `ThreadEnd` and `VirtualThreadEnd`, on that thread. Returns its number, if it has one.
    pub(crate) fn note_end(&self, env: &Env, thread: &Object<'_>) -> Option<ThreadId> {
        let id = self.known_number(env, thread)?;
        self.end(id);
        Some(id)
    }

    /// All threads by number, to be written before anything that refers to them. With
    /// `hides_names`, their names and groups are stars.
    pub(crate) fn rows(&self, hides_names: bool) -> Vec<(ThreadId, KnownThread)> {
        let known = self.known.lock();
        let rows = known.threads.iter();
        rows.map(|(&id, thread)| (id, thread.shown(hides_names)))
            .collect()
    }

    fn add(&self, names: ThreadNames) -> Option<ThreadId> {
        let mut known = self.known.lock();
        if self.keeps_ended && known.threads.len() >= MOST_KEPT {
            return None;
        }
        let id = ThreadId::new(known.last.checked_add(1)?)?;
        known.last = id.get();
        let is_passing = names.group == VIRTUAL_THREADS && !self.keeps_ended;
        let thread = KnownThread {
            names,
            has_ended: false,
        };
        known.threads.insert(id, thread);
        if is_passing {
            known.pass(id);
        }
        Some(id)
    }

    fn end(&self, id: ThreadId) {
        let mut known = self.known.lock();
        let Some(thread) = known.threads.get_mut(&id) else {
            return;
        };
        thread.has_ended = true;
        let is_passing = thread.names.group == VIRTUAL_THREADS;
        if !self.keeps_ended && !is_passing {
            known.pass(id);
        }
    }
}

impl Known {
    /// Lets this thread be forgotten after a certain number of others.
    fn pass(&mut self, id: ThreadId) {
        self.passing.push_back(id);
        if self.passing.len() > MOST_PASSING {
            let first = self.passing.pop_front();
            first.and_then(|id| self.threads.remove(&id));
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
            let living = threads.add(ThreadNames::default()).unwrap();
            for _ in 0..=MOST_PASSING {
                let ended = threads.add(ThreadNames::default()).unwrap();
                threads.end(ended);
            }
            let rows = threads.rows(false);
            assert_eq!(rows.len(), MOST_PASSING + 1 + usize::from(keeps_ended));
            let second = if keeps_ended { 2 } else { 3 };
            assert_eq!((rows[0].0, rows[0].1.has_ended), (living, false));
            assert_eq!((rows[1].0.get(), rows[1].1.has_ended), (second, true));
        }
    }

    #[test]
    fn virtual_threads_are_forgotten_though_nobody_tells_their_ends() {
        for keeps_ended in [false, true] {
            let threads = Threads::new(keeps_ended);
            for _ in 0..MOST_PASSING + 5 {
                let names = ThreadNames {
                    group: VIRTUAL_THREADS.to_vec(),
                    ..ThreadNames::default()
                };
                let id = threads.add(names).unwrap();
                assert!(threads.is_virtual(id));
                // A thread whose end is also reported counts only once.
                if id.get() % 2 == 0 {
                    threads.end(id);
                }
            }
            let expected = if keeps_ended { 5 } else { 0 };
            assert_eq!(threads.rows(false).len(), MOST_PASSING + expected);
        }
    }

    #[test]
    fn threads_beyond_the_limit_have_no_number() {
        let threads = Threads::new(true);
        for _ in 0..MOST_KEPT {
            assert!(threads.add(ThreadNames::default()).is_some());
        }
        assert_eq!(threads.add(ThreadNames::default()), None);
    }

    #[test]
    fn hidden_names_are_stars() {
        let threads = Threads::new(false);
        let names = ThreadNames {
            name: b"secret".to_vec(),
            group: b"main".to_vec(),
            ..ThreadNames::default()
        };
        threads.add(names.clone()).unwrap();
        assert_eq!(threads.rows(false)[0].1.names, names);
        let hidden = &threads.rows(true)[0].1.names;
        assert_eq!(
            (&*hidden.name, &*hidden.group),
            (&b"******"[..], &b"****"[..])
        );
    }

    #[test]
    fn numbers_are_never_given_twice() {
        let threads = Threads::new(false);
        let first = threads.add(ThreadNames::default()).unwrap();
        threads.end(first);
        assert_ne!(threads.add(ThreadNames::default()).unwrap(), first);
    }
}
