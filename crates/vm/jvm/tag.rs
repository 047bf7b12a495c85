//! Tags: numbers that an environment stores for objects (JVMTI, "Heap").

use super::env::{call, get, Env};
use super::error::JvmtiError;
use super::object::Object;

impl Env {
    /// The object's tag in this environment; 0 if it has none (`GetTag`).
    pub fn tag(&self, object: &Object<'_>) -> Result<i64, JvmtiError> {
        // SAFETY: the handle is live.
        unsafe { get!(self, GET_TAG(object.raw())) }
    }

    /// Gives the object a tag in this environment (`SetTag`).
    pub fn set_tag(&self, object: &Object<'_>, tag: i64) -> Result<(), JvmtiError> {
        // SAFETY: the handle is live.
        unsafe { call!(self, SET_TAG(object.raw(), tag)) }
    }
}
