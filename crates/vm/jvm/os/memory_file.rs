//! Files that are memory, without a name.

use super::answers::opened;
use super::descriptor::in_reserve;
use super::seccomp::check;
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

/// A file that nobody executes (memfd_create(2), Linux 6.3). With `vm.memfd_noexec=2` there are no
/// others.
const MFD_NOEXEC_SEAL: libc::c_uint = 8;

/// A new, empty one, which a program that this process executes does not get. The name shows in
/// lists of mappings.
pub(super) fn memory_file(name: &CStr) -> io::Result<OwnedFd> {
    check(&[libc::SYS_memfd_create])?;
    let with = |flags| in_reserve(|| made(name, flags));
    with(libc::MFD_CLOEXEC | MFD_NOEXEC_SEAL).or_else(|error| match error.kind() {
        io::ErrorKind::InvalidInput => with(libc::MFD_CLOEXEC),
        _ => Err(error),
    })
}

fn made(name: &CStr, flags: libc::c_uint) -> io::Result<OwnedFd> {
    // SAFETY: a system call with a C string and a number; the descriptor is new. The C library has
    // a function for it only since glibc 2.27.
    unsafe { opened(libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags)) }
}
