//! The bytes that a reader has read and its user has not yet taken: for copies of a file.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

#[derive(Debug, Default)]
struct Held {
    bytes: VecDeque<u8>,
    /// Offset of the first of these bytes.
    offset: u64,
}

/// Passes a file on to a reader, and keeps the bytes.
struct Passed<R> {
    from: R,
    held: Rc<RefCell<Held>>,
}

impl<R: Read> Read for Passed<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(to)?;
        let read = to.get(..count).unwrap_or_default();
        self.held.borrow_mut().bytes.extend(read);
        Ok(count)
    }
}

/// Holds the bytes of a file that were read and not yet taken.
#[derive(Debug)]
pub struct Tee(Rc<RefCell<Held>>);

impl Tee {
    /// Holds what is read from `from` through the returned reader.
    pub fn new<'r>(from: Box<dyn Read + 'r>) -> (Self, Box<dyn Read + 'r>) {
        let held = Rc::new(RefCell::default());
        (Self(Rc::clone(&held)), Box::new(Passed { from, held }))
    }

    /// Offset of the next byte to take.
    pub fn offset(&self) -> u64 {
        self.0.borrow().offset
    }

    /// Appends the bytes before this offset to `to`, as far as they were read.
    pub fn take_to(&self, offset: u64, to: &mut Vec<u8>) {
        let mut held = self.0.borrow_mut();
        let count = usize::try_from(offset.saturating_sub(held.offset)).unwrap_or(usize::MAX);
        let count = count.min(held.bytes.len());
        let (first, second) = held.bytes.as_slices();
        let (here, there) = (count.min(first.len()), count.saturating_sub(first.len()));
        to.extend_from_slice(first.get(..here).unwrap_or_default());
        to.extend_from_slice(second.get(..there).unwrap_or_default());
        held.bytes.drain(..count);
        held.offset += count as u64;
    }
}
