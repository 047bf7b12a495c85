//! Functions that libjvm exports, by name.

use std::ffi::{c_void, CStr};

/// The address of a function that the JVM of this process exports; `None` if it has none of this
/// name.
pub(super) fn exported_function(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: C strings; the handle is null or one that was just opened, of a library that is there
    // already and stays.
    let address = unsafe {
        let global = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if global.is_null() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
            let library = libc::dlopen(c"libjvm.so".as_ptr(), flags);
            if library.is_null() {
                return None;
            }
            libc::dlsym(library, name.as_ptr())
        } else {
            global
        }
    };
    (!address.is_null()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_its_name_alone() {
        assert!(exported_function(c"strlen").is_some());
        assert!(exported_function(c"no_library_exports_this").is_none());
    }
}
