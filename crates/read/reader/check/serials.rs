//! Serial numbers that must be 1, 2, 3 and so on, in any order.

use super::fault::Faults;
use super::rule::Rule;
use crate::id_set::IdSet;

/// The serials of one kind defined so far.
#[derive(Debug, Default)]
pub(super) struct Serials {
    seen: IdSet,
    greatest: u64,
    greatest_offset: u64,
}

impl Serials {
    /// Adds a serial; false if it already existed.
    pub(super) fn insert(&mut self, serial: u64, offset: u64) -> bool {
        if serial >= self.greatest {
            self.greatest = serial;
            self.greatest_offset = offset;
        }
        self.seen.insert(serial)
    }

    /// Bytes of memory that the serials take.
    pub(super) fn held_bytes(&self) -> u64 {
        self.seen.held_bytes()
    }

    pub(super) fn contains(&self, serial: u64) -> bool {
        self.seen.contains(serial)
    }

    /// Reports once if the serials are not exactly the numbers from 1 to their count.
    pub(super) fn judge(&self, rule: Rule, what: &str, faults: &mut Faults) {
        let count = self.seen.len();
        if self.greatest != count || self.seen.contains(0) {
            faults.add(rule, self.greatest_offset, || {
                format!(
                    "{count} {what}, the greatest is {}; 1 to {count} expected",
                    self.greatest
                )
            });
        }
    }
}
