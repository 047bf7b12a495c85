//! The frames of unmounted virtual threads. They lie in the heap, and only HotSpot can find the
//! references in them.
//!
//! The positions of references in a compiled frame depend on the code, and only HotSpot has the oop
//! maps. From JDK 21 on, HotSpot reports a virtual thread's frames when its own heap walk visits
//! the thread. So if the marked heap contains such threads, HotSpot continues its walk in the child
//! until it has visited each of them.

use crate::memory::Memory;
use crate::snapshot::locked;
use crate::{Failure, Snapshot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::iter::successors;
use tables::ClassId;

/// Offsets of the fields that show whether a virtual thread has frames. Found before the fork.
#[derive(Clone, Copy, Debug)]
pub struct VirtualThreadFields {
    /// The class of virtual threads.
    pub class: ClassId,
    /// Whether virtual threads can exist, because the class is initialised.
    pub in_use: bool,
    /// `VirtualThread.cont`.
    pub continuation: u64,
    /// `Continuation.tail`: the newest chunk of frames.
    pub tail: u64,
    /// `Thread.tid`.
    pub thread_id: u64,
    /// `StackChunk.parent`: the next older chunk.
    pub parent: u64,
}

impl VirtualThreadFields {
    /// An error if the walk has marked a virtual thread that has frames. For a walk that does not
    /// look for them.
    pub fn check_no_frames(self, snapshot: &Snapshot<impl Memory>) -> Result<(), Failure> {
        let mut frames = VirtualFrames::default();
        frames.take_in(self, snapshot, |_, _| {});
        if frames.is_complete() {
            Ok(())
        } else {
            Err(Failure::FirstVirtualThread)
        }
    }

    /// The newest chunk of a thread's frames; `None` if it has none.
    fn newest_chunk(self, snapshot: &Snapshot<impl Memory>, thread: u64) -> Option<u64> {
        let continuation = load(snapshot, thread, self.continuation)?;
        load(snapshot, continuation, self.tail)
    }

    /// The number that HotSpot uses for the thread when it reports its frames.
    fn thread_id(self, snapshot: &Snapshot<impl Memory>, thread: u64) -> i64 {
        i64::from_ne_bytes(snapshot.memory.u64(thread + self.thread_id).to_ne_bytes())
    }
}

/// The object to which a field refers; `None` for a null.
fn load(snapshot: &Snapshot<impl Memory>, object: u64, offset: u64) -> Option<u64> {
    let target = snapshot.layout.oops.load(snapshot.memory, object + offset);
    snapshot.marks.covers(target).then_some(target)
}

/// The virtual threads that HotSpot has not visited yet, and the objects held by the frames of the
/// others.
#[derive(Debug, Default)]
pub struct VirtualFrames {
    pending: FxHashSet<u64>,
    known: FxHashSet<u64>,
    /// Objects that frames hold. Marking continues from them.
    pub held: Vec<u64>,
}

impl VirtualFrames {
    /// Adds the virtual threads that were marked since the last call. Passes the number and the
    /// address of each to `announce`.
    pub fn take_in(
        &mut self,
        fields: VirtualThreadFields,
        snapshot: &Snapshot<impl Memory>,
        mut announce: impl FnMut(i64, u64),
    ) {
        for thread in locked(&snapshot.virtual_threads).drain(..) {
            let has_frames = fields.newest_chunk(snapshot, thread).is_some();
            if has_frames && self.known.insert(thread) {
                announce(fields.thread_id(snapshot, thread), thread);
                self.pending.insert(thread);
            }
        }
    }

    /// The chunks of each thread's frames, the newest first, by their addresses.
    pub fn chunks(
        &self,
        fields: VirtualThreadFields,
        snapshot: &Snapshot<impl Memory>,
    ) -> FxHashMap<u64, Vec<u64>> {
        let mut known = FxHashSet::default();
        let mut chunks = |&thread: &u64| {
            let newest = fields.newest_chunk(snapshot, thread);
            let older = |&chunk: &u64| load(snapshot, chunk, fields.parent);
            let all = successors(newest, older).take_while(|&chunk| known.insert(chunk));
            (thread, all.collect::<Vec<u64>>())
        };
        self.known.iter().map(&mut chunks).collect()
    }

    /// Called when HotSpot reports the references of this object, and so has already reported its
    /// frames.
    pub fn come_to(&mut self, object: u64) {
        self.pending.remove(&object);
    }

    /// Whether HotSpot has visited all of them.
    pub fn is_complete(&self) -> bool {
        self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Shape;

    #[test]
    fn a_virtual_thread_that_nobody_looked_for_is_noticed_if_it_has_frames() {
        // Each object has a mark, a class and a field: two threads, then the second's continuation
        // and its chunk of frames.
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
            parent: 16,
        };
        snapshot.note_virtual_thread(start);
        assert_eq!(fields.check_no_frames(&snapshot), Ok(()));
        snapshot.note_virtual_thread(start + 3 * 8);
        let noticed = fields.check_no_frames(&snapshot);
        assert_eq!(noticed, Err(Failure::FirstVirtualThread));
    }

    #[test]
    fn the_walk_goes_on_until_it_has_come_to_each_thread() {
        // Two threads whose field refers to the thread itself, so that both have frames. The same
        // word is the thread's number.
        let mut words = [1, 1, 0, 1, 1, 0_u64];
        let start = words.as_ptr() as u64;
        let (first, second) = (start, start + 3 * 8);
        (words[2], words[5]) = (first, second);
        let snapshot = Snapshot::of_words(&words, vec![Shape::ObjectArray]);
        let fields = VirtualThreadFields {
            class: ClassId::from_index(0).expect("an id"),
            in_use: true,
            continuation: 16,
            tail: 16,
            thread_id: 16,
            parent: 16,
        };
        let mut frames = VirtualFrames::default();
        assert!(frames.is_complete());
        let mut announced = Vec::new();
        for thread in [first, second, first] {
            snapshot.note_virtual_thread(thread);
            frames.take_in(fields, &snapshot, |id, thread| announced.push((id, thread)));
        }
        let id = |thread: u64| i64::try_from(thread).expect("an address");
        assert_eq!(announced, [(id(first), first), (id(second), second)]);
        for (object, complete) in [
            (start + 8, false),
            (second, false),
            (second, false),
            (first, true),
        ] {
            frames.come_to(object);
            assert_eq!(frames.is_complete(), complete, "{}", object - start);
        }
    }
}
