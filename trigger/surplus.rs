//! Chooses the dumps to remove.

use std::cmp::Reverse;
use std::time::SystemTime;

/// The limits on the dumps that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Most {
    /// Most files; `None` for any number.
    pub files: Option<usize>,
    /// Most bytes of all files together; `None` for any number.
    pub bytes: Option<u64>,
}

impl Most {
    /// Whether there is no limit.
    pub fn is_all(&self) -> bool {
        self.files.is_none() && self.bytes.is_none()
    }
}

/// A file that may have to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<T> {
    /// Its identity.
    pub file: T,
    /// Its size.
    pub bytes: u64,
    /// When it was written.
    pub written: SystemTime,
}

/// The files beyond the limits, the oldest first. The file written `last` is always kept, whatever
/// the times of the others: a time in the future comes from a clock that was set back, and counts
/// as `now`.
pub fn surplus<T: PartialEq>(
    mut files: Vec<Kept<T>>,
    most: Most,
    last: &T,
    now: SystemTime,
) -> Vec<T> {
    files.sort_by_key(|it| {
        let written = it.written.min(now);
        (it.file != *last, Reverse(written), Reverse(it.written))
    });
    let most_files = most.files.unwrap_or(usize::MAX).max(1);
    let most_bytes = most.bytes.unwrap_or(u64::MAX);
    let mut bytes = 0u64;
    let kept = files.iter().take(most_files).take_while(|it| {
        bytes = bytes.saturating_add(it.bytes);
        bytes <= most_bytes
    });
    let kept = kept.count().max(1);
    files.into_iter().skip(kept).map(|it| it.file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn files(sizes: &[u64]) -> Vec<Kept<usize>> {
        let file = |(number, &bytes): (usize, &u64)| Kept {
            file: number,
            bytes,
            written: SystemTime::UNIX_EPOCH + Duration::from_secs(number as u64),
        };
        sizes.iter().enumerate().map(file).collect()
    }

    /// The indexes of the files beyond the limits. The last file is the newest.
    fn too_many(sizes: &[u64], most: Most) -> Vec<usize> {
        let last = sizes.len().saturating_sub(1);
        surplus(files(sizes), most, &last, SystemTime::now())
    }

    #[test]
    fn the_newest_stay() {
        let most = |files, bytes| Most { files, bytes };
        let sizes = [5, 5, 5, 5];
        assert!(too_many(&sizes, Most::default()).is_empty());
        assert_eq!(too_many(&sizes, most(Some(3), None)), [0]);
        assert_eq!(too_many(&sizes, most(None, Some(14))), [1, 0]);
        assert_eq!(too_many(&sizes, most(Some(1), Some(14))), [2, 1, 0]);
        // A single file that is too large.
        assert_eq!(too_many(&[1, 100], most(Some(0), Some(14))), [0]);
        assert!(too_many(&[], most(Some(1), None)).is_empty());
    }

    #[test]
    fn what_was_just_written_stays_whatever_the_times_say() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2);
        // Numbers 3 to 5 have times in the future.
        let gone = |most_files, last| {
            let most = Most {
                files: Some(most_files),
                bytes: None,
            };
            surplus(files(&[1; 6]), most, &last, now)
        };
        assert_eq!(gone(1, 2), [5, 4, 3, 1, 0]);
        assert_eq!(gone(2, 0), [4, 3, 2, 1]);
        assert_eq!(gone(4, 2), [1, 0]);
    }

    proptest! {
        #[test]
        fn what_stays_is_the_newest_and_fits(
            sizes in prop::collection::vec(0u64..100, 1..30),
            most_files in 1usize..10,
            most_bytes in 0u64..500,
        ) {
            let most = Most { files: Some(most_files), bytes: Some(most_bytes) };
            let gone = too_many(&sizes, most);
            let stay = sizes.len() - gone.len();
            prop_assert!(stay >= 1 && stay <= most_files);
            prop_assert!(gone.iter().all(|&number| number < sizes.len() - stay));
            let bytes: u64 = sizes[sizes.len() - stay..].iter().sum();
            prop_assert!(stay == 1 || bytes <= most_bytes);
        }
    }
}
