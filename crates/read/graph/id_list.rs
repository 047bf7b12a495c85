//! The ids of objects in file order, as variable-length distances.

/// Ids in the order in which they were appended. An id near the one before it takes one or two
/// bytes, others at most nine.
#[derive(Debug, Default)]
pub(crate) struct IdList {
    bytes: Vec<u8>,
    last: u64,
    /// Number of ids.
    pub(crate) count: u64,
    /// Smallest and largest id.
    pub(crate) bounds: Option<(u64, u64)>,
}

/// The code of an id that is not ahead by a multiple of 8. The id itself follows.
const WHOLE_ID: u8 = 1;

/// Appends a number, seven bits per byte, the lowest first; all bytes but the last have the highest
/// bit set.
#[inline]
pub(crate) fn push_code(bytes: &mut Vec<u8>, mut code: u64) {
    while code >= 0x80 {
        let [low, ..] = code.to_le_bytes();
        bytes.push(low | 0x80);
        code >>= 7;
    }
    let [low, ..] = code.to_le_bytes();
    bytes.push(low);
}

impl IdList {
    /// Appends an id.
    #[inline]
    pub(crate) fn push(&mut self, id: u64) {
        let (low, high) = self.bounds.unwrap_or((id, id));
        self.bounds = Some((low.min(id), high.max(id)));
        let distance = id.wrapping_sub(self.last);
        // The code is the distance in units of 8. The shift keeps the lowest bit free for the flag
        // of a whole id.
        if distance % 8 == 0 && distance < 1 << 56 {
            push_code(&mut self.bytes, distance >> 3 << 1);
        } else {
            self.bytes.push(WHOLE_ID);
            self.bytes.extend_from_slice(&id.to_le_bytes());
        }
        self.last = id;
        self.count += 1;
    }

    /// All ids in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let (mut bytes, mut last) = (self.bytes.as_slice(), 0_u64);
        std::iter::from_fn(move || {
            let (first, rest) = bytes.split_first()?;
            bytes = rest;
            if *first == WHOLE_ID {
                let (id, rest) = bytes.split_first_chunk::<8>()?;
                bytes = rest;
                last = u64::from_le_bytes(*id);
                return Some(last);
            }
            let (mut code, mut byte, mut bits) = (u64::from(*first & 0x7F), *first, 7);
            while byte & 0x80 != 0 {
                let (next, rest) = bytes.split_first()?;
                (bytes, byte) = (rest, *next);
                code |= u64::from(byte & 0x7F) << bits;
                bits += 7;
            }
            last = last.wrapping_add(code >> 1 << 3);
            Some(last)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(ids: &[u64]) -> IdList {
        let mut list = IdList::default();
        ids.iter().for_each(|id| list.push(*id));
        list
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(ids in proptest::collection::vec(any::<u64>().prop_flat_map(|id| Just(id & !7).prop_union(Just(id))), 0..50)) {
            let list = list(&ids);
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), ids.clone());
        }
    }

    #[test]
    fn neighbours_take_a_byte() {
        let ids: Vec<u64> = (1..1000).map(|n| 0x7_0000_0000 + n * 24).collect();
        assert!(list(&ids).bytes.len() < 1010);
        assert_eq!(list(&ids).bounds, Some((ids[0], ids[998])));
    }
}
