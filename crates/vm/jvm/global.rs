//! Global references: objects that the agent keeps alive for later calls (JNI, "Global
//! References").

use super::jni::{jni_call, jni_object, Jni};
use super::object::{Handle, Object};
use jni::sys::jobject;
use std::ptr::null_mut;

/// Keeps an object alive until it is [taken back](Jni::take_back).
#[derive(Debug)]
pub struct Global(jobject);

// SAFETY: global references may be used on every thread (JNI, "Global and Local References").
unsafe impl Send for Global {}

impl Global {
    /// The reference's bits: on HotSpot the address of the slot with the object's address, and
    /// marks in the low bits.
    pub fn handle(&self) -> Handle {
        Handle::new(self.0 as u64)
    }
}

impl<'f> Jni<'f> {
    /// Keeps the object alive; `None` if the JVM has no memory for the reference.
    pub fn keep(&self, object: &Object<'_>) -> Option<Global> {
        // SAFETY: the handle is live; the answer is a global reference or null.
        let global = unsafe { jni_call!(self, NewGlobalRef(object.raw()), null_mut()) };
        if global.is_null() {
            self.clear_exception();
            return None;
        }
        Some(Global(global))
    }

    /// The object, which from now on only the local frame keeps alive; `None` if the JVM has no
    /// memory for the reference.
    pub fn take_back(&self, global: Global) -> Option<Object<'f>> {
        // SAFETY: made by `keep`, and moved in here, so nothing uses it any more; the result is a
        // local reference of the current frame or null.
        unsafe {
            let local = jni_object!(self, NewLocalRef(global.0));
            jni_call!(self, DeleteGlobalRef(global.0), ());
            local
        }
    }

    /// The object, for the current local frame; `None` if the JVM has no memory for the reference.
    pub fn local(&self, global: &Global) -> Option<Object<'f>> {
        // SAFETY: made by `keep`, and still there; the result is a local reference of the current
        // frame or null.
        unsafe { jni_object!(self, NewLocalRef(global.0)) }
    }

    /// Gives the reference back.
    pub fn forget_global(&self, global: Global) {
        // SAFETY: made by `keep`, and moved in here, so nobody uses it any more.
        unsafe { jni_call!(self, DeleteGlobalRef(global.0), ()) };
    }
}
