//! References that no walker has followed yet, shared when a walker has no more.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Elements of an object array that no walker has followed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The array.
    pub array: u64,
    /// Index of the first element.
    pub from: u32,
    /// Index after the last element.
    pub to: u32,
}

impl Slice {
    /// Splits off the second half; `None` if it would have fewer than `least` elements.
    pub fn split_off(&mut self, least: u32) -> Option<Self> {
        let half = (self.to - self.from) / 2;
        if half < least {
            return None;
        }
        let middle = self.to - half;
        let second = Self {
            from: middle,
            ..*self
        };
        self.to = middle;
        Some(second)
    }
}

/// A part of a walker's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// References to follow.
    References(Vec<u64>),
    /// A part of an array.
    Elements(Slice),
}

/// The work that walkers share. A walker with plenty of work gives some away when another
/// [wants](Work::wants) it.
#[derive(Debug)]
pub struct Work {
    state: Mutex<State>,
    changed: Condvar,
    /// Number of waiting walkers; a hint that is read without the lock.
    hungry: AtomicUsize,
    /// Set when no walker has work left. Written under the lock, so that no waiting walker misses
    /// it; read without the lock.
    ended: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    batches: Vec<Batch>,
    walkers: usize,
    waiting: usize,
}

impl Work {
    /// Work for the walkers that will join.
    pub fn new(first: Vec<Batch>) -> Self {
        Self {
            state: Mutex::new(State {
                batches: first,
                ..State::default()
            }),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        }
    }

    /// One more walker will take work, until none is left.
    pub fn join(&self) {
        self.lock().walkers += 1;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A walker that panicked ends the whole walk, so the state that it left does not matter.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another walker waits for work.
    #[inline]
    pub fn wants(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    /// Whether the walk has ended, so that further work is useless.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Gives a part of the caller's work to others.
    pub fn give(&self, batch: Batch) {
        self.lock().batches.push(batch);
        self.changed.notify_one();
    }

    /// Waits for work; `None` when all walkers wait, so that none is left, and after [`Work::end`].
    pub fn take(&self) -> Option<Batch> {
        let mut state = self.lock();
        state.waiting += 1;
        self.hungry.fetch_add(1, Ordering::Relaxed);
        let taken = loop {
            if self.has_ended() {
                break None;
            }
            if let Some(batch) = state.batches.pop() {
                state.waiting -= 1;
                break Some(batch);
            }
            if state.waiting == state.walkers {
                self.ended.store(true, Ordering::Relaxed);
                self.changed.notify_all();
                break None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        };
        self.hungry.fetch_sub(1, Ordering::Relaxed);
        taken
    }

    /// Ends the walk of all walkers, because one of them failed.
    pub fn end(&self) {
        let _state = self.lock();
        self.ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_all_is_done() {
        // Each number yields two that are smaller by one, down to 0: as many as a binary tree has
        // nodes.
        let work = Work::new(vec![Batch::References(vec![12])]);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    work.join();
                    while let Some(Batch::References(mut stack)) = work.take() {
                        while let Some(number) = stack.pop() {
                            done.fetch_add(1, Ordering::Relaxed);
                            if number > 0 {
                                stack.push(number - 1);
                                stack.push(number - 1);
                            }
                            if work.wants() && stack.len() > 1 {
                                work.give(Batch::References(vec![stack.remove(0)]));
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), (1 << 13) - 1);
    }

    #[test]
    fn a_slice_is_halved_while_it_is_worth_it() {
        let mut slice = Slice {
            array: 8,
            from: 10,
            to: 31,
        };
        let second = slice.split_off(10).expect("ten elements");
        assert_eq!((slice.from, slice.to, slice.array), (10, 21, 8));
        assert_eq!((second.from, second.to, second.array), (21, 31, 8));
        assert_eq!(slice.split_off(6), None);
        assert_eq!((slice.from, slice.to), (10, 21));
    }

    #[test]
    fn an_end_reaches_those_who_wait() {
        let work = Work::new(Vec::new());
        (0..2).for_each(|_| work.join());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| work.take());
            assert!(!work.has_ended());
            work.end();
            assert_eq!(waiting.join().expect("no panic"), None);
        });
        assert_eq!(work.take(), None);
        assert!(work.has_ended());
    }
}
