//! Reads addresses that may be unmapped. The kernel does the read, and returns an error where a
//! read of ours would crash.

use super::descriptor::in_reserve;
use super::seccomp::may_call;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Whether there is this word at an address that may be unmapped.
///
/// The kernel compares it: it would wait as long as the word has this value (futex(2)), but for no
/// time. That needs no descriptor, and every JVM does it.
pub fn has_word(address: u64, word: u64) -> bool {
    let has_half = |address: u64, half: u32| {
        let wait = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        let no_time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel checks the address; the record outlives the call.
        let answer = unsafe { libc::syscall(libc::SYS_futex, address, wait, half, &no_time) };
        let error = std::io::Error::last_os_error().raw_os_error();
        // It has waited.
        answer == 0 || [libc::ETIMEDOUT, libc::EINTR].map(Some).contains(&error)
    };
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    has_half(address, u32::from_ne_bytes([a, b, c, d]))
        && has_half(address.wrapping_add(4), u32::from_ne_bytes([e, f, g, h]))
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
        None => "the system allows neither process_vm_readv nor /proc/self/mem",
    };
    why.to_owned()
}

/// `bytes` bytes from each of these addresses, one after the other. `None` if one of them is not
/// mapped, or if the system does not allow such reads.
///
/// The kernel does the read: by a system call that needs no descriptor; or through the file
/// `/proc/self/mem`, if a filter refuses the call, as Docker's does before 23.0 and containerd's
/// before 1.7.
pub fn copies(addresses: &[u64], bytes: usize) -> Option<Vec<u8>> {
    let mut copied = Vec::new();
    let all_bytes = addresses.len().checked_mul(bytes)?;
    copied.try_reserve_exact(all_bytes).ok()?;
    copied.resize(all_bytes, 0);
    if bytes == 0 {
        return Some(copied);
    }
    let by_call = if may_call(&[libc::SYS_process_vm_readv]) {
        copy_by_call(addresses, bytes, &mut copied)
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    };
    let is_refused = |error: &io::Error| {
        let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::Unsupported];
        kinds.contains(&error.kind())
    };
    match by_call {
        Err(error) if is_refused(&error) => copy_by_file(addresses, bytes, &mut copied).ok()?,
        copied => copied.ok()?,
    }
    Some(copied)
}

fn copy_by_call(addresses: &[u64], bytes: usize, copied: &mut [u8]) -> io::Result<()> {
    /// Addresses per call (IOV_MAX).
    const MOST: usize = 1024;
    /// The kernel may lack memory at one moment.
    const TRIES: usize = 2;
    let targets = copied.chunks_mut(MOST.saturating_mul(bytes));
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
        let count = libc::c_ulong::try_from(remote.len()).map_err(io::Error::other)?;
        // SAFETY: the kernel checks the addresses that are read; `local` describes `target`, which
        // only this function uses.
        let read = || unsafe {
            libc::process_vm_readv(libc::getpid(), &local, 1, remote.as_ptr(), count, 0)
        };
        if !(0..TRIES).any(|_| usize::try_from(read()) == Ok(target.len())) {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn copy_by_file(addresses: &[u64], bytes: usize, copied: &mut [u8]) -> io::Result<()> {
    let memory = in_reserve(|| File::open("/proc/self/mem"))?;
    let mut targets = addresses.iter().zip(copied.chunks_mut(bytes));
    targets.try_for_each(|(&address, target)| memory.read_exact_at(target, address))
}

#[cfg(test)]
mod tests {
    use super::super::host::page_bytes;
    use super::*;
    use crate::os::tests::TestMemory;

    #[test]
    fn a_word_is_compared_wherever_it_is() {
        let word = 0x1234_5678_9abc_def0_u64;
        let place = std::ptr::from_ref(&word) as u64;
        assert!(has_word(place, word));
        for other in [word ^ 1, word ^ (1 << 63), 0] {
            assert!(!has_word(place, other), "{other:x}");
        }
        for unmapped in [8, u64::MAX - 103, u64::MAX - 3] {
            assert!(!has_word(unmapped, 0));
        }
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

    #[test]
    fn both_ways_to_copy_agree() {
        let words = [1_u64, u64::MAX, 0x1234];
        let places = words.each_ref().map(|word| std::ptr::from_ref(word) as u64);
        for copy in [copy_by_call, copy_by_file] {
            let mut copied = [0; 24];
            copy(&places, 8, &mut copied).unwrap();
            assert_eq!(copied, words.map(u64::to_ne_bytes).concat()[..]);
            assert!(copy(&[places[0], 8], 8, &mut copied).is_err());
        }
    }
}
