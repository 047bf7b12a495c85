//! Mappings that are held until something needs them: where a process has as many as the system
//! allows (`vm.max_map_count`), no thread can be started, and so no dump be made.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As many as the threads of a dump need: each has two, and its memory some.
const MAPPINGS: usize = 512;

/// Where the reserve is; 0 if it is not held.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Takes the reserve, once: address space alone, no memory. None if the system refuses.
pub fn hold() {
    let page = page_bytes();
    // SAFETY: new mappings that nobody reads or writes. Pages of unlike protection are mappings of
    // their own.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let start = libc::mmap(null_mut(), MAPPINGS * page, libc::PROT_NONE, flags, -1, 0);
        if start == libc::MAP_FAILED {
            return;
        }
        for number in (1..MAPPINGS).step_by(2) {
            libc::mprotect(start.byte_add(number * page), page, libc::PROT_READ);
        }
        if HELD
            .compare_exchange(0, start as usize, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            libc::munmap(start, MAPPINGS * page);
        }
    }
}

/// Gives the reserve up. Any thread.
pub fn give_up() {
    let start = HELD.swap(0, Ordering::AcqRel);
    if start != 0 {
        // SAFETY: the mappings of `hold`, which nobody else has.
        unsafe { libc::munmap(start as *mut libc::c_void, MAPPINGS * page_bytes()) };
    }
}

fn page_bytes() -> usize {
    // SAFETY: the call has no conditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(1 << 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_reserve_is_mappings_and_no_memory() {
        let mappings = || {
            let text = fs::read_to_string("/proc/self/maps").expect("maps");
            let start = HELD.load(Ordering::Acquire);
            let end = start + MAPPINGS * page_bytes();
            let first = |line: &str| usize::from_str_radix(line.split('-').next()?, 16).ok();
            let inside = |line: &&str| first(line).is_some_and(|at| start <= at && at < end);
            text.lines().filter(inside).count()
        };
        hold();
        assert!(mappings() > MAPPINGS / 2, "{}", mappings());
        hold();
        give_up();
        assert_eq!(HELD.load(Ordering::Acquire), 0);
        give_up();
    }
}
