//! The agent's allocator. In a child that was forked without handlers, it never calls the C
//! library's allocator.
//!
//! A fork that runs no handlers ([`jvm::os::fork_handlers`]) copies the C library's allocator as it
//! is. If another thread was inside it, the lock of its arena stays held for ever, and whatever
//! allocates or frees there hangs. So such a child has its own memory for everything written in
//! Rust. There, memory allocated before the fork is never freed; the child's exit does that.
//!
//! Block sizes are powers of two. Each size has a list of free blocks. Large free blocks give their
//! pages back to the kernel.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// The agent's allocator.
#[derive(Debug)]
pub(crate) struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Set once, in a child, before it has a second thread.
static IS_CHILD: AtomicBool = AtomicBool::new(false);
static OWN: Arena = Arena::new();

/// Makes this process (a child without other threads) use its own memory from now on. `false` if
/// the kernel grants none.
pub(super) fn use_own_memory() -> bool {
    let reserved = OWN.reserve();
    IS_CHILD.store(reserved, Ordering::Release);
    reserved
}

// SAFETY: both allocators return memory of the layout, and each gets back its own blocks: the arena
// recognises its blocks by their addresses.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_CHILD.load(Ordering::Relaxed) {
            return OWN.take(layout);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !IS_CHILD.load(Ordering::Relaxed) {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(layout) };
        }
        OWN.take_zeroed(layout)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !IS_CHILD.load(Ordering::Relaxed) {
            // SAFETY: the caller's promise.
            return unsafe { System.dealloc(block, layout) };
        }
        if OWN.has(block) {
            // SAFETY: the arena returned this block for this layout, and nothing uses it any more.
            unsafe { OWN.give_back(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        if !IS_CHILD.load(Ordering::Relaxed) {
            // SAFETY: the caller's promise.
            return unsafe { System.realloc(block, layout, new_bytes) };
        }
        let Ok(wanted) = Layout::from_size_align(new_bytes, layout.align()) else {
            return null_mut();
        };
        if OWN.has(block) && class_of(wanted) == class_of(layout) {
            return block;
        }
        let moved = OWN.take(wanted);
        if !moved.is_null() {
            // SAFETY: two blocks, each as large as its layout; the old one is no longer used.
            unsafe {
                moved.copy_from_nonoverlapping(block, layout.size().min(new_bytes));
                self.dealloc(block, layout);
            }
        }
        moved
    }
}

/// Log2 of the smallest block's bytes, enough for a link.
const LEAST_SHIFT: u32 = 4;
/// Number of block sizes.
const CLASSES: usize = 48;
/// Blocks of at least this size are aligned to it. No page of any processor is larger.
const PAGE_BYTES: usize = 64 << 10;
/// Free blocks of at least this size keep no pages.
const LARGE_BYTES: usize = 1 << 20;
/// Address space to reserve, at most and at least. It uses no memory until it is touched.
const MOST_BYTES: usize = 1 << 40;
const LEAST_BYTES: usize = 1 << 28;
/// Address space made usable at a time.
const STEP_BYTES: usize = 16 << 20;

/// A range of addresses, divided into blocks from its start.
#[derive(Debug)]
struct Arena {
    start: AtomicUsize,
    end: AtomicUsize,
    /// The lock for the next three fields.
    is_taken: AtomicBool,
    /// Start of the part that was never allocated.
    next: AtomicUsize,
    /// End of the usable part.
    usable: AtomicUsize,
    /// The first free block of each size. A free block holds the address of the next.
    free: [AtomicPtr<u8>; CLASSES],
}

/// Log2 of the smallest block that fits a layout.
fn class_of(layout: Layout) -> usize {
    let bytes = layout.size().max(layout.align()).max(1 << LEAST_SHIFT);
    let shift = usize::BITS - (bytes - 1).leading_zeros();
    (shift - LEAST_SHIFT) as usize
}

fn class_bytes(class: usize) -> usize {
    1 << (class + LEAST_SHIFT as usize)
}

impl Arena {
    const fn new() -> Self {
        Self {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            is_taken: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            usable: AtomicUsize::new(0),
            free: [const { AtomicPtr::new(null_mut()) }; CLASSES],
        }
    }

    /// Reserves as much address space as the kernel allows.
    fn reserve(&self) -> bool {
        let mut bytes = MOST_BYTES;
        while bytes >= LEAST_BYTES {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a new mapping at an address of the kernel's choice.
            let start = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
            if start != libc::MAP_FAILED {
                let start = start as usize;
                self.start.store(start, Ordering::Relaxed);
                self.next.store(start, Ordering::Relaxed);
                self.usable.store(start, Ordering::Relaxed);
                self.end.store(start + bytes, Ordering::Release);
                return true;
            }
            bytes /= 2;
        }
        false
    }

    fn has(&self, block: *mut u8) -> bool {
        let range = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Acquire);
        range.contains(&(block as usize))
    }

    /// Allocates a block; null if there is no memory.
    fn take(&self, layout: Layout) -> *mut u8 {
        let class = class_of(layout);
        let Some(free) = self.free.get(class) else {
            return null_mut();
        };
        self.lock();
        let mut block = free.load(Ordering::Relaxed);
        if block.is_null() {
            block = self.cut(class_bytes(class));
        } else {
            // SAFETY: a free block holds the address of the next one.
            free.store(unsafe { block.cast::<*mut u8>().read() }, Ordering::Relaxed);
        }
        self.unlock();
        block
    }

    /// The same, with zeros. A large block takes no memory before it is written to.
    fn take_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = self.take(layout);
        let bytes = class_bytes(class_of(layout));
        // SAFETY: a block of this size, which nothing uses.
        unsafe {
            let is_large = !block.is_null() && bytes >= LARGE_BYTES;
            let is_dropped =
                is_large && libc::madvise(block.cast(), bytes, libc::MADV_DONTNEED) == 0;
            if !block.is_null() && !is_dropped {
                block.write_bytes(0, layout.size());
            }
        }
        block
    }

    /// Cuts a block from the part that was never allocated.
    fn cut(&self, bytes: usize) -> *mut u8 {
        let align = bytes.min(PAGE_BYTES);
        let start = self.next.load(Ordering::Relaxed).next_multiple_of(align);
        let Some(end) = start.checked_add(bytes) else {
            return null_mut();
        };
        let usable = self.usable.load(Ordering::Relaxed);
        if end > self.end.load(Ordering::Relaxed) {
            return null_mut();
        }
        if end > usable {
            let more = (end - usable).next_multiple_of(STEP_BYTES);
            let more = more.min(self.end.load(Ordering::Relaxed) - usable);
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: `reserve` has mapped these addresses, and nothing uses them yet.
            if unsafe { libc::mprotect(usable as *mut libc::c_void, more, protection) } != 0 {
                return null_mut();
            }
            self.usable.store(usable + more, Ordering::Relaxed);
        }
        self.next.store(end, Ordering::Relaxed);
        start as *mut u8
    }

    /// Frees a block.
    ///
    /// # Safety
    /// `take` returned the block for this layout, and nothing uses it any more.
    unsafe fn give_back(&self, block: *mut u8, layout: Layout) {
        let class = class_of(layout);
        let Some(free) = self.free.get(class) else {
            return;
        };
        if class_bytes(class) >= LARGE_BYTES {
            // SAFETY: whole pages of a block that nothing uses.
            unsafe { libc::madvise(block.cast(), class_bytes(class), libc::MADV_DONTNEED) };
        }
        self.lock();
        // SAFETY: the block is large enough for an address, and belongs to the caller.
        unsafe { block.cast::<*mut u8>().write(free.load(Ordering::Relaxed)) };
        free.store(block, Ordering::Relaxed);
        self.unlock();
    }

    fn lock(&self) {
        while self.is_taken.swap(true, Ordering::Acquire) {
            // The lock is held only for a few loads and stores, or for a system call that maps
            // memory.
            std::hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.is_taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize, align: usize) -> Layout {
        Layout::from_size_align(bytes, align).expect("a layout")
    }

    #[test]
    fn blocks_are_large_enough_aligned_and_apart() {
        let arena = Arena::new();
        assert!(arena.reserve());
        let layouts = [(1, 1), (24, 8), (100, 64), (5000, 4096), (3 << 20, 16)];
        let mut taken = Vec::new();
        for (bytes, align) in layouts.into_iter().cycle().take(200) {
            let layout = layout(bytes, align);
            let block = arena.take(layout);
            assert!(arena.has(block) && block as usize % align == 0);
            // SAFETY: a block of this size.
            unsafe { block.write_bytes(u8::try_from(taken.len()).expect("small"), bytes) };
            taken.push((block, layout));
        }
        for (number, &(block, layout)) in taken.iter().enumerate() {
            // SAFETY: a block of this size, all of which was written.
            let bytes = unsafe { std::slice::from_raw_parts(block, layout.size()) };
            assert!(bytes.iter().all(|&byte| usize::from(byte) == number));
        }
    }

    #[test]
    fn what_is_given_back_is_used_again() {
        let arena = Arena::new();
        assert!(arena.reserve());
        for bytes in [16, 300, 2 << 20] {
            let first = arena.take(layout(bytes, 8));
            // The kernel takes back whole pages only.
            assert!(bytes < LARGE_BYTES || first as usize % PAGE_BYTES == 0);
            // SAFETY: taken for this layout.
            unsafe { arena.give_back(first, layout(bytes, 8)) };
            assert_eq!(arena.take(layout(bytes - 1, 8)), first);
            assert_ne!(arena.take(layout(bytes, 8)), first);
        }
    }

    #[test]
    fn zeros_are_zeros_again() {
        let arena = Arena::new();
        assert!(arena.reserve());
        for bytes in [40, 2 << 20] {
            let layout = layout(bytes, 8);
            for _ in 0..2 {
                let block = arena.take_zeroed(layout);
                // SAFETY: a block of this size, taken for this layout.
                unsafe {
                    let seen = std::slice::from_raw_parts(block, bytes);
                    assert!(seen.iter().all(|&byte| byte == 0));
                    block.write_bytes(7, bytes);
                    arena.give_back(block, layout);
                }
            }
        }
    }

    #[test]
    fn threads_share_it() {
        let arena = Arena::new();
        assert!(arena.reserve());
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let arena = &arena;
                scope.spawn(move || {
                    for round in 0..2000 {
                        let layout = layout(16 << (round % 6), 8);
                        let block = arena.take(layout);
                        // SAFETY: a block of this size, which no other thread has.
                        unsafe {
                            block.write_bytes(thread, layout.size());
                            std::thread::yield_now();
                            assert_eq!(block.add(layout.size() - 1).read(), thread);
                            arena.give_back(block, layout);
                        }
                    }
                });
            }
        });
    }
}
