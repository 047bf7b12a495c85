//! The instances of one class, found by scanning the whole heap (`IterateThroughHeap`).

use super::env::{call, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::object::Object;
use super::slot;
use jni::sys::{jlong, jobject};
use std::os::raw::c_void;
use std::ptr::null_mut;

/// The tag of every instance found.
const FOUND: jlong = 1;
/// `JVMTI_VISIT_OBJECTS`.
const VISIT_OBJECTS: i32 = 0x100;

/// `jvmtiHeapCallbacks`.
#[repr(C)]
struct Callbacks([*const c_void; 16]);

impl Env {
    /// The instances of exactly this class, reachable or not.
    ///
    /// Tags them, so it needs `can_tag_objects` and an environment without other tags. The application is
    /// paused during the scan; no other objects are touched.
    pub(crate) fn instances_of<'f>(
        &self,
        frame: &Jni<'f>,
        class: &Object<'_>,
    ) -> Result<Vec<Object<'f>>, JvmtiError> {
        let mut callbacks = Callbacks([std::ptr::null(); 16]);
        let [iteration, ..] = &mut callbacks.0;
        *iteration = found as *const c_void;
        // SAFETY: types as in jvmti.h; the callback matches; no user data; class filter, no tag filter.
        unsafe {
            call!(
                self,
                slot::ITERATE_THROUGH_HEAP,
                (i32, jobject, *const Callbacks, *const c_void),
                (0, class.raw(), &callbacks, null_mut())
            )
        }?;
        let found = self.objects_with_tags(frame, &[FOUND])?;
        Ok(found.into_iter().map(|(object, _)| object).collect())
    }
}

/// `jvmtiHeapIterationCallback`: on the VM thread, at a safepoint.
unsafe extern "system" fn found(
    _class_tag: jlong,
    _size: jlong,
    tag: *mut jlong,
    _length: i32,
    _user_data: *mut c_void,
) -> i32 {
    // SAFETY: the JVM's pointer, valid until we return.
    unsafe { tag.write(FOUND) };
    VISIT_OBJECTS
}
