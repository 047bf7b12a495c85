//! Reach: marks every object that can be reached, over as many threads as there are, and does with each what else is wanted.
//!
//! No recursion: references wait on a stack, large arrays are followed in slices, so that the stack stays small. A
//! short queue between stack and visit gives the processor time to fetch an object and its mark. What a field refers to that is declared
//! as an array of a primitive type is marked and not looked at: it refers to nothing, and each string has one.

use crate::classes::{Class, Shape};
use crate::memory::{prefetch, Memory, ProcessMemory};
use crate::walk::{Batch, Slice, Work};
use crate::{Failure, Snapshot};
use format::BasicType;
use std::sync::atomic::Ordering;

/// In a reference, whose highest bit is free, as programs have addresses below: nothing lies behind the object.
const LEAF: u64 = 1 << 63;
/// References under way from memory to the processor.
const AHEAD: usize = 16;
/// Elements of an array that are followed at a time.
const SLICE: u32 = 1024;
/// Objects between two looks at what others want; after a slice of an array, and what took long, there is one, too.
const OBJECTS_BETWEEN_LOOKS: u32 = 256;
/// References that are worth giving to another walker: each may lead to a large array.
const LEAST_GIVEN: usize = 8;

/// What is done with objects when the walk comes to them, beside marking them.
pub trait OnObject {
    /// The walk has come to an object of this class, for the first time. Tells whether it took long, so that others may have waited
    /// for work meanwhile. An error ends the walk for all.
    ///
    /// Not told of are arrays of a primitive type that a field refers to which is declared as such.
    fn object(&mut self, class: &Class, address: u64) -> Result<bool, Failure>;
}

/// Marks are all that is wanted.
#[derive(Debug)]
pub struct MarkOnly;

impl OnObject for MarkOnly {
    #[inline]
    fn object(&mut self, _: &Class, _: u64) -> Result<bool, Failure> {
        Ok(false)
    }
}

/// One thread's part of the work.
#[derive(Debug)]
pub struct Walker<'s, O, M = ProcessMemory> {
    snapshot: &'s Snapshot<M>,
    on_object: O,
    work: &'s Work,
    stack: Vec<u64>,
    /// What is left of large arrays.
    slices: Vec<Slice>,
    ahead: [u64; AHEAD],
    at: usize,
    /// Objects since the last look at what others want.
    since_look: u32,
    /// Another walker has met an error.
    has_ended: bool,
}

impl<'s, O: OnObject, M: Memory> Walker<'s, O, M> {
    /// A walker that begins with what others give.
    pub fn new(snapshot: &'s Snapshot<M>, work: &'s Work, on_object: O) -> Self {
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

    /// Walks until no walker has work, and gives back what was done with the objects; an error ends the walk for all.
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

    /// The next reference to follow; `None` when there is no more work for anybody, or the walk was ended.
    fn next(&mut self) -> Option<u64> {
        let snapshot = self.snapshot;
        while !self.has_ended {
            // At most once around the queue: if the stack is empty, the queue is emptied.
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

    /// Looks whether the walk was ended, and gives a part of its work away if somebody wants it: of the array that it came to first,
    /// or the stack's older half, which lead to more than what is younger.
    fn share(&mut self) {
        let objects = std::mem::take(&mut self.since_look);
        let reached = &self.snapshot.reached;
        reached.fetch_add(u64::from(objects), Ordering::Relaxed);
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
                // What a mirror refers to is where the walk began.
                if class.is_class_class && snapshot.classes.class_of_mirror(object).is_some() {
                    return Ok(());
                }
                if Some(class.id) == snapshot.virtual_thread_class {
                    snapshot.note_virtual_thread(object);
                }
                self.push(object, references, 0);
                self.push(object, primitive_arrays, LEAF);
            }
            Shape::ObjectArray => self.follow(Slice {
                array: object,
                from: 0,
                to: snapshot.layout.length(snapshot.memory, object),
            }),
            Shape::PrimitiveArray(_) => {}
            Shape::Unknown => snapshot.note_unlinked(class.id),
        }
        if took_long {
            self.share();
        }
        Ok(())
    }

    /// Puts what these fields refer to on the stack.
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

    /// Puts some elements of an array on the stack, and the rest of it off.
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
            // Arrays are often filled with one and the same object, or with null.
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

    /// Mark, class, length and so many elements.
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
        let work = Work::new(1, vec![Batch::References(vec![start])]);
        let ends = Ends {
            work: &work,
            objects: 0,
        };
        let ends = Walker::new(&snapshot, &work, ends).run().expect("no error");
        assert!(ends.objects < 10, "{} objects", ends.objects);
    }

    /// Counts the objects that it is told of.
    struct Counts(usize);

    impl OnObject for Counts {
        fn object(&mut self, _: &Class, _: u64) -> Result<bool, Failure> {
            self.0 += 1;
            Ok(false)
        }
    }

    /// Objects of the first class have a reference behind the header, then one that is declared as an array of a primitive type;
    /// those of the second are such arrays.
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

    /// Walks from the first object; tells how many objects it was told of.
    fn walk(snapshot: &Snapshot<impl Memory>, first: u64) -> Result<usize, Failure> {
        let work = Work::new(1, vec![Batch::References(vec![first])]);
        let counts = Walker::new(snapshot, &work, Counts(0)).run()?;
        Ok(counts.0)
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
