//! The child's threads, each on a stack that we allocate.
//!
//! After a fork, glibc treats the stacks of all threads that no longer exist as free. It gives them
//! to new threads, and when a thread ends and they exceed 40 MB in total, it unmaps them
//! (`__nptl_reclaim_stacks`, `allocatestack.c`). But the child still runs on one of them and reads
//! others: HotSpot's walk belongs to the thread that requested it, and its roots lie on the stacks
//! of Java threads. glibc neither reuses nor unmaps stacks that a program allocates itself.

use std::ffi::{c_void, CString};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null_mut, NonNull};
use writer::{Work, Worker};

/// A thread's stack. Nothing recurses. Untouched pages use no memory.
const STACK_BYTES: usize = 1 << 20;
/// The guard below the stack: one page, as large as the pages of any processor may be (aarch64: 4,
/// 16 or 64 KiB).
const GUARD_BYTES: usize = 64 << 10;
/// Bytes of a thread's name that Linux keeps.
const NAME_BYTES: usize = 15;

/// A thread started here. Its stack stays mapped until the process ends.
#[derive(Debug)]
struct OwnThread(libc::pthread_t);

// SAFETY: the name of a thread, valid on every thread until one of them joins it, and `join` takes
// it. On musl it is a pointer.
unsafe impl Send for OwnThread {}
// SAFETY: the name of a thread, valid on every thread until one of them joins it, and `join`
// takes it. On musl it is a pointer; nothing reads it through a shared reference.
unsafe impl Sync for OwnThread {}

/// Starts a thread ([`writer::StartWorker`]). The child must not start threads in any other way.
pub(super) fn start_own(name: &str, work: Work) -> io::Result<Box<dyn Worker>> {
    let stack = map_stack()?;
    let start = Box::into_raw(Box::new(work));
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    let error = with_attributes(stack, |attributes| {
        // SAFETY: the attributes are initialised; `run` takes the box over if the thread starts.
        unsafe { libc::pthread_create(thread.as_mut_ptr(), attributes, run, start.cast()) }
    });
    if error != 0 {
        // SAFETY: no thread was started, so the box is still ours.
        drop(unsafe { Box::from_raw(start) });
        return Err(io::Error::from_raw_os_error(error));
    }
    // SAFETY: pthread_create succeeded.
    let thread = unsafe { thread.assume_init() };
    let shown = name.get(..NAME_BYTES).unwrap_or(name);
    if let Ok(shown) = CString::new(shown) {
        // SAFETY: a live thread and a C string. If naming fails, the thread runs unnamed.
        unsafe { libc::pthread_setname_np(thread, shown.as_ptr()) };
    }
    Ok(Box::new(OwnThread(thread)))
}

/// Maps a stack above a guard page; returns its lowest usable address.
fn map_stack() -> io::Result<NonNull<c_void>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let bytes = GUARD_BYTES + STACK_BYTES;
    // SAFETY: a new mapping at an address of the kernel's choice; the guard is its lowest page.
    unsafe {
        let start = libc::mmap(null_mut(), bytes, protection, flags, -1, 0);
        if start == libc::MAP_FAILED || libc::mprotect(start, GUARD_BYTES, libc::PROT_NONE) != 0 {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start.byte_add(GUARD_BYTES)).ok_or_else(io::Error::last_os_error)
    }
}

/// Calls `create` with attributes for the stack. Returns an error number, 0 for success.
fn with_attributes(
    stack: NonNull<c_void>,
    create: impl FnOnce(*const libc::pthread_attr_t) -> i32,
) -> i32 {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: initialised before use and destroyed after it; the stack is mapped and nothing else
    // uses it.
    unsafe {
        let mut error = libc::pthread_attr_init(attributes.as_mut_ptr());
        if error == 0 {
            error =
                libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack.as_ptr(), STACK_BYTES);
            if error == 0 {
                error = create(attributes.as_ptr());
            }
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
        }
        error
    }
}

/// The thread's main function. Returns null unless it panicked.
extern "C" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: the box that `start_own` gave away.
    let work = *unsafe { Box::from_raw(start.cast::<Work>()) };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => null_mut(),
        Err(_) => NonNull::<c_void>::dangling().as_ptr(),
    }
}

impl Worker for OwnThread {
    fn join(self: Box<Self>) -> bool {
        let mut answer = null_mut();
        // SAFETY: nothing else joins this thread.
        let error = unsafe { libc::pthread_join(self.0, &mut answer) };
        error == 0 && answer.is_null()
    }
}

/// Threads that borrow from the caller. Dropping the crew joins all of them.
#[derive(Debug, Default)]
pub(super) struct Crew(Vec<Box<dyn Worker>>);

impl Crew {
    /// Starts another thread.
    ///
    /// # Safety
    /// The crew is dropped before anything that `work` uses, and never forgotten.
    pub(super) unsafe fn start<'w>(
        &mut self,
        name: &str,
        work: Box<dyn FnOnce() + Send + 'w>,
    ) -> io::Result<()> {
        // SAFETY: the same box; the caller promises that it is used up before `'w` ends.
        let work = unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'w>, Work>(work) };
        self.0.push(start_own(name, work)?);
        Ok(())
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapshot::mappings::{os_maps, Mapping};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    #[test]
    fn a_thread_runs_on_the_stack_that_was_mapped_for_it() {
        let (tell, told) = channel();
        let work = move || {
            let here = 0_u8;
            tell.send(std::ptr::addr_of!(here) as usize).expect("heard");
        };
        assert!(start_own("a name that is too long", Box::new(work))
            .expect("a thread")
            .join());
        let place = told.recv().expect("told") as u64;
        let maps = os_maps().expect("maps");
        let mut ranges = Mapping::all(&maps).map(|(mapping, _)| mapping.range);
        let own = ranges.find(|range| range.contains(&place)).expect("mapped");
        // The stack is still mapped after the thread's end. glibc would have kept a stack of its
        // own, too, but with its own size.
        assert!(own.end - own.start >= STACK_BYTES as u64);
    }

    #[test]
    fn who_panics_is_told() {
        let thread = start_own("panics", Box::new(|| panic!("on purpose"))).expect("a thread");
        assert!(!thread.join());
    }

    #[test]
    fn a_crew_is_waited_for() {
        let count = AtomicUsize::new(0);
        let mut crew = Crew::default();
        for _ in 0..4 {
            let work = Box::new(|| {
                count.fetch_add(1, Ordering::Relaxed);
            });
            // SAFETY: dropped below, before `count`.
            unsafe { crew.start("counts", work) }.expect("a thread");
        }
        drop(crew);
        assert_eq!(count.load(Ordering::Relaxed), 4);
    }
}
