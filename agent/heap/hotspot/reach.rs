//! Reach: marks every object that can be reached, over as many threads as there are.
//!
//! No recursion: references wait on a stack, large arrays are followed in slices, so that the stack stays small. A
//! short queue between stack and visit gives the processor time to fetch an object and its mark. What a field refers to that is declared
//! as an array of a primitive type is marked and not looked at: it refers to nothing, and each string has one.

use super::class_map::Shape;
use super::failure::Failure;
use super::snapshot::Snapshot;
use super::work::Work;
use std::sync::atomic::Ordering;
use tables::BasicType;

/// In a reference, whose highest bit is free, as programs have addresses below: nothing lies behind the object.
const LEAF: u64 = 1 << 63;
/// References under way from memory to the processor.
const AHEAD: usize = 16;
/// Elements of an array that are followed at a time.
const SLICE: u32 = 1024;
/// Objects between two looks at what others want.
const OBJECTS_BETWEEN_LOOKS: u32 = 256;
/// Least that is worth giving to another walker.
const LEAST_GIVEN: usize = 64;

/// One thread's part of the work.
#[derive(Debug)]
pub(super) struct Walker<'s> {
    snapshot: &'s Snapshot,
    work: &'s Work,
    stack: Vec<u64>,
    /// Arrays of references, and the first element that was not followed yet.
    arrays: Vec<(u64, u32)>,
    ahead: [u64; AHEAD],
    at: usize,
}

impl<'s> Walker<'s> {
    /// A walker that begins with what others give.
    pub(super) fn new(snapshot: &'s Snapshot, work: &'s Work) -> Self {
        Self {
            snapshot,
            work,
            stack: Vec::new(),
            arrays: Vec::new(),
            ahead: [0; AHEAD],
            at: 0,
        }
    }

    /// Walks until no walker has work; an error ends the walk for all.
    pub(super) fn run(mut self) -> Result<(), Failure> {
        let walked = self.walk();
        if walked.is_err() {
            self.work.end();
        }
        walked
    }

    fn walk(&mut self) -> Result<(), Failure> {
        let mut until_look = OBJECTS_BETWEEN_LOOKS;
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
            until_look -= 1;
            if until_look == 0 {
                until_look = OBJECTS_BETWEEN_LOOKS;
                if self.work.has_ended() {
                    break;
                }
                self.share();
            }
        }
        Ok(())
    }

    /// The next reference to follow; `None` when there is no more work for anybody.
    fn next(&mut self) -> Option<u64> {
        let snapshot = self.snapshot;
        loop {
            // At most once around the queue: if the stack is empty, the queue is emptied.
            for _ in 0..AHEAD {
                let entering = self.stack.pop().unwrap_or(0);
                if entering != 0 {
                    if entering & LEAF == 0 {
                        snapshot.memory.prefetch(entering);
                    }
                    snapshot.marks.prefetch(snapshot.memory, entering & !LEAF);
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
                if let Some((array, from)) = self.arrays.pop() {
                    self.follow_slice(array, from);
                } else {
                    self.stack = self.work.take()?;
                }
            }
        }
    }

    /// Gives the older half of the stack away, which leads to more than the younger one, if somebody wants it.
    fn share(&mut self) {
        let objects = u64::from(OBJECTS_BETWEEN_LOOKS);
        self.snapshot.reached.fetch_add(objects, Ordering::Relaxed);
        if self.work.wants() && self.stack.len() >= LEAST_GIVEN {
            let half = self.stack.len() / 2;
            self.work.give(self.stack.drain(..half).collect());
        }
    }

    fn visit(&mut self, object: u64) -> Result<(), Failure> {
        let snapshot = self.snapshot;
        let class = snapshot.class_of(object)?;
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
            Shape::ObjectArray => self.follow_slice(object, 0),
            Shape::PrimitiveArray(_) => {}
            Shape::Unknown => snapshot.note_unlinked(class.id),
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
    fn follow_slice(&mut self, array: u64, from: u32) {
        let (memory, layout) = (self.snapshot.memory, &self.snapshot.layout);
        let length = layout.length(memory, array);
        let to = length.min(from.saturating_add(SLICE));
        if to < length {
            self.arrays.push((array, to));
        }
        let start = array + layout.arrays.elements(BasicType::Object);
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
    }
}
