//! Memory for tests, which they read and write by offset: private, or shared and mapped twice.

use super::memory_file::memory_file;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

/// Small pages that begin as zeros, unmapped with this value.
#[derive(Debug)]
pub(super) struct TestMemory {
    start: u64,
    bytes: u64,
}

impl TestMemory {
    pub(super) fn new(bytes: u64) -> Self {
        Self::mapped(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
    }

    /// The same memory, mapped twice.
    pub(super) fn shared(bytes: u64) -> [Self; 2] {
        Self::shared_up_to(bytes, bytes)
    }

    /// The same memory, mapped twice, whose file ends before the memory does.
    pub(super) fn shared_up_to(file_bytes: u64, bytes: u64) -> [Self; 2] {
        let file = memory_file(c"test").expect("a file");
        let end = libc::off_t::try_from(file_bytes).expect("a size");
        // SAFETY: a system call with plain numbers.
        assert_eq!(unsafe { libc::ftruncate(file.as_raw_fd(), end) }, 0);
        [0, 1].map(|_| Self::mapped(bytes, libc::MAP_SHARED, file.as_raw_fd()))
    }

    fn mapped(bytes: u64, flags: libc::c_int, file: libc::c_int) -> Self {
        let length = usize::try_from(bytes).expect("a size");
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: new memory.
        let start = unsafe {
            let start = libc::mmap(null_mut(), length, access, flags, file, 0);
            assert_ne!(start, libc::MAP_FAILED);
            libc::madvise(start, length, libc::MADV_NOHUGEPAGE);
            start as u64
        };
        Self { start, bytes }
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    fn at(&self, offset: u64) -> *mut u8 {
        assert!(offset < self.bytes);
        (self.start + offset) as *mut u8
    }

    pub(super) fn put(&self, offset: u64, value: u8) {
        // SAFETY: a byte of this memory.
        unsafe { self.at(offset).write_volatile(value) };
    }

    pub(super) fn get(&self, offset: u64) -> u8 {
        // SAFETY: a byte of this memory.
        unsafe { self.at(offset).read_volatile() }
    }

    /// Has the kernel read a file into this memory.
    pub(super) fn fill_from(&self, offset: u64, bytes: usize, file: &impl AsRawFd) {
        // SAFETY: bytes of this memory; the kernel checks the last.
        let read = unsafe { libc::read(file.as_raw_fd(), self.at(offset).cast(), bytes) };
        assert_eq!(usize::try_from(read), Ok(bytes));
    }

    /// Replaces these pages' mapping of shared memory by a new one.
    pub(super) fn map_again(&self, offset: u64, bytes: u64) {
        let bytes = usize::try_from(bytes).expect("a size");
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let place: *mut libc::c_void = self.at(offset).cast();
        // SAFETY: pages of this memory.
        unsafe {
            let copy = libc::mremap(place, 0, bytes, libc::MREMAP_MAYMOVE);
            assert_ne!(copy, libc::MAP_FAILED);
            assert_eq!(libc::mremap(copy, bytes, bytes, flags, place), place);
        }
    }

    /// Gives pages back to the kernel: they read as zeros.
    pub(super) fn give_back(&self, offset: u64, bytes: u64) {
        let bytes = usize::try_from(bytes).expect("a size");
        // SAFETY: pages of this memory.
        unsafe { libc::madvise(self.at(offset).cast(), bytes, libc::MADV_DONTNEED) };
    }
}

impl Drop for TestMemory {
    fn drop(&mut self) {
        let bytes = usize::try_from(self.bytes).unwrap_or(0);
        // SAFETY: this value's own memory.
        unsafe { libc::munmap(self.start as *mut _, bytes) };
    }
}
