//! Marks every reachable object, on several threads, and calls [`OnObject`] for the objects that it
//! visits.
//!
//! Each walker repeats these steps, without recursion:
//!
//! 1. Pop a reference from the stack, prefetch its object and its mark, and put it into a queue of
//!    16. Take the oldest reference from the queue, whose object is in the cache by now.
//! 2. Mark its object. If it was marked already, start over.
//! 3. Visit the object, and push its references. A large array is followed in slices, so that the
//!    stack stays small.
//! 4. At intervals, give a part of the work to a walker that has none.
//!
//! When stack and queue are empty, the walker follows the next slice, otherwise it waits for work
//! from others.
//!
//! An object reached through a field declared as a primitive array is a leaf: it is marked but not
//! visited, because it refers to nothing. Every string has one.

use crate::classes::{Class, Shape};
use crate::memory::{prefetch, Memory, ProcessMemory};
use crate::walk::{Batch, Slice, Work};
use crate::{Failure, Snapshot};
use format::BasicType;

/// Flags a reference as a leaf. The highest bit is free because user-space addresses lie below it.
const LEAF: u64 = 1 << 63;
/// References in the prefetch queue.
const AHEAD: usize = 16;
/// Elements of an array that are followed in one step.
const SLICE: u32 = 1024;
/// Objects between two checks whether others need work. There is also a check after each slice of
/// an array, and after each call that took long.
const OBJECTS_BETWEEN_LOOKS: u32 = 256;
/// Fewest references that are worth giving away. Eight is low, because each may lead to a large
/// array.
const LEAST_GIVEN: usize = 8;

/// Called for each object that the walk visits, after it is marked.
pub trait OnObject {
    /// Called when the walk visits an object of this class for the first time. Returns whether the
    /// call took long, so that others may be waiting for work. An error ends the walk of all
    /// walkers.
    ///
    /// Not called for a primitive array reached through a field declared with that array type: such
    /// arrays are marked but not visited.
    fn object(&mut self, class: &Class, address: u64) -> Result<bool, Failure>;
}

/// Does nothing, for walks that only need marks.
#[derive(Debug)]
pub struct MarkOnly;

impl OnObject for MarkOnly {
    #[inline]
    fn object(&mut self, _: &Class, _: u64) -> Result<bool, Failure> {
        Ok(false)
    }
}

/// One thread's share of the walk.
#[derive(Debug)]
pub struct Walker<'s, O, M = ProcessMemory> {
    snapshot: &'s Snapshot<M>,
    on_object: O,
    work: &'s Work,
    stack: Vec<u64>,
    /// The unfinished rest of large arrays.
    slices: Vec<Slice>,
    ahead: [u64; AHEAD],
    at: usize,
    /// Objects since the last call of `share`.
    since_look: u32,
    /// Set when the walk has ended because a walker failed.
    has_ended: bool,
}

impl<'s, O: OnObject, M: Memory> Walker<'s, O, M> {
    /// A walker without work of its own: it starts by taking some from `work`.
    pub fn new(snapshot: &'s Snapshot<M>, work: &'s Work, on_object: O) -> Self {
        work.join();
        Self {
            snapshot,
            on_object,
            work,
            stack: Vec::new(),
            slices: Vec::new(),
            ahead: [0; AHEAD],
            at: 0,
            since_look: 0,
            has_ended: false,
        }
    }

    /// Walks until no walker has work, and returns `on_object`. An error ends the walk of all
    /// walkers.
    pub fn run(mut self) -> Result<O, Failure> {
        let walked = self.walk();
        if walked.is_err() {
            self.work.end();
        }
        walked.map(|()| self.on_object)
    }

    fn walk(&mut self) -> Result<(), Failure> {
        while let Some(reference) = self.next() {
            let object = reference & !LEAF;
            if !self.snapshot.marks.mark(object) {
                if !self.snapshot.marks.covers(object) {
                    return Err(Failure::OutsideOfHeap(object));
                }
                continue;
            }
            if reference & LEAF == 0 {
                self.visit(object)?;
            }
            self.since_look += 1;
            if self.since_look >= OBJECTS_BETWEEN_LOOKS {
                self.share();
            }
        }
        Ok(())
    }

    /// The next reference to follow; `None` when no walker has work left, or when the walk was
    /// ended.
    fn next(&mut self) -> Option<u64> {
        let snapshot = self.snapshot;
        while !self.has_ended {
            // At most one round of the queue: if the stack is empty, this drains the queue.
            for _ in 0..AHEAD {
                let entering = self.stack.pop().unwrap_or(0);
                if entering != 0 {
                    if entering & LEAF == 0 {
                        prefetch(entering);
                    }
                    snapshot.marks.prefetch(entering & !LEAF);
                }
                let leaving = match self.ahead.get_mut(self.at) {
                    Some(place) => std::mem::replace(place, entering),
                    None => entering,
                };
                self.at = (self.at + 1) % AHEAD;
                if leaving != 0 {
                    return Some(leaving);
                }
            }
            if self.stack.is_empty() && self.ahead.iter().all(|&waiting| waiting == 0) {
                if let Some(slice) = self.slices.pop() {
                    self.follow(slice);
                } else {
                    match self.work.take()? {
                        Batch::References(references) => self.stack = references,
                        Batch::Elements(slice) => self.follow(slice),
                    }
                }
            }
        }
        None
    }

    /// Checks whether the walk was ended, and gives work away if another walker wants some: half of
    /// the oldest unfinished array, or the older half of the stack, because older references lead
    /// to more objects.
    fn share(&mut self) {
        let objects = std::mem::take(&mut self.since_look);
        self.snapshot.note_reached(objects);
        self.has_ended = self.work.has_ended();
        if !self.work.wants() {
            return;
        }
        let half = self.slices.first_mut().map(|slice| slice.split_off(SLICE));
        if let Some(Some(half)) = half {
            self.work.give(Batch::Elements(half));
        } else if self.slices.len() > 1 {
            let whole = self.slices.swap_remove(0);
            self.work.give(Batch::Elements(whole));
        } else if self.stack.len() >= LEAST_GIVEN {
            let half = self.stack.drain(..self.stack.len() / 2).collect();
            self.work.give(Batch::References(half));
        }
    }

    fn visit(&mut self, object: u64) -> Result<(), Failure> {
        let snapshot = self.snapshot;
        let class = snapshot.class_of(object)?;
        let took_long = self.on_object.object(class, object)?;
        match &class.shape {
            Shape::Instance {
                references,
                primitive_arrays,
                ..
            } => {
                snapshot.decide(class, object);
                // The walk has already started from everything that mirrors refer to.
                if class.is_class_class && snapshot.classes.class_of_mirror(object).is_some() {
                    return Ok(());
                }
                if Some(class.id) == snapshot.virtual_thread_class {
                    snapshot.note_virtual_thread(object);
                }
                if Some(class.id) == snapshot.stack_chunk_class {
                    snapshot.note_stack_chunk(object);
                }
                self.push(object, references, 0);
                self.push(object, primitive_arrays, LEAF);
            }
            Shape::ObjectArray => {
                let length = snapshot.layout.length(snapshot.memory, object);
                let elements = u64::from(length) * snapshot.layout.oops.width_bytes();
                let header = snapshot.layout.arrays.elements(BasicType::Object);
                snapshot.check_length(object, header + elements)?;
                self.follow(Slice {
                    array: object,
                    from: 0,
                    to: length,
                });
            }
            Shape::PrimitiveArray(_) => {}
            Shape::Unknown => snapshot.note_unlinked(class.id),
        }
        if took_long {
            self.share();
        }
        Ok(())
    }

    /// Pushes the targets of these fields, flagged with `leaf`.
    #[inline]
    fn push(&mut self, object: u64, offsets: &[u32], leaf: u64) {
        let oops = self.snapshot.layout.oops;
        for &offset in offsets {
            let target = oops.load(self.snapshot.memory, object + u64::from(offset));
            if target != 0 {
                self.stack.push(target | leaf);
            }
        }
    }

    /// Pushes the elements of one slice, and keeps the rest of the array for later.
    fn follow(&mut self, slice: Slice) {
        let (memory, layout) = (self.snapshot.memory, &self.snapshot.layout);
        let from = slice.from;
        let to = slice.to.min(from.saturating_add(SLICE));
        if to < slice.to {
            self.slices.push(Slice { from: to, ..slice });
        }
        let start = slice.array + layout.arrays.elements(BasicType::Object);
        let width = layout.oops.width_bytes();
        let mut before = 0;
        for index in from..to {
            let element = layout.oops.load(memory, start + u64::from(index) * width);
            // Arrays are often filled with one object, or with null.
            if element != before && element != 0 {
                self.stack.push(element);
            }
            before = element;
        }
        if to - from == SLICE {
            self.share();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends the walk at the first object.
    struct Ends<'w> {
        work: &'w Work,
        objects: usize,
    }

    impl OnObject for Ends<'_> {
        fn object(&mut self, _: &Class, _: u64) -> Result<bool, Failure> {
            self.work.end();
            self.objects += 1;
            Ok(false)
        }
    }

    /// The words of an array: mark, class, length, elements.
    fn array(elements: &[u64]) -> Vec<u64> {
        [&[1, 1, elements.len() as u64], elements].concat()
    }

    #[test]
    fn a_walk_that_was_ended_does_not_go_on_from_array_to_array() {
        let small = array(&[0; 2 * SLICE as usize]);
        let mut words = vec![0; 103];
        (0..100).for_each(|_| words.extend(&small));
        let start = words.as_ptr() as u64;
        let at = |number| start + (103 + number * small.len() as u64) * 8;
        let all: Vec<u64> = (0..100).map(at).collect();
        words[..103].copy_from_slice(&array(&all));
        let snapshot = Snapshot::of_words(&words, vec![Shape::ObjectArray]);
        let work = Work::new(vec![Batch::References(vec![start])]);
        let ends = Ends {
            work: &work,
            objects: 0,
        };
        let ends = Walker::new(&snapshot, &work, ends).run().expect("no error");
        assert!(ends.objects < 10, "{} objects", ends.objects);
    }

    /// Counts its calls.
    struct Counts(usize);

    impl OnObject for Counts {
        fn object(&mut self, _: &Class, _: u64) -> Result<bool, Failure> {
            self.0 += 1;
            Ok(false)
        }
    }

    /// Objects of the first class have a reference after the header, then a field declared as a
    /// primitive array. Objects of the second class are such arrays.
    fn shapes() -> Vec<Shape> {
        let instance = Shape::Instance {
            fields: Vec::new(),
            data_bytes: 16,
            references: vec![16],
            primitive_arrays: vec![24],
            heap_bytes: 32,
        };
        vec![
            instance,
            Shape::PrimitiveArray(BasicType::Long),
            Shape::Unknown,
        ]
    }

    /// Walks from the first object and returns the number of calls of `OnObject`.
    fn walk(snapshot: &Snapshot<impl Memory>, first: u64) -> Result<usize, Failure> {
        let work = Work::new(vec![Batch::References(vec![first])]);
        let counts = Walker::new(snapshot, &work, Counts(0)).run()?;
        Ok(counts.0)
    }

    #[test]
    fn objects_are_counted_while_the_walk_goes_on() {
        const OBJECTS: usize = 3 * OBJECTS_BETWEEN_LOOKS as usize;
        let mut words = vec![0; 3 * OBJECTS];
        let start = words.as_ptr() as u64;
        for (number, object) in words.chunks_exact_mut(3).enumerate() {
            let next = start + (number as u64 + 1) * 24;
            object.copy_from_slice(&[1, 1, next]);
        }
        words[3 * OBJECTS - 1] = 0;
        let instance = Shape::Instance {
            fields: Vec::new(),
            data_bytes: 8,
            references: vec![16],
            primitive_arrays: Vec::new(),
            heap_bytes: 24,
        };
        let snapshot = Snapshot::of_words(&words, vec![instance]);
        assert_eq!(walk(&snapshot, start), Ok(OBJECTS));
        // The rest is counted when the walk ends.
        let counted = snapshot.reached.load(std::sync::atomic::Ordering::Relaxed);
        assert!(counted > OBJECTS as u64 / 2, "{counted}");
    }

    fn marked(snapshot: &Snapshot<impl Memory>, start: u64) -> Vec<u64> {
        let marked = snapshot.marks.part(0).into_iter().flatten();
        marked.map(|address| (address - start) / 8).collect()
    }

    #[test]
    fn an_array_that_is_declared_as_one_is_marked_and_not_visited() {
        let mut words = [1, 1, 0, 0, 1, 2, 1, 0xFEED_u64];
        let start = words.as_ptr() as u64;
        (words[2], words[3]) = (start, start + 32);
        let snapshot = Snapshot::of_words(&words, shapes());
        assert_eq!(walk(&snapshot, start), Ok(1));
        assert_eq!(marked(&snapshot, start), [0, 4]);
    }

    #[test]
    fn a_reference_out_of_the_heap_ends_the_walk() {
        for distance in [32, 40, 4, 1 << 40] {
            let mut words = [1, 1, 0, 0_u64];
            let start = words.as_ptr() as u64;
            words[2] = start + distance;
            let snapshot = Snapshot::of_words(&words, shapes());
            let answer = walk(&snapshot, start);
            assert_eq!(answer, Err(Failure::OutsideOfHeap(start + distance)));
        }
    }

    #[test]
    fn an_array_of_references_ends_in_the_heap() {
        for (length, answer) in [(3, Ok(1)), (4, Err(())), (u64::from(u32::MAX), Err(()))] {
            let words = [1, 1, length, 0, 0, 0];
            let start = words.as_ptr() as u64;
            let snapshot = Snapshot::of_words(&words, vec![Shape::ObjectArray]);
            let expected = answer.map_err(|()| Failure::TooLong(start));
            assert_eq!(walk(&snapshot, start), expected, "length {length}");
        }
    }

    #[test]
    fn what_dumps_must_know_of_objects_is_noted() {
        let mut words = [1, 1, 0, 0, 1, 3_u64];
        let start = words.as_ptr() as u64;
        words[2] = start + 32;
        let mut snapshot = Snapshot::of_words(&words, shapes());
        let class = |index| tables::ClassId::from_index(index).expect("an id");
        snapshot.virtual_thread_class = Some(class(0));
        assert_eq!(snapshot.check_linked(), Ok(()));
        assert_eq!(walk(&snapshot, start), Ok(2));
        assert_eq!(*snapshot.virtual_threads.lock().expect("no panic"), [start]);
        assert_eq!(
            snapshot.check_linked(),
            Err(Failure::Unlinked(vec![class(2)]))
        );
    }

    #[test]
    fn what_a_mirror_refers_to_is_not_followed_as_its_class_tells_it() {
        let mut words = [1, 1, 0, 0, 1, 2, 0_u64];
        let start = words.as_ptr() as u64;
        words[2] = start + 32;
        let class = |index| tables::ClassId::from_index(index).expect("an id");
        for (mirror, expected) in [(start, &[0][..]), (start + 8, &[0, 4])] {
            let mut snapshot = Snapshot::of_words(&words, shapes());
            snapshot.classes = crate::classes::ClassMap::of_shapes(shapes()).with_mirror(
                class(0),
                mirror,
                class(1),
            );
            assert!(walk(&snapshot, start).is_ok());
            assert_eq!(marked(&snapshot, start), expected);
        }
    }
}
