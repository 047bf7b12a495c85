//! Chooses the dumps to remove.

use std::cmp::Reverse;
use std::time::SystemTime;

/// A file that may have to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept<T> {
    /// Its identity.
    pub(super) file: T,
    /// When it was written.
    pub(super) written: SystemTime,
}

/// The files beyond the `most` newest ones, the oldest first. The file written `last` is always
/// kept, whatever the times of the others: a time in the future comes from a clock that was set
/// back, and counts as `now`.
pub(super) fn surplus<T: PartialEq>(
    mut files: Vec<Kept<T>>,
    most: usize,
    last: &T,
    now: SystemTime,
) -> Vec<T> {
    files.sort_by_key(|it| {
        let written = it.written.min(now);
        (it.file != *last, Reverse(written), Reverse(it.written))
    });
    let surplus = files.into_iter().skip(most.max(1));
    surplus.map(|it| it.file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// That many files, the last one the newest.
    fn files(count: u64) -> Vec<Kept<u64>> {
        let file = |number| Kept {
            file: number,
            written: SystemTime::UNIX_EPOCH + Duration::from_secs(number),
        };
        (0..count).map(file).collect()
    }

    #[test]
    fn the_newest_stay() {
        let too_many = |count, most| surplus(files(count), most, &(count - 1), SystemTime::now());
        assert!(too_many(4, 4).is_empty());
        assert_eq!(too_many(4, 3), [0]);
        assert_eq!(too_many(4, 1), [2, 1, 0]);
        assert_eq!(too_many(4, 0), [2, 1, 0]);
        assert!(surplus(Vec::new(), 1, &0, SystemTime::now()).is_empty());
    }

    #[test]
    fn what_was_just_written_stays_whatever_the_times_say() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2);
        // Numbers 3 to 5 have times in the future.
        let gone = |most, last| surplus(files(6), most, &last, now);
        assert_eq!(gone(1, 2), [5, 4, 3, 1, 0]);
        assert_eq!(gone(2, 0), [4, 3, 2, 1]);
        assert_eq!(gone(4, 2), [1, 0]);
    }
}
