//! The snapshot: a heap in which nothing changes, and everything needed to read it. All threads of
//! the child share it.

use crate::classes::{Class, ClassMap};
use crate::layout::ObjectLayout;
use crate::mappings::Mappings;
use crate::memory::{Memory, ProcessMemory};
use crate::walk::Marks;
use crate::{Failure, Values};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tables::{ClassId, TraceId};

/// A heap in which nothing changes.
#[derive(Debug)]
pub struct Snapshot<M = ProcessMemory> {
    /// The memory.
    pub memory: M,
    /// Its mappings.
    pub mappings: Mappings,
    /// Its object layout.
    pub layout: ObjectLayout,
    /// The classes.
    pub classes: ClassMap,
    /// Sampled objects and the traces that allocated them, in address order.
    pub allocated: Vec<(u64, TraceId)>,
    /// Parts of the heap that the child sees as zeros, each from one 2 MiB border to another. They
    /// contain no objects.
    pub left_out: Vec<Range<u64>>,
    /// The reachable objects.
    pub marks: Marks,
    /// The values that are written.
    pub values: Values,
    /// Objects reached so far, for progress reports.
    pub reached: AtomicU64,
    /// Bytes of heap encoded so far, for progress reports.
    pub encoded_bytes: AtomicU64,
    /// Called by each thread between two pieces of work: it may let the thread rest.
    pub rest: Rest,
    /// Classes that have instances but are not linked, so that their fields are unknown.
    pub unlinked: Mutex<BTreeSet<ClassId>>,
    /// The class of virtual threads; `None` if this JDK has none.
    pub virtual_thread_class: Option<ClassId>,
    /// Virtual threads that the walk has marked.
    pub virtual_threads: Mutex<Vec<u64>>,
    /// The class of chunks of continuations' stacks; `None` if this JDK has none.
    pub stack_chunk_class: Option<ClassId>,
    /// Chunks that the walk has marked.
    pub stack_chunks: Mutex<Vec<u64>>,
}

/// What a thread does between two pieces of work.
pub struct Rest(pub Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rest")
    }
}

impl<M: Memory> Snapshot<M> {
    /// Counts objects that were reached.
    pub(crate) fn note_reached(&self, objects: u32) {
        self.reached.fetch_add(objects.into(), Ordering::Relaxed);
        (self.rest.0)();
    }

    /// Counts bytes of heap that were encoded.
    pub(crate) fn note_encoded(&self, heap_bytes: u64) {
        self.encoded_bytes.fetch_add(heap_bytes, Ordering::Relaxed);
        (self.rest.0)();
    }

    /// The object's class.
    #[inline(always)]
    pub fn class_of(&self, object: u64) -> Result<&Class, Failure> {
        // In an object that it has moved, the collector leaves the class word unchanged, but stores
        // the new address in the mark word. HotSpot's own walk (up to JDK 17) stores a bare 3 in
        // the mark word of the object that it is visiting.
        let mark = self.memory.u64(object);
        if mark & 3 == 3 && mark != 3 {
            return Err(Failure::Moving);
        }
        let word = self.layout.class_word(self.memory, object);
        match self.classes.get(word) {
            Some(class) => Ok(class),
            None => Err(self.unknown_class(object, word)),
        }
    }

    /// Checks that an object that was just read does not reach into a part that was left out.
    #[inline]
    pub fn check_is_here(&self, object: u64, bytes: u64) -> Result<(), Failure> {
        /// Shift of the borders between parts.
        const BORDER_SHIFT: u32 = 21;
        let last = object.saturating_add(bytes.saturating_sub(1));
        if object >> BORDER_SHIFT == last >> BORDER_SHIFT {
            // An object that starts in such a part has no class, so it has already failed.
            return Ok(());
        }
        let mut parts = self.left_out.iter();
        match parts.any(|part| part.start <= last && object < part.end) {
            true => Err(Failure::LeftOut(object)),
            false => Ok(()),
        }
    }

    /// Checks that an array ends within the heap, because a corrupt length could make us write
    /// gigabytes.
    #[inline]
    pub fn check_length(&self, array: u64, bytes: u64) -> Result<(), Failure> {
        if self
            .marks
            .spans(array.saturating_add(bytes.saturating_sub(1)))
        {
            Ok(())
        } else {
            Err(Failure::TooLong(array))
        }
    }

    /// Records a class that has instances but is not linked.
    pub fn note_unlinked(&self, class: ClassId) {
        locked(&self.unlinked).insert(class);
    }

    /// Records a virtual thread.
    pub fn note_virtual_thread(&self, thread: u64) {
        locked(&self.virtual_threads).push(thread);
    }

    /// Records a chunk of a continuation's stack.
    pub fn note_stack_chunk(&self, chunk: u64) {
        locked(&self.stack_chunks).push(chunk);
    }

    /// The chunks that were marked since the last call.
    pub fn take_stack_chunks(&self) -> Vec<u64> {
        std::mem::take(&mut *locked(&self.stack_chunks))
    }

    /// An error if classes with instances are not linked.
    pub fn check_linked(&self) -> Result<(), Failure> {
        let unlinked = locked(&self.unlinked);
        if unlinked.is_empty() {
            Ok(())
        } else {
            Err(Failure::Unlinked(unlinked.iter().copied().collect()))
        }
    }

    /// The failure to report for an object whose class word is not in the class map.
    #[cold]
    fn unknown_class(&self, object: u64, word: u64) -> Failure {
        let klass = self.layout.klasses.address(word);
        match self.mirror_of(klass) {
            None => Failure::NoClass(object),
            Some(0) => Failure::NoMirror,
            Some(_) => Failure::UnknownClass,
        }
    }

    /// The class with this `Klass`; `None` if there is none, or it is not in the class map.
    pub fn class_of_klass(&self, klass: u64) -> Option<ClassId> {
        self.classes.class_of_mirror(self.mirror_of(klass)?)
    }

    /// The mirror of the class with this `Klass`, 0 if it has none yet; `None` if no `Klass` is
    /// there.
    fn mirror_of(&self, klass: u64) -> Option<u64> {
        let place = klass.wrapping_add(self.layout.mirror_in_klass.offset);
        let is_klass = klass % 8 == 0 && self.mappings.is_readable(place);
        let slot = is_klass.then(|| self.memory.u64(place))?;
        let is_there = slot == 0 || self.mappings.is_readable(slot);
        is_there.then(|| self.layout.mirror_in_klass.load(self.memory, klass))
    }
}

/// A panic leaves nothing half done that these locks guard.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Shape;

    #[test]
    fn an_object_that_has_been_moved_ends_the_dump() {
        for (mark, moved) in [
            (1, false),
            (3, false),
            (7, true),
            (0x7F00_1003, true),
            (0x7F00_1002, false),
        ] {
            let words = [mark, 1];
            let snapshot = Snapshot::of_words(&words, vec![Shape::ObjectArray]);
            let class = snapshot
                .class_of(words.as_ptr() as u64)
                .map(|class| class.id.index());
            assert_eq!(
                class,
                if moved { Err(Failure::Moving) } else { Ok(0) },
                "mark {mark:#x}"
            );
        }
    }

    #[test]
    fn an_array_ends_in_the_heap() {
        let words = [0; 8];
        let snapshot = Snapshot::of_words(&words, Vec::new());
        let start = words.as_ptr() as u64;
        assert_eq!(snapshot.check_length(start + 32, 32), Ok(()));
        assert_eq!(
            snapshot.check_length(start + 32, 33),
            Err(Failure::TooLong(start + 32))
        );
        assert_eq!(
            snapshot.check_length(start, u64::MAX),
            Err(Failure::TooLong(start))
        );
    }

    #[test]
    fn what_lies_in_a_part_that_is_left_out_is_not_there() {
        const BORDER: u64 = 1 << 21;
        let words = [0; 2];
        let mut snapshot = Snapshot::of_words(&words, Vec::new());
        snapshot.left_out = vec![4 * BORDER..6 * BORDER, 9 * BORDER..10 * BORDER];
        let is_here = |object, bytes| snapshot.check_is_here(object, bytes);
        // Up to the border, and from it on.
        assert_eq!(is_here(4 * BORDER - 16, 16), Ok(()));
        assert_eq!(is_here(6 * BORDER, 3 * BORDER), Ok(()));
        for (object, bytes) in [
            (4 * BORDER - 16, 17),
            (3 * BORDER, 9 * BORDER),
            (6 * BORDER - 8, 16),
            (8, 10 * BORDER),
        ] {
            assert_eq!(
                is_here(object, bytes),
                Err(Failure::LeftOut(object)),
                "{object:#x}, {bytes:#x}"
            );
        }
    }

    #[test]
    fn a_class_word_that_no_class_has_is_told_by_what_it_leads_to() {
        // An object: mark and class word. Then a `Klass` whose second word is its mirror.
        let mut words = [1, 0, 0, 0_u64];
        let start = words.as_ptr() as u64;
        let (klass, end) = (start + 16, start + size_of_val(&words) as u64);
        let maps = format!("{start:x}-{end:x} rw-p 0 0 0");
        let mut failure = |class_word, mirror| {
            (words[1], words[3]) = (class_word, mirror);
            let mut snapshot = Snapshot::of_words(&words, Vec::new());
            snapshot.layout.mirror_in_klass.offset = 8;
            snapshot.mappings = Mappings::parse(maps.as_bytes());
            snapshot.class_of(start).map(|class| class.id)
        };
        assert_eq!(failure(klass, start), Err(Failure::UnknownClass));
        assert_eq!(failure(klass, 0), Err(Failure::NoMirror));
        for (class_word, mirror) in [(klass + 4, start), (end, start), (klass, end)] {
            let answer = failure(class_word, mirror);
            assert_eq!(answer, Err(Failure::NoClass(start)), "{class_word:#x}");
        }
    }
}
