//! The file of this library.

use std::ffi::{c_void, CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The path by which this library was loaded; `None` if the loader does not report it.
pub fn own_library() -> Option<PathBuf> {
    let here = own_library as fn() -> Option<PathBuf> as *const c_void;
    // SAFETY: zeros are a valid value, which the call fills in.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address of this library, and a value that outlives the call.
    let is_found = unsafe { libc::dladdr(here, &mut info) } != 0;
    if !is_found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a C string of the loader's, which stays while this library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_in_the_file_of_the_test() {
        let found = own_library().and_then(|path| path.canonicalize().ok());
        assert_eq!(found, std::env::current_exe().ok());
    }
}
