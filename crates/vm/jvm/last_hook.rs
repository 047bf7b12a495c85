//! A class file hook that the JVM asks after all others.

use super::capability::{
    GENERATE_ALL_CLASS_HOOK_EVENTS, RETRANSFORM_ANY_CLASS, RETRANSFORM_CLASSES,
};
use super::env::{Env, Vm};
use super::error::JvmtiError;
use super::event::{self, Callbacks};
use super::listener::Listener;
use super::trampoline::of_file;
use jni::sys::{jobject, JNIEnv};
use jvmti_sys::jvmtiEnv;
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};

/// The callback of an environment that asks after all others, for one listener.
#[derive(Clone, Copy, Debug)]
pub struct LastHook(*const c_void);

// SAFETY: the address of a function.
unsafe impl Send for LastHook {}
// SAFETY: the address of a function.
unsafe impl Sync for LastHook {}

impl LastHook {
    /// The callback that asks `L`.
    pub fn of<L: Listener>() -> Self {
        Self(last_hook::<L> as *const c_void)
    }

    /// A new environment, which the JVM asks after all that there are now. It sees every class
    /// file; only that of `java.lang.Object` goes to the listener.
    pub fn env(self, vm: Vm) -> Result<Env, JvmtiError> {
        let env = vm.new_env()?;
        let wanted = [
            GENERATE_ALL_CLASS_HOOK_EVENTS,
            RETRANSFORM_CLASSES,
            RETRANSFORM_ANY_CLASS,
        ];
        if !env.take_capabilities(&wanted)?.is_empty() {
            return Err(JvmtiError::NOT_AVAILABLE);
        }
        let mut callbacks = Callbacks::new();
        callbacks.set(event::CLASS_FILE_LOAD_HOOK, self.0);
        // SAFETY: the function above has the signature of jvmti.h and a net.
        unsafe { env.set_event_callbacks(&callbacks) }?;
        env.notify(event::CLASS_FILE_LOAD_HOOK, true)?;
        Ok(env)
    }
}

/// `jvmtiEventClassFileLoadHook` in such an environment, about `java.lang.Object` alone.
#[allow(clippy::too_many_arguments)] // JVMTI's own signature
unsafe extern "system" fn last_hook<L: Listener>(
    _env: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _redefined: jobject,
    loader: jobject,
    name: *const c_char,
    _protection_domain: jobject,
    length: i32,
    bytes: *const u8,
    new_length: *mut i32,
    new_bytes: *mut *mut u8,
) {
    // SAFETY: null, or a C string of the JVM's, which stays until the callback returns.
    if name.is_null() || unsafe { CStr::from_ptr(name) } != c"java/lang/Object" {
        return;
    }
    let file = (bytes, length);
    // SAFETY: what the JVM passed to this callback.
    unsafe {
        of_file(
            jni,
            loader,
            file,
            (new_bytes, new_length),
            L::object_file_load_hook,
        )
    };
}
