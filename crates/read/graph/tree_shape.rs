//! The parents of all preorder numbers of a tree, in two bits each.
//!
//! A number's parent is the number before it or one of that number's ancestors. So the encoding
//! contains a 0 for each ancestor that is left, then a 1 for the number itself.

use std::io;

use crate::numbers::Numbers;

/// The parent of each number, to be read once in ascending order. The root, 0, has no parent.
pub(crate) struct TreeShape(Numbers<u64>);

impl TreeShape {
    /// Encodes the parents. Errors: there is no memory.
    pub(crate) fn new(parents: &[u32]) -> io::Result<Self> {
        // Each number is left at most once.
        let mut words = Numbers::zeroed(parents.len() / 32 + 1)?;
        let (mut at, mut ancestors) = (0_usize, vec![0_u32]);
        for (number, parent) in (0..).zip(parents).skip(1) {
            while ancestors.len() > 1 && ancestors.last() != Some(parent) {
                ancestors.pop();
                at += 1;
            }
            if let Some(word) = words.all_mut().get_mut(at / 64) {
                *word |= 1_u64 << (at % 64);
            }
            at += 1;
            ancestors.push(number);
        }
        Ok(Self(words))
    }

    /// The parents of the numbers from 1.
    pub(crate) fn parents(&self) -> impl Iterator<Item = u32> + '_ {
        let (mut at, mut number, mut ancestors) = (0_usize, 0_u32, vec![0_u32]);
        std::iter::from_fn(move || loop {
            let word = self.0.all().get(at / 64)? >> (at % 64);
            at += 1;
            if word & 1 == 0 {
                ancestors.pop();
                // Only zeros follow the last number.
                ancestors.last()?;
                continue;
            }
            let parent = *ancestors.last()?;
            number += 1;
            ancestors.push(number);
            return Some(parent);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parents_are_kept(climbs in proptest::collection::vec(0_usize..5, 0..300)) {
            let (mut parents, mut ancestors) = (vec![0], vec![0]);
            for (number, climb) in (1_u32..).zip(climbs) {
                ancestors.truncate(ancestors.len().saturating_sub(climb).max(1));
                parents.push(*ancestors.last().unwrap());
                ancestors.push(number);
            }
            let shape = TreeShape::new(&parents).unwrap();
            prop_assert_eq!(shape.parents().collect::<Vec<_>>(), parents.split_off(1));
        }
    }
}
