//! A ring for samples. Signal handlers, which may neither wait nor allocate, write; one thread at a
//! time reads.
//!
//! Each cell has a turn, a number that says who owns it: at turn `n` the writer with number `n`, at
//! `n + 1` a reader, at `n + capacity` the next writer (D. Vyukov's bounded queue). A handler that
//! is interrupted delays readers, but never other handlers.

use crate::call_trace::{CallFrame, StackFault};
use jvm::method::MethodId;
use jvm::stack::StackFrame;
use parking_lot::Mutex;
use std::cell::UnsafeCell;
use std::cmp::Ordering::{Equal, Greater, Less};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use tables::ThreadId;

/// A sample of a running thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawSample {
    /// The thread's number, if threads have numbers.
    pub thread: Option<ThreadId>,
    /// Number of CPU time periods that it stands for, from 1.
    pub periods: u32,
    /// The stack of Java frames, the top first and never empty, or the reason why there is none.
    pub stack: Result<Vec<StackFrame>, StackFault>,
}

/// The numbers of one sample; its frames are in [`SampleRing::frames`].
#[derive(Debug)]
struct Cell {
    turn: AtomicU64,
    thread: AtomicU32,
    periods: AtomicU32,
    count: AtomicI32,
}

/// Samples waiting to be read: a bounded number of bounded stacks. All memory is allocated at the
/// start.
#[derive(Debug)]
pub(super) struct SampleRing {
    cells: Box<[Cell]>,
    frames: Box<[UnsafeCell<CallFrame>]>,
    depth_frames: usize,
    /// Number of the next sample to write.
    next: AtomicU64,
    /// Number of the next sample to read.
    oldest: Mutex<u64>,
    /// Periods lost because the ring was full.
    lost: AtomicU64,
}

// SAFETY: only the owner of the turn touches frames; all other fields are atomic or locked. The
// method ids in frames are keys, which any thread may have.
unsafe impl Send for SampleRing {}
// SAFETY: only the owner of the turn touches frames; all other fields are atomic or locked. The
// method ids in frames are keys, which any thread may have.
unsafe impl Sync for SampleRing {}

/// A cell that belongs to its writer until it is [published](Self::publish).
#[derive(Debug)]
pub(super) struct Reserved<'r> {
    cell: &'r Cell,
    frames: *mut CallFrame,
    number: u64,
}

impl SampleRing {
    /// A ring for `capacity` samples (a power of two) of `depth_frames` frames each.
    pub(super) fn new(capacity: usize, depth_frames: usize) -> Self {
        let capacity = capacity.next_power_of_two();
        let cell = |number| Cell {
            turn: AtomicU64::new(number),
            thread: AtomicU32::new(0),
            periods: AtomicU32::new(0),
            count: AtomicI32::new(0),
        };
        let frame = || {
            UnsafeCell::new(CallFrame {
                location: 0,
                method: null_mut(),
            })
        };
        Self {
            cells: (0..capacity as u64).map(cell).collect(),
            frames: std::iter::repeat_with(frame)
                .take(capacity * depth_frames)
                .collect(),
            depth_frames,
            next: AtomicU64::new(0),
            oldest: Mutex::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Reserves a cell for writing; `None` if the ring is full, and then `periods` count as lost.
    /// Async-signal-safe.
    pub(super) fn reserve(&self, periods: u32) -> Option<Reserved<'_>> {
        let mut number = self.next.load(Ordering::Relaxed);
        loop {
            let (index, cell) = self.cell(number)?;
            let turn = cell.turn.load(Ordering::Acquire);
            match turn.cmp(&number) {
                Less => {
                    self.lost.fetch_add(u64::from(periods), Ordering::Relaxed);
                    return None;
                }
                Greater => number = self.next.load(Ordering::Relaxed),
                Equal => {
                    let taken = self.next.compare_exchange_weak(
                        number,
                        number.wrapping_add(1),
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    match taken {
                        Ok(_) => {
                            let first = index.wrapping_mul(self.depth_frames);
                            let frames = self.frames.get(first..)?.as_ptr();
                            return Some(Reserved {
                                cell,
                                frames: UnsafeCell::raw_get(frames),
                                number,
                            });
                        }
                        Err(now) => number = now,
                    }
                }
            }
        }
    }

    /// Whether a sample is ready to be read.
    pub(super) fn has_samples(&self) -> bool {
        let oldest = self.oldest.lock();
        let cell = self.cell(*oldest);
        cell.is_some_and(|(_, cell)| cell.turn.load(Ordering::Acquire) == oldest.wrapping_add(1))
    }

    /// Takes out the oldest sample; `None` if there is none, or if its writer has not finished.
    pub(super) fn take(&self) -> Option<RawSample> {
        let mut oldest = self.oldest.lock();
        let (index, cell) = self.cell(*oldest)?;
        if cell.turn.load(Ordering::Acquire) != oldest.wrapping_add(1) {
            return None;
        }
        let sample = RawSample {
            thread: ThreadId::new(cell.thread.load(Ordering::Relaxed)),
            periods: cell.periods.load(Ordering::Relaxed),
            stack: self.stack(index, cell.count.load(Ordering::Relaxed)),
        };
        let next_turn = oldest.wrapping_add(self.cells.len() as u64);
        cell.turn.store(next_turn, Ordering::Release);
        *oldest = oldest.wrapping_add(1);
        Some(sample)
    }

    /// Takes the number of lost periods.
    pub(super) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    fn cell(&self, number: u64) -> Option<(usize, &Cell)> {
        // The length is a power of two, so the mask keeps the bits that distinguish cells.
        #[allow(clippy::cast_possible_truncation)]
        let index = number as usize & self.cells.len().wrapping_sub(1);
        Some((index, self.cells.get(index)?))
    }

    /// Copies the frames of the cell at `index`. It must be the reader's turn.
    fn stack(&self, index: usize, count: i32) -> Result<Vec<StackFrame>, StackFault> {
        let fault = StackFault::of_count(count.min(0));
        let count = usize::try_from(count).unwrap_or(0).min(self.depth_frames);
        let first = index * self.depth_frames;
        let cells = self.frames.get(first..first + count).unwrap_or_default();
        if cells.is_empty() {
            return Err(fault);
        }
        let frame = |cell: &UnsafeCell<CallFrame>| {
            // SAFETY: it is the reader's turn, and the caller holds the lock, so there is only one
            // reader.
            let frame = unsafe { *cell.get() };
            Some(StackFrame {
                method: MethodId::from_raw(frame.method)?,
                location: i64::from(frame.location).max(-1),
            })
        };
        // Without its top frame, the sample would count for a method that does not run. Further
        // down, a method without an id is one that HotSpot generates to call method handles. Such
        // methods belong to no class and never have ids.
        cells.first().and_then(frame).ok_or(StackFault::UNNAMED)?;
        Ok(cells.iter().filter_map(frame).collect())
    }
}

impl Reserved<'_> {
    /// The frames of this cell, for this writer only, with the capacity for which the ring was
    /// made.
    pub(super) fn frames(&mut self) -> *mut CallFrame {
        self.frames
    }

    /// Passes the cell to readers. `count` is the number of frames written, or the reason why there
    /// are none. Async-signal-safe.
    pub(super) fn publish(self, thread: u32, periods: u32, count: i32) {
        self.cell.thread.store(thread, Ordering::Relaxed);
        self.cell.periods.store(periods, Ordering::Relaxed);
        self.cell.count.store(count, Ordering::Relaxed);
        let readers_turn = self.number.wrapping_add(1);
        self.cell.turn.store(readers_turn, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Writes a sample with the method `key` in every frame.
    fn put(ring: &SampleRing, thread: u32, key: usize, count: u8) -> bool {
        let Some(mut cell) = ring.reserve(1) else {
            return false;
        };
        for index in 0..count {
            let frame = CallFrame {
                location: i32::from(index),
                method: key as *mut _,
            };
            // SAFETY: within the reserved cell.
            unsafe { cell.frames().add(index.into()).write(frame) };
        }
        cell.publish(thread, 1, count.into());
        true
    }

    #[test]
    fn samples_come_out_as_they_went_in() {
        let ring = SampleRing::new(4, 2);
        assert_eq!(ring.take(), None);
        assert!(put(&ring, 7, 0x10, 2) && put(&ring, 0, 0x20, 1));
        assert!(ring.has_samples());
        let first = ring.take().unwrap();
        assert_eq!(first.thread, ThreadId::new(7));
        let locations: Vec<i64> = first.stack.unwrap().iter().map(|at| at.location).collect();
        assert_eq!(locations, [0, 1]);
        assert_eq!(ring.take().unwrap().stack.unwrap().len(), 1);
        assert!(!ring.has_samples());
    }

    #[test]
    fn a_full_ring_counts_what_it_cannot_take() {
        let ring = SampleRing::new(2, 1);
        assert!(put(&ring, 0, 1, 1) && put(&ring, 0, 1, 1));
        assert!(!put(&ring, 0, 1, 1));
        assert!(ring.reserve(5).is_none());
        assert_eq!((ring.take_lost(), ring.take_lost()), (6, 0));
        assert!(ring.take().is_some() && put(&ring, 0, 1, 1));
    }

    #[test]
    fn who_reads_waits_for_the_slowest_writer() {
        let ring = SampleRing::new(4, 1);
        let slow = ring.reserve(1).unwrap();
        assert!(put(&ring, 0, 1, 1));
        assert_eq!(ring.take(), None);
        slow.publish(0, 1, -5);
        assert_eq!(ring.take().unwrap().stack, Err(StackFault::of_count(-5)));
        assert!(ring.take().is_some());
    }

    #[test]
    fn only_a_top_without_a_method_spoils_the_sample() {
        let ring = SampleRing::new(2, 3);
        assert!(put(&ring, 0, 0, 2) && put(&ring, 0, 1, 3));
        assert_eq!(ring.take().unwrap().stack, Err(StackFault::UNNAMED));
        // SAFETY: the second cell's second frame; no other thread accesses it.
        unsafe { (*ring.frames[4].get()).method = null_mut() };
        assert_eq!(ring.take().unwrap().stack.unwrap().len(), 2);
    }

    #[test]
    fn many_writers_never_mix_their_frames() {
        const WRITERS: u32 = 4;
        const EACH: usize = 20_000;
        let ring = SampleRing::new(64, 3);
        let done = AtomicBool::new(false);
        let mut read = 0;
        std::thread::scope(|scope| {
            let writers: Vec<_> = (1..=WRITERS)
                .map(|key| {
                    let ring = &ring;
                    let write = move |_: &usize| put(ring, key, key as usize, 3);
                    scope.spawn(move || (0..EACH).filter(write).count())
                })
                .collect();
            let (ring, done) = (&ring, &done);
            let reader = scope.spawn(move || {
                let mut read = 0;
                loop {
                    let last = done.load(Ordering::Acquire);
                    while let Some(sample) = ring.take() {
                        let key = sample.thread.unwrap().get() as usize;
                        let stack = sample.stack.unwrap();
                        assert!(stack.iter().all(|at| at.method == MethodId::for_test(key)));
                        read += 1;
                    }
                    if last {
                        return read;
                    }
                    std::thread::yield_now();
                }
            });
            let written: usize = writers.into_iter().map(|it| it.join().unwrap()).sum();
            done.store(true, Ordering::Release);
            read += reader.join().unwrap();
            assert_eq!(read, written);
        });
        assert_eq!(
            read as u64 + ring.take_lost(),
            u64::from(WRITERS) * EACH as u64
        );
    }
}
