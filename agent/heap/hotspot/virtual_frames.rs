//! Frames of virtual threads that are not mounted: they lie in the heap, and only HotSpot can tell what they hold.
//!
//! A frame's references stand where compiled code put them; the maps for that are HotSpot's. It reports them (21 and
//! later) when its own walk comes to the virtual thread. So if the marked heap has such threads, HotSpot goes on with
//! its walk in the child until it has come to each of them.

use super::super::catalogue::Catalogue;
use super::super::plain_facts::field_offset;
use super::super::virtual_threads::VIRTUAL_THREAD;
use super::no_snapshot::NoSnapshot;
use crate::jvmti::env::Env;
use crate::jvmti::method::MethodId;
use snapshot::Failure;
use snapshot::Snapshot;
use std::collections::HashSet;
use std::sync::PoisonError;
use tables::{ClassId, Tables};

/// Offsets of the fields that tell whether a virtual thread has frames, described before the fork.
#[derive(Clone, Copy, Debug)]
pub(super) struct VirtualThreadFields {
    /// The class.
    pub(super) class: ClassId,
    /// There may be virtual threads, as the class is initialised.
    pub(super) in_use: bool,
    /// `VirtualThread.cont`.
    continuation: u64,
    /// `Continuation.tail`: the newest chunk of frames.
    tail: u64,
    /// `Thread.tid`.
    thread_id: u64,
}

impl VirtualThreadFields {
    /// Looks the fields up; `None` if there are no virtual threads.
    pub(super) fn of(
        env: &Env,
        catalogue: &Catalogue<'_>,
        tables: &Tables,
    ) -> Result<Option<Self>, NoSnapshot> {
        let Some(class) = catalogue.bootstrap_class(VIRTUAL_THREAD, tables) else {
            return Ok(None);
        };
        let in_use = env.is_initialised(class).unwrap_or(true);
        let fields = Self::look_up(in_use, catalogue, tables);
        if fields.is_none() && in_use {
            let why = "the fields of its virtual threads are not those that are known";
            return Err(NoSnapshot::Refused(why.to_owned()));
        }
        Ok(fields)
    }

    /// The same again when no class can be linked any more. Between the looks the first virtual thread may have been made: another try
    /// knows the methods that its frames may be of.
    pub(super) fn again(
        before: Option<Self>,
        env: &Env,
        catalogue: &Catalogue<'_>,
        tables: &Tables,
    ) -> Result<Option<Self>, NoSnapshot> {
        let fields = Self::of(env, catalogue, tables)?;
        let in_use = |fields: Option<Self>| fields.is_some_and(|fields| fields.in_use);
        if in_use(fields) == in_use(before) {
            Ok(fields)
        } else {
            Err(NoSnapshot::Again(catalogue.len()))
        }
    }

    /// `None` if a class is not linked yet, or has not such a field.
    fn look_up(in_use: bool, catalogue: &Catalogue<'_>, tables: &Tables) -> Option<Self> {
        let field = |class: &[u8], name: &[u8]| field_offset(catalogue, tables, class, name);
        Some(Self {
            class: catalogue.bootstrap_class_id(VIRTUAL_THREAD, tables)?,
            in_use,
            continuation: field(VIRTUAL_THREAD, b"cont")?,
            tail: field(b"Ljdk/internal/vm/Continuation;", b"tail")?,
            thread_id: field(b"Ljava/lang/Thread;", b"tid")?,
        })
    }

    /// An error if a virtual thread with frames was marked by a walk that was begun without looking for them.
    pub(super) fn check_no_frames(self, snapshot: &Snapshot) -> Result<(), Failure> {
        let mut frames = VirtualFrames::default();
        frames.take_in(self, snapshot, |_, _| {});
        if frames.is_complete() {
            Ok(())
        } else {
            Err(Failure::FirstVirtualThread)
        }
    }

    fn has_frames(self, snapshot: &Snapshot, thread: u64) -> bool {
        let load = |object: u64, offset: u64| {
            let target = snapshot.layout.oops.load(snapshot.memory, object + offset);
            snapshot.marks.covers(target).then_some(target)
        };
        load(thread, self.continuation)
            .and_then(|continuation| load(continuation, self.tail))
            .is_some()
    }

    /// The number by which HotSpot calls the thread when it reports its frames.
    fn thread_id(self, snapshot: &Snapshot, thread: u64) -> i64 {
        i64::from_ne_bytes(snapshot.memory.u64(thread + self.thread_id).to_ne_bytes())
    }
}

/// The ids of all methods, if virtual threads are in use: their frames are told by ids, and one that HotSpot makes in the
/// child has no name here. A few bytes a method, once.
pub(super) fn method_ids(
    env: &Env,
    catalogue: &Catalogue<'_>,
    virtual_threads: Option<VirtualThreadFields>,
) -> HashSet<MethodId> {
    if !virtual_threads.is_some_and(|fields| fields.in_use) {
        return HashSet::new();
    }
    let classes = (0..catalogue.len()).filter_map(ClassId::from_index);
    classes
        .filter_map(|class| catalogue.handle(class))
        // A class that is not linked has no frames, an array no methods.
        .flat_map(|class| env.method_ids(class).unwrap_or_default())
        .collect()
}

/// The virtual threads that HotSpot has not come to yet, and what the frames of the others hold.
#[derive(Debug, Default)]
pub(super) struct VirtualFrames {
    pending: HashSet<u64>,
    known: HashSet<u64>,
    /// Objects that frames hold, from which the marking goes on.
    pub(super) held: Vec<u64>,
}

impl VirtualFrames {
    /// Takes in the virtual threads that were marked since; `announce` gets the number and the address of each.
    pub(super) fn take_in(
        &mut self,
        fields: VirtualThreadFields,
        snapshot: &Snapshot,
        mut announce: impl FnMut(i64, u64),
    ) {
        let mut marked = snapshot
            .virtual_threads
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for thread in marked.drain(..) {
            if fields.has_frames(snapshot, thread) && self.known.insert(thread) {
                announce(fields.thread_id(snapshot, thread), thread);
                self.pending.insert(thread);
            }
        }
    }

    /// HotSpot tells of an object's references, and so has told of its frames before.
    pub(super) fn come_to(&mut self, object: u64) {
        self.pending.remove(&object);
    }

    /// Whether HotSpot has come to all of them.
    pub(super) fn is_complete(&self) -> bool {
        self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapshot::classes::Shape;

    #[test]
    fn a_virtual_thread_that_nobody_looked_for_is_noticed_if_it_has_frames() {
        // Each has a mark, a class and a field: two threads, the second's continuation, its chunk of frames.
        let mut words = [1, 1, 0, 1, 1, 0, 1, 2, 0, 1, 3, 0_u64];
        let start = words.as_ptr() as u64;
        words[5] = start + 6 * 8;
        words[8] = start + 9 * 8;
        let snapshot = Snapshot::of_words(&words, vec![Shape::ObjectArray; 3]);
        let fields = VirtualThreadFields {
            class: ClassId::from_index(0).expect("an id"),
            in_use: false,
            continuation: 16,
            tail: 16,
            thread_id: 0,
        };
        snapshot.note_virtual_thread(start);
        assert_eq!(fields.check_no_frames(&snapshot), Ok(()));
        snapshot.note_virtual_thread(start + 3 * 8);
        let noticed = fields.check_no_frames(&snapshot);
        assert_eq!(noticed, Err(Failure::FirstVirtualThread));
    }
}
