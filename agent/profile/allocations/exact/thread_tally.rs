//! What one thread has allocated: counted by that thread, read by reports.

use crate::profile::allocations::live_objects::LiveObject;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Duration;
use tables::{SiteIndex, Weight};

/// How long a report waits for a thread that gives handles back. One that takes longer is missing in the report.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A thread's counts and the objects that may live. The lock is held for moments, never across a call of the JVM.
#[derive(Debug, Default)]
pub(crate) struct ThreadTally {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    counts: Vec<Count>,
    live: Vec<LiveObject>,
    /// Somebody has taken the objects out and will give them back.
    is_taken: bool,
    /// Who remembers the objects since the thread has ended.
    heir: Option<Arc<ThreadTally>>,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    site: SiteIndex,
    objects: u64,
    bytes: u64,
}

/// Place of a site in one thread's counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountIndex(u32);

impl ThreadTally {
    /// A place to count a site at.
    pub(crate) fn add_site(&self, site: SiteIndex) -> CountIndex {
        let mut state = self.state.lock();
        state.counts.push(Count {
            site,
            objects: 0,
            bytes: 0,
        });
        // What does not fit is not counted: 4 billion places of one thread.
        CountIndex(u32::try_from(state.counts.len() - 1).unwrap_or(u32::MAX))
    }

    /// Counts an object, and remembers it if there is a handle. Answers how many are remembered.
    pub(crate) fn note(
        &self,
        index: CountIndex,
        size_bytes: u64,
        object: Option<LiveObject>,
    ) -> usize {
        let mut state = self.state.lock();
        if let Some(count) = state.counts.get_mut(index.0 as usize) {
            count.objects += 1;
            count.bytes += size_bytes;
        }
        state.live.extend(object);
        state.live.len()
    }

    /// Forgets the places; what was counted there must have been handed over. For the thread that allocates.
    pub(crate) fn clear_sites(&self) {
        self.state.lock().counts.clear();
    }

    /// How many objects are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.state.lock().live.len()
    }

    /// The objects that another thread remembers, which has ended; those that somebody has taken come when they are
    /// given back.
    pub(crate) fn take_over(self: &Arc<Self>, other: &Self) {
        let mut left = {
            let mut other = other.state.lock();
            other.heir = Some(Arc::clone(self));
            std::mem::take(&mut other.live)
        };
        self.state.lock().live.append(&mut left);
    }

    /// Hands over what was counted since the last time.
    #[allow(clippy::cast_precision_loss)] // 2^53 objects are more than a thread allocates
    pub(crate) fn flush(&self, mut add: impl FnMut(SiteIndex, Weight)) {
        let counts = {
            let mut state = self.state.lock();
            let counts = state.counts.clone();
            for count in &mut state.counts {
                (count.objects, count.bytes) = (0, 0);
            }
            counts
        };
        for count in counts.iter().filter(|count| count.objects > 0) {
            add(
                count.site,
                Weight {
                    objects: count.objects as f64,
                    bytes: count.bytes as f64,
                },
            );
        }
    }

    /// Takes the objects out, to be [given back](Self::give_back); waits a while for one who has them. Not for the
    /// thread that allocates.
    pub(crate) fn take(&self) -> Option<Vec<LiveObject>> {
        let mut state = self.state.lock();
        while state.is_taken {
            if self.changed.wait_for(&mut state, LONGEST_WAIT).timed_out() {
                return None;
            }
        }
        state.is_taken = true;
        Some(std::mem::take(&mut state.live))
    }

    /// Takes the objects out unless somebody has them. For the thread that allocates: it never waits.
    pub(crate) fn try_take(&self) -> Option<Vec<LiveObject>> {
        let mut state = self.state.lock();
        if state.is_taken {
            return None;
        }
        state.is_taken = true;
        Some(std::mem::take(&mut state.live))
    }

    /// Gives back what is left of the objects; those that came meanwhile stay. Answers how many there are.
    pub(crate) fn give_back(&self, mut left: Vec<LiveObject>) -> usize {
        let mut state = self.state.lock();
        state.is_taken = false;
        self.changed.notify_all();
        if let Some(heir) = &state.heir {
            heir.state.lock().live.append(&mut left);
            return 0;
        }
        left.append(&mut state.live);
        state.live = left;
        state.live.len()
    }
}
