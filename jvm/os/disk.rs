//! Room on a disk: how much there is, and giving it back.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Bytes that this user can still write where this file or folder is; `None` if the system does not tell.
pub fn free_bytes(place: BorrowedFd<'_>) -> Option<u64> {
    // SAFETY: a struct of numbers; zeros are valid.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor; the struct outlives the call.
    let answer = unsafe { libc::fstatvfs(place.as_raw_fd(), &mut found) };
    (answer == 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

/// Gives the blocks of a part of a file back, which reads as zeros then. Nothing happens on a file system that cannot.
pub fn give_back(file: BorrowedFd<'_>, from: u64, bytes: u64) {
    let (Ok(from), Ok(bytes)) = (from.try_into(), bytes.try_into()) else {
        return;
    };
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: an open descriptor; numbers.
    unsafe { libc::fallocate(file.as_raw_fd(), mode, from, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    #[test]
    fn a_part_that_is_given_back_reads_as_zeros() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&[1; 16384]).expect("written");
        give_back(file.as_fd(), 0, 8192);
        file.rewind().expect("rewound");
        let mut all = Vec::new();
        file.read_to_end(&mut all).expect("read");
        assert_eq!(all.len(), 16384);
        // Some file systems cannot.
        assert!(all[..8192].iter().all(|&byte| byte == all[0]));
        assert!(all[8192..].iter().all(|&byte| byte == 1));
    }

    #[test]
    fn a_disk_tells_its_room() {
        let file = tempfile::tempfile().expect("a file");
        assert!(free_bytes(file.as_fd()).is_some_and(|bytes| bytes > 0));
    }
}
