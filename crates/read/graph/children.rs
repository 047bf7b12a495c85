//! The objects that each object immediately dominates.

use std::alloc::{handle_alloc_error, Layout};
use std::io;

use crate::dominators::{ROOTS, UNREACHABLE};
use crate::numbers::Numbers;
use crate::ranges::Ranges;

/// The groups of all objects, each ascending.
#[derive(Debug)]
pub(crate) struct Children {
    all: Numbers<u32>,
    ranges: Ranges,
}

impl Children {
    /// Groups objects by dominator; the last group contains those without one. Aborts the process
    /// without memory, as `Vec` does.
    pub(crate) fn new(dominators: &[u32], objects: u32) -> Self {
        let made = Self::sorted(dominators, objects);
        made.unwrap_or_else(|_| handle_alloc_error(Layout::new::<Self>()))
    }

    fn sorted(dominators: &[u32], objects: u32) -> io::Result<Self> {
        // A counting sort.
        let parent = |dominator: &u32| match *dominator {
            UNREACHABLE => None,
            ROOTS => Some(objects as usize),
            above => Some(above as usize),
        };
        let lists = objects as usize + 1;
        let mut counts: Numbers<u32> = Numbers::zeroed(lists)?;
        for parent in dominators.iter().filter_map(parent) {
            if let Some(count) = counts.all_mut().get_mut(parent) {
                *count += 1;
            }
        }
        let (mut ranges, mut next) = (Ranges::with_room(lists)?, 0);
        for count in counts.all_mut() {
            ranges.push((*count).into());
            (*count, next) = (next, next + *count);
        }
        let mut all = Numbers::zeroed(next as usize)?;
        for (object, dominator) in (0_u32..).zip(dominators) {
            let place = parent(dominator).and_then(|parent| counts.all_mut().get_mut(parent));
            if let Some(place) = place {
                if let Some(slot) = all.all_mut().get_mut(*place as usize) {
                    *slot = object;
                }
                *place += 1;
            }
        }
        Ok(Self { all, ranges })
    }

    /// The objects immediately dominated by this object.
    #[inline]
    pub(crate) fn of(&self, object: u32) -> &[u32] {
        let (from, to) = self.ranges.get(object);
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        self.all
            .all()
            .get(place(from)..place(to))
            .unwrap_or_default()
    }

    /// Prefetches the range of an object's.
    #[inline]
    pub(crate) fn prefetch(&self, object: u32) {
        self.ranges.prefetch(object);
    }
}
