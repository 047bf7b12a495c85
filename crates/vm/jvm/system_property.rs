//! The JVM's properties (JVMTI, "System Properties").

use super::env::{get, Env};
use super::error::JvmtiError;
use super::memory::text;
use std::ffi::CStr;

impl Env {
    /// The value of a system property as the JVM set it (`GetSystemProperty`), ignoring changes by
    /// the application. `NOT_AVAILABLE` if there is none of that name.
    pub fn system_property(&self, name: &CStr) -> Result<Vec<u8>, JvmtiError> {
        // SAFETY: the name outlives the call. On success a NUL-terminated string that is ours.
        unsafe {
            let value = get!(self, GET_SYSTEM_PROPERTY(name.as_ptr()))?;
            Ok(text(self, value))
        }
    }
}
