//! Class files on their way into the JVM (JVMTI, event "Class File Load Hook"; "Class":
//! `RetransformClasses`).

use super::env::{call, get, Env};
use super::error::JvmtiError;
use super::object::Object;
use jni::sys::jobject;

impl Env {
    /// Whether the class's methods may be replaced; false for arrays, primitive types, hidden
    /// classes (`IsModifiableClass`).
    pub fn is_modifiable(&self, class: &Object<'_>) -> Result<bool, JvmtiError> {
        // SAFETY: jboolean is a byte.
        unsafe { get!(self, IS_MODIFIABLE_CLASS(class.raw())) }.map(|answer| answer != 0)
    }

    /// Makes the JVM send these classes through the hook again: all of them, or none if one fails
    /// (`RetransformClasses`). Stops the application for a moment.
    pub fn retransform(&self, classes: &[&Object<'_>]) -> Result<(), JvmtiError> {
        let raw: Vec<jobject> = classes.iter().map(|class| class.raw()).collect();
        let count = i32::try_from(raw.len()).map_err(|_| JvmtiError::INTERNAL)?;
        // SAFETY: live class references, as many as `count` says.
        unsafe { call!(self, RETRANSFORM_CLASSES(count, raw.as_ptr())) }
    }

    /// Copies the bytes into memory that the JVM takes over and frees; null if it has none
    /// (`Allocate`).
    pub(super) fn hand_over(&self, bytes: &[u8]) -> Option<*mut u8> {
        let mut memory: *mut u8 = std::ptr::null_mut();
        let size = i64::try_from(bytes.len()).ok()?;
        // SAFETY: on success `memory` has `size` bytes and belongs only to us.
        unsafe {
            call!(self, ALLOCATE(size, &mut memory)).ok()?;
            if memory.is_null() {
                return None;
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        }
        Some(memory)
    }
}
