//! Chances of a half, a quarter and so on.

/// Where they come from: Marsaglia's xorshift. No need for more, what is chosen is random itself.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// Any number will do.
    pub(super) fn new(seed: u64) -> Self {
        // Of zero nothing would come but zeros.
        Self(seed ^ 0x9E37_79B9_7F4A_7C15 | 1)
    }

    /// True with the probability 2^-`halvings`.
    pub(super) fn of_halvings(&mut self, halvings: u32) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        halvings == 0 || self.0.leading_zeros() >= halvings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_halving_halves() {
        let mut chance = Chance::new(7);
        for halvings in 0..6 {
            let taken = (0..64_000).filter(|_| chance.of_halvings(halvings)).count();
            let expected = 64_000 >> halvings;
            // Six standard errors.
            let most = 6.0 * f64::from(expected).sqrt();
            let off = f64::from(u32::try_from(taken).unwrap()) - f64::from(expected);
            assert!(off.abs() <= most, "{taken} of {expected}");
        }
    }
}
