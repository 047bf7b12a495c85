//! The latest calls of `Object.wait`, in order.

use std::collections::VecDeque;
use tables::{ClassId, ThreadId};

/// Most events that are kept between two reports. The oldest are dropped first.
pub(crate) const MOST_WAIT_EVENTS: usize = 10_000;

/// A thread calls `Object.wait`, or has returned from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitEvent {
    /// A call.
    Wait {
        /// The class of the object.
        class: ClassId,
        /// Longest time that it waits; 0 means for ever.
        timeout_millis: u64,
        /// The thread.
        thread: ThreadId,
    },
    /// A return.
    Waited {
        /// The class of the object.
        class: ClassId,
        /// The time waited, in nanoseconds.
        nanos: u64,
        /// The thread.
        thread: ThreadId,
    },
}

/// The latest events.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    events: VecDeque<WaitEvent>,
    /// Number of dropped events.
    pub(crate) dropped: u64,
}

impl Waits {
    /// Adds an event, and drops the oldest if there are too many.
    pub(crate) fn note(&mut self, event: WaitEvent) {
        self.events.push_back(event);
        self.make_room();
    }

    /// Returns older events.
    pub(crate) fn give_back(&mut self, mut older: Self) {
        older.events.append(&mut self.events);
        self.events = older.events;
        self.dropped = self.dropped.saturating_add(older.dropped);
        self.make_room();
    }

    /// The events, the oldest first.
    pub(crate) fn events(&self) -> impl Iterator<Item = &WaitEvent> {
        self.events.iter()
    }

    fn make_room(&mut self) {
        while self.events.len() > MOST_WAIT_EVENTS {
            self.events.pop_front();
            self.dropped = self.dropped.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(numbers: std::ops::Range<usize>) -> Waits {
        let mut waits = Waits::default();
        for number in numbers {
            waits.note(WaitEvent::Wait {
                class: ClassId::new(1).unwrap(),
                timeout_millis: number as u64,
                thread: ThreadId::new(1).unwrap(),
            });
        }
        waits
    }

    fn timeouts(waits: &Waits) -> Vec<u64> {
        let timeout = |event: &WaitEvent| match event {
            WaitEvent::Wait { timeout_millis, .. } => *timeout_millis,
            WaitEvent::Waited { nanos, .. } => *nanos,
        };
        waits.events().map(timeout).collect()
    }

    #[test]
    fn the_oldest_go_first() {
        let waits = waits(0..MOST_WAIT_EVENTS + 3);
        assert_eq!(timeouts(&waits).first(), Some(&3));
        assert_eq!(timeouts(&waits).len(), MOST_WAIT_EVENTS);
        assert_eq!(waits.dropped, 3);
    }

    #[test]
    fn what_is_given_back_stands_before_what_came_meanwhile() {
        let mut newer = waits(5..7);
        newer.give_back(waits(0..5));
        assert_eq!(timeouts(&newer), [0, 1, 2, 3, 4, 5, 6]);
        let mut full = waits(0..MOST_WAIT_EVENTS);
        full.give_back(waits(0..2));
        assert_eq!((full.dropped, timeouts(&full)[0]), (2, 0));
    }
}
