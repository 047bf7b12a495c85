//! Sums of sizes by number, in four bytes each: few sums are 32 GiB or more.

use std::io;

use format::UNIT_BYTES;
use rustc_hash::FxHashMap;

use crate::numbers::Numbers;

/// A sum for each number, initially 0.
#[derive(Debug)]
pub(crate) struct Sums {
    /// The low halves, in units.
    low: Numbers<u32>,
    /// The high halves that are not 0.
    high: FxHashMap<u32, u32>,
}

impl Sums {
    /// This many sums. Errors: the system refuses the memory.
    pub(crate) fn zeroed(len: usize) -> io::Result<Self> {
        Ok(Self {
            low: Numbers::zeroed(len)?,
            high: FxHashMap::default(),
        })
    }

    /// Adds to the sums.
    pub(crate) fn adder(&mut self) -> Adder<'_> {
        Adder {
            low: self.low.all_mut(),
            high: &mut self.high,
        }
    }

    /// A sum in bytes; 0 if there is no such number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> u64 {
        let low = u64::from(self.low.get(number).unwrap_or(0));
        let high = match self.high.is_empty() {
            true => 0,
            false => self.high.get(&number).copied().unwrap_or(0),
        };
        (u64::from(high) << 32 | low).saturating_mul(UNIT_BYTES)
    }
}

/// Adds to sums.
pub(crate) struct Adder<'s> {
    low: &'s mut [u32],
    high: &'s mut FxHashMap<u32, u32>,
}

impl Adder<'_> {
    /// Adds `units`; returns the sum in units, 0 if there is no such number.
    #[inline]
    pub(crate) fn add(&mut self, number: usize, units: u64) -> u64 {
        let Some(low) = self.low.get_mut(number) else {
            return 0;
        };
        let sum = u64::from(*low) + units;
        match u32::try_from(sum) {
            Ok(small) if self.high.is_empty() => *low = small,
            _ => return self.add_high(number, sum),
        }
        sum
    }

    /// Prefetches a sum.
    #[inline]
    pub(crate) fn prefetch(&self, number: u32) {
        prefetch_index::prefetch_index(&*self.low, number as usize);
    }

    /// [`Adder::add`] for sums with high halves; `sum` is the low half plus the units.
    #[cold]
    fn add_high(&mut self, number: usize, sum: u64) -> u64 {
        let [h3, h2, h1, h0, b3, b2, b1, b0] = sum.to_be_bytes();
        if let Some(low) = self.low.get_mut(number) {
            *low = u32::from_be_bytes([b3, b2, b1, b0]);
        }
        let carried = u32::from_be_bytes([h3, h2, h1, h0]);
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let high = match carried {
            0 => self.high.get(&number).copied().unwrap_or(0),
            _ => {
                let high = self.high.entry(number).or_insert(0);
                *high = high.saturating_add(carried);
                *high
            }
        };
        u64::from(high) << 32 | (sum & u64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sums_are_kept() {
        const GIB: u64 = 1 << 30;
        let mut sums = Sums::zeroed(3).unwrap();
        let mut adder = sums.adder();
        let mut expected = 0;
        for bytes in [8, 31 * GIB, 2 * GIB, 100 * GIB] {
            expected += bytes / UNIT_BYTES;
            assert_eq!(adder.add(1, bytes / UNIT_BYTES), expected);
            adder.add(2, 2);
        }
        assert_eq!(adder.add(7, 1), 0);
        assert_eq!(
            [0, 1, 2, 7].map(|at| sums.get(at)),
            [0, 133 * GIB + 8, 64, 0]
        );
    }
}
