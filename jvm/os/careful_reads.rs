//! Reads addresses that may be unmapped. The kernel does the read, and returns an error where a
//! read of ours would crash.

use super::seccomp::may_call;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Eight bytes at an address that may be unmapped; `None` if it is.
///
/// The kernel copies them into a socket. It returns EFAULT where a read of ours would crash.
pub fn try_read(address: u64) -> Option<u64> {
    let (mut reader, writer) = UnixStream::pair().ok()?;
    // SAFETY: the kernel checks the address.
    let written = unsafe { libc::write(writer.as_raw_fd(), address as *const libc::c_void, 8) };
    if written != 8 {
        return None;
    }
    let mut word = [0; 8];
    reader.read_exact(&mut word).ok()?;
    Some(u64::from_ne_bytes(word))
}

/// Whether the aligned word around an address can be read.
///
/// The kernel reads it as a set of signals (rt_sigprocmask(2)), of which there is nothing to do:
/// EFAULT if it cannot, EINVAL if it can. That needs no descriptor and no permission. If the system
/// answers anything else, the word counts as readable.
pub fn is_readable(address: u64) -> bool {
    const NOTHING: libc::c_int = -1;
    const SET_BYTES: libc::size_t = 8;
    let set = (address & !7) as *const libc::c_void;
    let nowhere = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel checks the address, and refuses the operation.
    let answer =
        unsafe { libc::syscall(libc::SYS_rt_sigprocmask, NOTHING, set, nowhere, SET_BYTES) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

/// Why something is not known that [`copies`] would tell: this, unless the system does not let the
/// process read its own memory so.
pub fn why_unknown(otherwise: &str) -> String {
    let word = 0_u64;
    let why = match copies(&[std::ptr::from_ref(&word) as u64], 8) {
        Some(_) => otherwise,
        None => "the system, or a seccomp filter, may not allow process_vm_readv",
    };
    why.to_owned()
}

/// `bytes` bytes from each of these addresses, one after the other. `None` if one of them is not
/// mapped, or if the system does not allow such reads.
///
/// The kernel does the read, as in `try_read`, but for many addresses per call.
pub fn copies(addresses: &[u64], bytes: usize) -> Option<Vec<u8>> {
    /// Addresses per call (IOV_MAX).
    const MOST: usize = 1024;
    let mut copied = vec![0; addresses.len().checked_mul(bytes)?];
    if bytes == 0 {
        return Some(copied);
    }
    if !may_call(&[libc::SYS_process_vm_readv]) {
        return None;
    }
    let targets = copied.chunks_mut(MOST.checked_mul(bytes)?);
    for (places, target) in addresses.chunks(MOST).zip(targets) {
        let local = libc::iovec {
            iov_base: target.as_mut_ptr().cast(),
            iov_len: target.len(),
        };
        let remote: Vec<libc::iovec> = places
            .iter()
            .map(|&address| libc::iovec {
                iov_base: address as *mut libc::c_void,
                iov_len: bytes,
            })
            .collect();
        let count = libc::c_ulong::try_from(remote.len()).ok()?;
        // SAFETY: the kernel checks the addresses that are read; `local` describes `target`, which
        // only this function uses.
        let read =
            unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, remote.as_ptr(), count, 0) };
        if usize::try_from(read) != Ok(target.len()) {
            return None;
        }
    }
    Some(copied)
}

#[cfg(test)]
mod tests {
    use super::super::host::page_bytes;
    use super::super::test_memory::TestMemory;
    use super::*;

    #[test]
    fn an_address_can_be_tried() {
        let word = 0x1234_u64;
        assert_eq!(try_read(std::ptr::from_ref(&word) as u64), Some(0x1234));
        assert_eq!(try_read(8), None);
        assert_eq!(try_read(u64::MAX - 100), None);
    }

    #[test]
    fn what_the_list_of_mappings_hides_is_found() {
        /// Since Linux 6.13.
        const MADV_GUARD_INSTALL: libc::c_int = 102;
        let page = page_bytes();
        let memory = TestMemory::new(3 * page);
        let middle = memory.start() + page;
        assert!(is_readable(middle) && is_readable(middle + page - 1));
        let bytes = usize::try_from(page).unwrap();
        // SAFETY: nothing refers to this page.
        let guarded = unsafe { libc::madvise(middle as *mut _, bytes, MADV_GUARD_INSTALL) == 0 };
        assert_eq!(is_readable(middle), !guarded);
        assert_eq!(is_readable(middle + page - 1), !guarded);
        assert!(is_readable(middle - 1) && is_readable(middle + page));
        assert!(!is_readable(8) && !is_readable(u64::MAX));

        let [cut, _] = TestMemory::shared_up_to(page, 2 * page);
        assert!(is_readable(cut.start()) && !is_readable(cut.start() + page));
    }

    #[test]
    fn many_places_are_copied_at_once() {
        let words: Vec<u64> = (0..3000).collect();
        let places: Vec<u64> = words
            .iter()
            .map(|word| std::ptr::from_ref(word) as u64)
            .collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(copies(&places, 8), Some(bytes));
        assert_eq!(copies(&[places[7], 8], 8), None);
        assert_eq!(copies(&[], 8), Some(Vec::new()));
        assert_eq!(copies(&places, 0), Some(Vec::new()));
    }
}
