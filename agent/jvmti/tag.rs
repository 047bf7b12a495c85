//! Tags: numbers that an environment stores for objects (JVMTI, "Heap").

use super::env::{call, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::memory::Allocated;
use super::object::Object;
use super::slot;
use jni::sys::jobject;
use std::ptr::null_mut;

impl Env {
    /// The object's tag in this environment; 0 if it has none (`GetTag`).
    pub(crate) fn tag(&self, object: &Object<'_>) -> Result<i64, JvmtiError> {
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
    pub(crate) fn set_tag(&self, object: &Object<'_>, tag: i64) -> Result<(), JvmtiError> {
        // SAFETY: types as in jvmti.h; the handle is live.
        unsafe { call!(self, slot::SET_TAG, (jobject, i64), (object.raw(), tag)) }
    }

    /// The live objects with one of `tags`, each with its tag, in no order (`GetObjectsWithTags`).
    ///
    /// HotSpot looks at every tag of the environment, which is expensive when all objects are tagged.
    pub(crate) fn objects_with_tags<'f>(
        &self,
        _frame: &Jni<'f>,
        tags: &[i64],
    ) -> Result<Vec<(Object<'f>, i64)>, JvmtiError> {
        let wanted = i32::try_from(tags.len()).map_err(|_| JvmtiError::INTERNAL)?;
        let (mut count, mut objects, mut found): (i32, *mut jobject, *mut i64) =
            (0, null_mut(), null_mut());
        // SAFETY: types as in jvmti.h; `tags` holds `wanted` numbers; the out-parameters outlive the call.
        unsafe {
            call!(
                self,
                slot::GET_OBJECTS_WITH_TAGS,
                (i32, *const i64, *mut i32, *mut *mut jobject, *mut *mut i64),
                (wanted, tags.as_ptr(), &mut count, &mut objects, &mut found)
            )
        }?;
        // SAFETY: on success both arrays hold `count` values.
        let (objects, found) = unsafe {
            (
                Allocated::new(self, objects, count),
                Allocated::new(self, found, count),
            )
        };
        Ok(objects
            .as_slice()
            .iter()
            .zip(found.as_slice())
            // SAFETY: local references made in the current frame.
            .filter_map(|(&raw, &tag)| Some((unsafe { Object::from_raw(raw) }?, tag)))
            .collect())
    }
}
