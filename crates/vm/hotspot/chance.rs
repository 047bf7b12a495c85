//! Random numbers, and random choices with probability ½, ¼ and so on.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// The generator: Marsaglia's xorshift. No better one is needed, because what is chosen is random
/// itself.
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    /// A generator that differs from all earlier ones, and from those of other processes, so that
    /// repeated measurements of a program show what is due to chance.
    pub fn new() -> Self {
        static FIRST: OnceLock<u64> = OnceLock::new();
        static STARTED: AtomicU64 = AtomicU64::new(1);
        let first = *FIRST.get_or_init(|| RandomState::new().hash_one(0));
        // Steele, Lea and Flood's SplitMix: turns consecutive numbers into unrelated ones.
        let mut seed = first.wrapping_add(STARTED.fetch_add(1, Ordering::Relaxed));
        seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        seed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        seed = (seed ^ (seed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // Xorshift would turn zero into zeros only.
        Self((seed ^ (seed >> 31)) | 1)
    }

    /// True with the probability 2^-`halvings`.
    pub fn of_halvings(&mut self, halvings: u32) -> bool {
        let number = self.number();
        halvings == 0 || number.leading_zeros() >= halvings
    }

    /// Any number except 0, all equally likely.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

impl Default for Chance {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_halving_halves() {
        let mut chance = Chance::new();
        for halvings in 0..6 {
            let taken = (0..64_000).filter(|_| chance.of_halvings(halvings)).count();
            let expected = 64_000 >> halvings;
            // Six standard errors.
            let most = 6.0 * f64::from(expected).sqrt();
            let off = f64::from(u32::try_from(taken).unwrap()) - f64::from(expected);
            assert!(off.abs() <= most, "{taken} of {expected}");
        }
    }

    #[test]
    fn those_of_many_threads_have_nothing_in_common() {
        let mut chances: Vec<Chance> = (0..4096).map(|_| Chance::new()).collect();
        for draw in 0..40 {
            let taken = chances.iter_mut().map(|it| it.of_halvings(1));
            let taken = taken.filter(|&taken| taken).count();
            // Six standard errors of 32.
            assert!(taken.abs_diff(2048) <= 192, "draw {draw}: {taken}");
        }
    }
}
