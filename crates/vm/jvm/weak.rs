//! Weak handles: they refer to an object as long as it lives, and do not keep it alive (JNI, "Weak
//! Global References").

use super::jni::{jni_call, jni_object, Jni};
use super::object::{Handle, Object};
use jni::sys::jobject;
use std::ptr::null_mut;
use std::sync::Arc;

/// A weak handle. The JVM keeps its slot until the handle is [released](Jni::forget_weak).
#[derive(Debug)]
pub struct Weak(jobject);

// SAFETY: weak global references may be used on every thread (JNI, "Global and Local References").
unsafe impl Send for Weak {}
// SAFETY: weak global references may be used on every thread (JNI, "Global and Local
// References").
unsafe impl Sync for Weak {}

impl Weak {
    /// The handle's bits: on HotSpot the address of the slot with the object's address, tagged in
    /// the low bits.
    ///
    /// Valid in a snapshot of the process taken before the handle is released. The slot of a
    /// collected object holds null.
    pub fn handle(&self) -> Handle {
        Handle::new(self.0 as u64)
    }

    /// A handle of no object, for tests without a JVM.
    #[cfg(any(test, feature = "invented"))]
    pub fn of_nothing() -> Self {
        Self(null_mut())
    }
}

impl<'f> Jni<'f> {
    /// A weak handle of the object; `None` if the JVM has no memory for one.
    pub fn weak(&self, object: &Object<'_>) -> Option<Weak> {
        // SAFETY: the handle is live; the answer is a weak global reference or null.
        let weak = unsafe { jni_call!(self, NewWeakGlobalRef(object.raw()), null_mut()) };
        if weak.is_null() {
            self.clear_exception();
            return None;
        }
        Some(Weak(weak))
    }

    /// The object of a weak handle; `None` if it was collected, or if the JVM has no memory for a
    /// reference.
    pub fn upgrade(&self, weak: &Weak) -> Option<Object<'f>> {
        // SAFETY: made by `weak` and not released; the result is a local reference or null.
        unsafe { jni_object!(self, NewLocalRef(weak.0)) }
    }

    /// Whether a weak handle's object was collected.
    pub fn is_gone(&self, weak: &Weak) -> bool {
        // SAFETY: made by `weak` and not released; null is allowed.
        unsafe { jni_call!(self, IsSameObject(weak.0, null_mut()), 0) != 0 }
    }

    /// Releases a shared weak handle if this is its last owner.
    pub fn forget_shared(&self, weak: Arc<Weak>) {
        if let Some(weak) = Arc::into_inner(weak) {
            self.forget_weak(weak);
        }
    }

    /// Releases a weak handle.
    pub fn forget_weak(&self, weak: Weak) {
        // SAFETY: made by `weak`; it is moved in here, so nothing uses it any more.
        unsafe { jni_call!(self, DeleteWeakGlobalRef(weak.0), ()) };
    }
}
