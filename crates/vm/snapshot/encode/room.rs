//! Buffer space reserved once for a whole record. A heap has hundreds of millions of fields, too
//! many to reserve space and update the buffer's length for each.
#![allow(unsafe_code)]

use std::mem::{take, MaybeUninit};

/// Reserved space, filled from its start.
#[derive(Debug)]
pub(crate) struct Room<'b>(&'b mut [MaybeUninit<u8>]);

impl Room<'_> {
    /// Fills the next bytes. Ignores the call if they do not fit.
    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if self.0.len() < N {
            return;
        }
        if let Some((next, rest)) = take(&mut self.0).split_first_chunk_mut::<N>() {
            *next = bytes.map(MaybeUninit::new);
            self.0 = rest;
        }
    }

    /// Fills the next bytes with the first `count` of `bytes`. Ignores the call unless there is
    /// space for all `N`.
    #[inline]
    pub(crate) fn put_first<const N: usize>(&mut self, bytes: [u8; N], count: usize) {
        if self.0.len() < N || N < count {
            return;
        }
        if let Some(next) = self.0.first_chunk_mut::<N>() {
            *next = bytes.map(MaybeUninit::new);
            let (_, rest) = take(&mut self.0).split_at_mut(count);
            self.0 = rest;
        }
    }
}

/// Reserves at least `bytes` bytes, and appends what `put` writes into them.
#[inline]
pub(crate) fn fill(out: &mut Vec<u8>, bytes: usize, put: impl FnOnce(&mut Room<'_>)) {
    out.reserve(bytes);
    let length = out.len();
    let mut room = Room(out.spare_capacity_mut());
    let before = room.0.len();
    put(&mut room);
    let put_bytes = before - room.0.len();
    // SAFETY: `Room::put` and `Room::put_first` initialised `put_bytes` bytes after the old length;
    // nothing else makes the room smaller.
    unsafe { out.set_len(length + put_bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_appended() {
        let mut out = vec![1, 2];
        fill(&mut out, 7, |room| {
            room.put([3]);
            room.put([4, 5]);
        });
        assert_eq!(out, [1, 2, 3, 4, 5]);
        fill(&mut out, 0, |_| {});
        assert_eq!(out.len(), 5);
    }

    #[test]
    fn of_what_is_put_only_the_first_bytes_count() {
        let mut out = vec![1];
        fill(&mut out, 12, |room| {
            room.put_first([2, 3, 9, 9], 2);
            room.put_first([4, 9, 9, 9], 1);
            room.put_first([5, 6, 7, 8], 5);
            room.put_first([5, 6, 7, 8], 4);
        });
        assert_eq!(out, [1, 2, 3, 4, 5, 6, 7, 8]);
        let mut out = Vec::with_capacity(10);
        fill(&mut out, 10, |room| {
            (0..99).for_each(|_| room.put_first([7; 4], 3));
        });
        assert!(out.len() <= out.capacity() && out.iter().all(|&byte| byte == 7));
    }

    #[test]
    fn nothing_is_put_where_no_room_is() {
        let mut out = Vec::with_capacity(10);
        fill(&mut out, 10, |room| (0..99).for_each(|_| room.put([7; 4])));
        assert_eq!(out.len() % 4, 0);
        assert!(out.len() <= out.capacity() && out.iter().all(|&byte| byte == 7));
    }
}
