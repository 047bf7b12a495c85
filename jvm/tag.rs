//! Tags: numbers that an environment stores for objects (JVMTI, "Heap").

use super::env::{call, Env};
use super::error::JvmtiError;
use super::object::Object;
use super::slot;
use jni::sys::jobject;

impl Env {
    /// The object's tag in this environment; 0 if it has none (`GetTag`).
    pub fn tag(&self, object: &Object<'_>) -> Result<i64, JvmtiError> {
        let mut tag: i64 = 0;
        // SAFETY: types as in jvmti.h; the handle is live; `tag` outlives the call.
        unsafe {
            call!(
                self,
                slot::GET_TAG,
                (jobject, *mut i64),
                (object.raw(), &mut tag)
            )
        }?;
        Ok(tag)
    }

    /// Gives the object a tag in this environment (`SetTag`).
    pub fn set_tag(&self, object: &Object<'_>, tag: i64) -> Result<(), JvmtiError> {
        // SAFETY: types as in jvmti.h; the handle is live.
        unsafe { call!(self, slot::SET_TAG, (jobject, i64), (object.raw(), tag)) }
    }
}
