//! The roots as the walk reports them: noted in the callback, made into records afterwards.

use crate::jvmti::heap::{Reference, RootFrame};
use crate::jvmti::method::MethodId;
use std::collections::{BTreeMap, HashMap};
use tables::{ObjectIndex, Root, ThreadId, TraceId};

/// What the walk says of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadNote {
    /// The thread object.
    pub(super) object: ObjectIndex,
    /// Its name as the heap has it, in modified UTF-8; empty if nobody has looked.
    pub(super) name: Vec<u8>,
    /// The frames that hold something, by depth: method, and location where it is told.
    pub(super) frames: BTreeMap<u32, (MethodId, Option<i64>)>,
}

/// Where a root was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    JniGlobal,
    SystemClass,
    Monitor,
    Thread { thread: usize },
    StackLocal { thread: usize, depth: Option<u32> },
    JniLocal { thread: usize, depth: Option<u32> },
}

/// All roots of one walk. Filled on the VM thread, owned by the walk.
#[derive(Debug, Default)]
pub(super) struct RootNotes {
    /// The agent's own thread, whose local references are no roots of the application's.
    own_thread: Option<ObjectIndex>,
    threads: Vec<ThreadNote>,
    thread_places: HashMap<ObjectIndex, usize>,
    /// The thread that was reported last, and threads that had no tag when the JVM came to them, by their number.
    last_thread: Option<ObjectIndex>,
    untagged: HashMap<i64, ObjectIndex>,
    notes: Vec<(ObjectIndex, Place)>,
}

impl RootNotes {
    /// No roots yet; `own_thread` makes the dump.
    pub(super) fn new(own_thread: Option<ObjectIndex>) -> Self {
        Self {
            own_thread,
            ..Self::default()
        }
    }

    /// The threads in the order in which the walk met them.
    pub(super) fn threads(&self) -> &[ThreadNote] {
        &self.threads
    }

    /// The objects of all roots, some more than once.
    pub(super) fn objects(&self) -> impl Iterator<Item = ObjectIndex> + '_ {
        self.notes.iter().map(|&(object, _)| object)
    }

    /// Whether this is a local reference of the agent's own, which is no root of the application's.
    pub(super) fn is_own(&self, kind: Reference) -> bool {
        match (kind, self.own_thread) {
            (Reference::JniLocal(frame), Some(own)) => {
                frame.depth == 0 && own.tag() == frame.thread_tag
            }
            _ => false,
        }
    }

    /// Tells whose frames come under this number of the JVM's: a virtual thread's, which the JVM does not report itself.
    pub(super) fn know_thread(&mut self, thread_id: i64, object: ObjectIndex) {
        self.untagged.insert(thread_id, object);
    }

    /// Gives each thread that was met a name, where `name` has one.
    pub(super) fn name_threads(&mut self, name: impl Fn(ObjectIndex) -> Vec<u8>) {
        for thread in &mut self.threads {
            thread.name = name(thread.object);
        }
    }

    /// Notes one root. References that are no roots are left alone.
    pub(super) fn note(&mut self, kind: Reference, object: ObjectIndex) {
        if matches!(kind, Reference::Thread | Reference::Other) {
            self.last_thread = Some(object);
        }
        let place = match kind {
            Reference::SystemClass => Place::SystemClass,
            Reference::Monitor => Place::Monitor,
            Reference::Thread => Place::Thread {
                thread: self.thread(object),
            },
            Reference::StackLocal(frame) => match self.frame(frame) {
                Some((thread, depth)) => Place::StackLocal { thread, depth },
                None => Place::JniGlobal,
            },
            Reference::JniLocal(_) if self.is_own(kind) => return,
            Reference::JniLocal(frame) => match self.frame(frame) {
                Some((thread, depth)) => Place::JniLocal { thread, depth },
                None => Place::JniGlobal,
            },
            // HotSpot's own dumps write the VM's other handles as JNI globals, and one reader dies of ROOT UNKNOWN.
            Reference::JniGlobal | Reference::Other => Place::JniGlobal,
            _ => return,
        };
        self.notes.push((object, place));
    }

    fn thread(&mut self, object: ObjectIndex) -> usize {
        let threads = &mut self.threads;
        *self.thread_places.entry(object).or_insert_with(|| {
            threads.push(ThreadNote {
                object,
                name: Vec::new(),
                frames: BTreeMap::new(),
            });
            threads.len() - 1
        })
    }

    /// The thread and depth of a stack root; `None` if the thread is not known, which no JVM was seen to do.
    fn frame(&mut self, frame: RootFrame) -> Option<(usize, Option<u32>)> {
        let object = self.thread_object(frame)?;
        let thread = self.thread(object);
        let Some(method) = frame.method else {
            return Some((thread, None));
        };
        let noted = self
            .threads
            .get_mut(thread)?
            .frames
            .entry(frame.depth)
            .or_insert((method, frame.location));
        if noted.1.is_none() {
            *noted = (method, frame.location);
        }
        Some((thread, Some(frame.depth)))
    }

    /// The thread object of a frame.
    ///
    /// HotSpot 21 and later read the thread's tag before they report the thread itself, so one that was not
    /// tagged before the walk has none here: it is the thread, or the mounted virtual thread, reported last.
    fn thread_object(&mut self, frame: RootFrame) -> Option<ObjectIndex> {
        if let Some(tagged) = ObjectIndex::from_tag(frame.thread_tag) {
            return Some(tagged);
        }
        if let Some(&known) = self.untagged.get(&frame.thread_id) {
            return Some(known);
        }
        let last = self.last_thread?;
        self.untagged.insert(frame.thread_id, last);
        Some(last)
    }

    /// The roots as the file has them. `threads` are the rows of [`Self::threads`], in their order.
    ///
    /// `is_sticky` tells the mirrors of the bootstrap loader's classes: what else the JVM holds as a
    /// system class is written as a JNI global, as HotSpot does, so that leaked loaders do not look rooted.
    pub(super) fn records(
        &self,
        threads: &[(ThreadId, TraceId)],
        is_sticky: impl Fn(ObjectIndex) -> bool,
    ) -> Vec<Root> {
        let mut roots = Vec::with_capacity(self.notes.len());
        let mut reference = 0;
        for &(object, place) in &self.notes {
            let row = |thread: usize| threads.get(thread).copied();
            match place {
                Place::SystemClass if is_sticky(object) => roots.push(Root::StickyClass { object }),
                Place::SystemClass | Place::JniGlobal => {
                    // JVMTI does not tell the reference's address; a running number keeps them apart.
                    reference += 1;
                    roots.push(Root::JniGlobal { object, reference });
                }
                Place::Monitor => roots.push(Root::MonitorUsed { object }),
                Place::Thread { thread } => {
                    if let Some((thread, trace)) = row(thread) {
                        roots.push(Root::ThreadObject {
                            object,
                            thread,
                            trace,
                        });
                        roots.push(Root::ThreadBlock { object, thread });
                    }
                }
                Place::StackLocal { thread, depth } => {
                    roots.extend(row(thread).map(|(thread, _)| Root::JavaFrame {
                        object,
                        thread,
                        frame: depth,
                    }));
                }
                Place::JniLocal { thread, depth } => {
                    roots.extend(row(thread).map(|(thread, _)| Root::JniLocal {
                        object,
                        thread,
                        frame: depth,
                    }));
                }
            }
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(number: u32) -> ObjectIndex {
        ObjectIndex::new(number).expect("not 0")
    }

    fn frame(thread: i64, depth: u32, method: Option<usize>, location: Option<i64>) -> RootFrame {
        RootFrame {
            thread_tag: thread,
            thread_id: 40,
            depth,
            method: method.map(MethodId::for_test),
            location,
        }
    }

    fn ids(numbers: &[u32]) -> Vec<(ThreadId, TraceId)> {
        numbers
            .iter()
            .map(|&n| {
                (
                    ThreadId::new(n).expect("not 0"),
                    TraceId::new(n + 1).expect("not 0"),
                )
            })
            .collect()
    }

    #[test]
    fn roots_of_a_thread_carry_its_serial_and_depth() {
        let mut notes = RootNotes::new(None);
        notes.note(Reference::Thread, object(7));
        notes.note(
            Reference::StackLocal(frame(7, 2, Some(1), Some(15))),
            object(8),
        );
        notes.note(Reference::JniLocal(frame(7, 0, None, None)), object(9));
        let rows = ids(&[1]);
        let (thread, trace) = rows[0];
        assert_eq!(
            notes.records(&rows, |_| true),
            [
                Root::ThreadObject {
                    object: object(7),
                    thread,
                    trace
                },
                Root::ThreadBlock {
                    object: object(7),
                    thread
                },
                Root::JavaFrame {
                    object: object(8),
                    thread,
                    frame: Some(2)
                },
                Root::JniLocal {
                    object: object(9),
                    thread,
                    frame: None
                },
            ]
        );
        assert_eq!(
            notes.threads()[0].frames[&2],
            (MethodId::for_test(1), Some(15))
        );
    }

    #[test]
    fn the_agents_own_references_are_no_roots() {
        let mut notes = RootNotes::new(Some(object(3)));
        notes.note(Reference::Thread, object(3));
        notes.note(Reference::JniLocal(frame(3, 0, None, None)), object(8));
        notes.note(Reference::JniLocal(frame(3, 1, Some(4), None)), object(9));
        assert_eq!(notes.records(&ids(&[1]), |_| true).len(), 3);
    }

    #[test]
    fn what_fits_no_kind_is_a_global_reference() {
        let mut notes = RootNotes::new(None);
        // A frame before any thread: whose it is nobody can tell.
        notes.note(
            Reference::StackLocal(frame(0, 0, Some(1), Some(0))),
            object(4),
        );
        notes.note(Reference::Other, object(1));
        notes.note(Reference::SystemClass, object(2));
        notes.note(Reference::SystemClass, object(3));
        notes.note(Reference::Field(0), object(5));
        assert_eq!(
            notes.records(&[], |object| object.get() == 2),
            [
                Root::JniGlobal {
                    object: object(4),
                    reference: 1
                },
                Root::JniGlobal {
                    object: object(1),
                    reference: 2
                },
                Root::StickyClass { object: object(2) },
                Root::JniGlobal {
                    object: object(3),
                    reference: 3
                },
            ]
        );
    }

    #[test]
    fn a_thread_without_a_tag_is_the_one_reported_last() {
        let mut notes = RootNotes::new(None);
        notes.note(Reference::Thread, object(7));
        notes.note(
            Reference::StackLocal(frame(0, 1, Some(1), Some(15))),
            object(8),
        );
        notes.note(Reference::Thread, object(9));
        // Still the first thread, by its number.
        notes.note(
            Reference::StackLocal(frame(0, 2, Some(2), Some(15))),
            object(8),
        );
        assert_eq!(notes.threads()[0].frames.len(), 2);
        assert!(notes.threads()[1].frames.is_empty());
    }

    #[test]
    fn a_location_replaces_none() {
        let mut notes = RootNotes::new(None);
        notes.note(Reference::JniLocal(frame(1, 0, Some(5), None)), object(2));
        notes.note(
            Reference::StackLocal(frame(1, 0, Some(5), Some(9))),
            object(2),
        );
        assert_eq!(
            notes.threads()[0].frames[&0],
            (MethodId::for_test(5), Some(9))
        );
    }
}
