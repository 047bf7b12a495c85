//! The allocations of one thread: counted by that thread, read by reports.

use crate::profile::allocations::live_objects::LiveObject;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Duration;
use tables::{SiteIndex, Weight};

/// How long a report waits for a thread that releases handles. After that, its objects are missing
/// from the report.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A thread's counts, and its objects that may be alive. The lock is held briefly, never across a
/// call of the JVM.
#[derive(Debug, Default)]
pub(crate) struct ThreadTally {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    counts: Vec<Count>,
    live: Vec<LiveObject>,
    /// Whether the objects are taken out and will be given back.
    is_taken: bool,
    /// The tally that has taken over the objects after this thread has ended.
    heir: Option<Arc<ThreadTally>>,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    site: SiteIndex,
    objects: u64,
    bytes: u64,
}

/// Index of a site in one thread's counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountIndex(u32);

impl ThreadTally {
    /// Adds a site to count at.
    pub(crate) fn add_site(&self, site: SiteIndex) -> CountIndex {
        let mut state = self.state.lock();
        state.counts.push(Count {
            site,
            objects: 0,
            bytes: 0,
        });
        // Beyond 4 billion places of one thread, nothing is counted.
        CountIndex(u32::try_from(state.counts.len() - 1).unwrap_or(u32::MAX))
    }

    /// Counts an object, and remembers it if there is a handle. Returns how many are remembered.
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

    /// Forgets the places, whose counts must have been flushed. Only on the thread that allocates.
    pub(crate) fn clear_sites(&self) {
        self.state.lock().counts.clear();
    }

    /// Number of remembered objects.
    pub(crate) fn remembered(&self) -> usize {
        self.state.lock().live.len()
    }

    /// Takes over the objects remembered by an ended thread. Objects that are taken out at the
    /// moment come when they are given back.
    pub(crate) fn take_over(self: &Arc<Self>, other: &Self) {
        let mut left = {
            let mut other = other.state.lock();
            other.heir = Some(Arc::clone(self));
            std::mem::take(&mut other.live)
        };
        self.state.lock().live.append(&mut left);
    }

    /// Hands over the counts since the last time.
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

    /// Takes the objects out, to be [given back](Self::give_back). Waits for a while if they are
    /// already taken out. Not on the thread that allocates.
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

    /// Takes the objects out unless they are already taken out. For the thread that allocates: it
    /// never waits.
    pub(crate) fn try_take(&self) -> Option<Vec<LiveObject>> {
        let mut state = self.state.lock();
        if state.is_taken {
            return None;
        }
        state.is_taken = true;
        Some(std::mem::take(&mut state.live))
    }

    /// Gives back the remaining objects; objects added meanwhile stay. Returns their number.
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
