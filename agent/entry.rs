//! The functions that the JVM finds in the library by name: three by JVMTI, "Start-Up" and
//! "Shutdown", and a native method of the jar (`java/`).
#![allow(unsafe_code)]

use crate::attached;
use crate::session;
use jvm::env::Vm;
use jvm::jni::{jbyteArray, jclass, jint, JNIEnv, JavaVM, Jni, JNI_ERR};
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Called by the JVM at startup, for `-agentpath`. 0: continue; otherwise the JVM does not start.
///
/// # Safety
/// Called only by the JVM, with the arguments that the specification gives.
#[no_mangle]
pub(crate) unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    // SAFETY: the JVM's own pointer, and a NUL-terminated string or null.
    let (vm, options) = unsafe { (Vm::from_raw(vm), text(options)) };
    net(JNI_ERR, || session::load(vm, &options))
}

/// Called by the JVM on one of its threads each time the library is attached. 0: the command
/// succeeded.
///
/// # Safety
/// Called only by the JVM, with the arguments that the specification gives.
#[no_mangle]
pub(crate) unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    // SAFETY: the JVM's own pointer, and a NUL-terminated string or null.
    let (vm, options) = unsafe { (Vm::from_raw(vm), text(options)) };
    net(JNI_ERR, || {
        // SAFETY: the calling thread, which serves attach commands, is attached.
        let Some(env) = (unsafe { vm.jni_env() }) else {
            return JNI_ERR;
        };
        // SAFETY: this thread's environment, valid until we return.
        unsafe { Jni::enter(env, |jni| attached::attach(vm, jni, &options)) }
    })
}

/// `static native int obey(byte[] options)` of the jar's class `hprofrs.Agent`: a command, as for
/// [`Agent_OnAttach`], with the same answer. The options are UTF-8.
///
/// # Safety
/// Called only by the JVM, on an attached thread.
#[no_mangle]
pub(crate) unsafe extern "system" fn Java_hprofrs_Agent_obey(
    env: *mut JNIEnv,
    _class: jclass,
    options: jbyteArray,
) -> jint {
    net(JNI_ERR, || {
        // SAFETY: the arguments of a native method, valid until we return.
        unsafe {
            Jni::enter(env, |jni| match (jni.vm(), jni.text(options)) {
                (Some(vm), Some(options)) => attached::attach(vm, jni, &options),
                _ => JNI_ERR,
            })
        }
    })
}

/// Called by the JVM before it unloads the library. Nothing is left to do: all was done at VM
/// death.
///
/// # Safety
/// Called only by the JVM.
#[no_mangle]
pub(crate) unsafe extern "system" fn Agent_OnUnload(_vm: *mut JavaVM) {}

/// The option string; "" for null. Invalid UTF-8 becomes U+FFFD, so that the option is rejected.
///
/// # Safety
/// Null or a NUL-terminated string.
unsafe fn text(options: *const c_char) -> String {
    if options.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(options) }
        .to_string_lossy()
        .into_owned()
}

/// Runs `body`; a panic becomes `broken` instead of ending the JVM.
fn net(broken: jint, body: impl FnOnce() -> jint) -> jint {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(broken)
}
