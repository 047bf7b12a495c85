//! The parts of memory that a fork leaves out, so that the pause is shorter:
//! [`hotspot::UnusedHeap`] finds them.

use jvm::os::answers::done;
use parking_lot::Mutex;
use std::io;
use std::ops::Range;

/// How often we ask the kernel to undo the advice.
const TRIES: usize = 3;

/// Parts that forks see as zeros although they should be copied again: the kernel had no memory to
/// undo the advice.
static LOST: Mutex<Vec<Range<u64>>> = Mutex::new(Vec::new());

/// Parts of this process's memory that a fork does not copy as long as this value lives. The child
/// sees zeros there.
#[derive(Debug)]
pub(in crate::heap) struct NotCopied(Vec<Range<u64>>);

impl NotCopied {
    /// Advises the kernel to leave out these parts. It still copies memory of files, and huge pages
    /// that the administrator reserved.
    ///
    /// An error if a part that an earlier fork left out could not be restored, because it may
    /// contain objects now. Then there must be no fork.
    pub(in crate::heap) fn new(parts: Vec<Range<u64>>) -> io::Result<Self> {
        let mut lost = LOST.lock();
        lost.retain(|part| !is_kept(part));
        if !lost.is_empty() {
            return Err(io::Error::other(
                "the system has no memory to have it copy the whole heap again",
            ));
        }
        for part in &parts {
            // If the kernel refuses, the pause is only longer.
            let _ = advise(part, libc::MADV_WIPEONFORK);
        }
        Ok(Self(parts))
    }
}

impl Drop for NotCopied {
    fn drop(&mut self) {
        let lost = self.0.drain(..).filter(|part| !is_kept(part));
        LOST.lock().extend(lost);
    }
}

/// Makes forks copy a part again; `false` if the kernel could not do it.
fn is_kept(part: &Range<u64>) -> bool {
    let kept = |_| match advise(part, libc::MADV_KEEPONFORK) {
        Ok(()) => true,
        // Memory that forks always copy.
        Err(error) => error.raw_os_error() == Some(libc::EINVAL),
    };
    (0..TRIES).any(kept)
}

fn advise(part: &Range<u64>, advice: libc::c_int) -> io::Result<()> {
    let bytes = usize::try_from(part.end - part.start).unwrap_or(0);
    // SAFETY: the advice affects only forks, not what this process reads.
    done(unsafe { libc::madvise(part.start as *mut _, bytes, advice) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::fork::process;
    use jvm::os::fork_handlers::ForkBy;
    use snapshot::mappings::{os_maps, Mapping};

    const MB: u64 = 1 << 20;

    #[test]
    fn a_fork_gets_zeros_for_what_is_left_out_and_the_process_is_as_before() {
        const BYTES: usize = 8 << 20;
        let pieces = |start: u64| {
            let maps = os_maps().expect("maps");
            let inside = |(mapping, _): &(Mapping, &[u8])| {
                mapping.range.start < start + 8 * MB && start < mapping.range.end
            };
            Mapping::all(&maps).filter(inside).count()
        };
        // SAFETY: memory that this test maps and unmaps.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let memory = libc::mmap(std::ptr::null_mut(), BYTES, access, flags, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            let byte = |at: u64| memory.cast::<u8>().add(usize::try_from(at).unwrap());
            (0..8).for_each(|at| byte(at * MB).write(7));
            let start = memory as u64;
            let before = pieces(start);
            let part = start + 2 * MB..start + 4 * MB;
            let not_copied = NotCopied::new(vec![part]).expect("nothing was lost");
            match process::fork(ForkBy::Handlers).expect("a fork") {
                process::Side::Child => {
                    let seen = [1, 2, 3, 4].map(|at| byte(at * MB).read());
                    process::exit(i32::from(seen != [7, 0, 0, 7]));
                }
                process::Side::Parent(mut child) => {
                    drop(not_copied);
                    assert_eq!(child.reap().how, "ended with code 0");
                    assert_eq!(byte(2 * MB).read(), 7);
                    assert_eq!(pieces(start), before);
                    match process::fork(ForkBy::Handlers).expect("a fork") {
                        process::Side::Child => {
                            process::exit(i32::from(byte(2 * MB).read() != 7));
                        }
                        process::Side::Parent(mut child) => {
                            assert_eq!(child.reap().how, "ended with code 0");
                        }
                    }
                }
            }
            libc::munmap(memory, BYTES);
        }
        // The kernel cannot undo the advice where nothing is mapped, so there is no fork until it
        // can.
        drop(NotCopied::new([0..2 * MB; 1].to_vec()).expect("nothing was lost"));
        assert!(NotCopied::new(Vec::new()).is_err());
        assert_eq!(LOST.lock().drain(..).len(), 1);
        assert!(NotCopied::new(Vec::new()).is_ok());
    }
}
