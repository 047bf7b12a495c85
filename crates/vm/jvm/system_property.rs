//! The JVM's properties (JVMTI, "System Properties").

use super::env::{call, Env};
use super::error::JvmtiError;
use super::memory::Allocated;
use std::ffi::CStr;
use std::os::raw::c_char;
use std::ptr::null_mut;

impl Env {
    /// The value of a system property as the JVM set it (`GetSystemProperty`), ignoring changes by
    /// the application. `NOT_AVAILABLE` if there is none of that name.
    pub fn system_property(&self, name: &CStr) -> Result<Vec<u8>, JvmtiError> {
        let mut value: *mut c_char = null_mut();
        // SAFETY: the name and `value` outlive the call.
        unsafe { call!(self, GET_SYSTEM_PROPERTY(name.as_ptr(), &mut value)) }?;
        // SAFETY: on success a NUL-terminated string that is ours.
        Ok(unsafe { Allocated::string(self, value) }.to_bytes())
    }
}
