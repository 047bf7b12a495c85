//! Work: references that nobody has followed yet, shared among walkers when one runs dry.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The shared part of all walkers' stacks. A walker that has plenty gives when another [wants](Work::wants).
#[derive(Debug)]
pub(super) struct Work {
    state: Mutex<State>,
    changed: Condvar,
    /// Walkers that wait, as a hint that takes no lock.
    hungry: AtomicUsize,
    walkers: usize,
    /// The walk was ended early, as a hint that takes no lock.
    ended: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    batches: Vec<Vec<u64>>,
    waiting: usize,
    ended: bool,
}

impl Work {
    /// Work for this many walkers.
    pub(super) fn new(walkers: usize, first: Vec<Vec<u64>>) -> Self {
        Self {
            state: Mutex::new(State {
                batches: first,
                ..State::default()
            }),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            walkers,
            ended: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A walker that panicked ends the whole walk; what it left behind is of no interest.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another walker waits for work.
    #[inline]
    pub(super) fn wants(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    /// Whether the walk was ended early, so that going on is in vain.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Gives a part of one's work to others.
    pub(super) fn give(&self, batch: Vec<u64>) {
        self.lock().batches.push(batch);
        self.changed.notify_one();
    }

    /// Waits for work; `None` when all walkers wait, so that there is none left, and after [`Work::end`].
    pub(super) fn take(&self) -> Option<Vec<u64>> {
        let mut state = self.lock();
        state.waiting += 1;
        self.hungry.fetch_add(1, Ordering::Relaxed);
        let taken = loop {
            if state.ended {
                break None;
            }
            if let Some(batch) = state.batches.pop() {
                state.waiting -= 1;
                break Some(batch);
            }
            if state.waiting == self.walkers {
                state.ended = true;
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

    /// Ends the walk for all: one of them cannot go on.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.lock().ended = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_when_all_is_done() {
        // Each number is followed by two that are one smaller, down to 0: as many as a tree has nodes.
        let work = Work::new(3, vec![vec![12]]);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while let Some(batch) = work.take() {
                        let mut stack = batch;
                        while let Some(number) = stack.pop() {
                            done.fetch_add(1, Ordering::Relaxed);
                            if number > 0 {
                                stack.push(number - 1);
                                stack.push(number - 1);
                            }
                            if work.wants() && stack.len() > 1 {
                                work.give(vec![stack.remove(0)]);
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), (1 << 13) - 1);
    }

    #[test]
    fn an_end_reaches_those_who_wait() {
        let work = Work::new(2, Vec::new());
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
