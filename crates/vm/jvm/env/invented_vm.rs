//! A JVM for tests of code that keeps an environment and hardly asks it anything.
#![allow(clippy::unwrap_used)]

use super::*;

/// Functions in JVMTI's table, and some more.
const FUNCTIONS: usize = 200;

extern "system" fn does_nothing() -> i32 {
    0
}

extern "system" fn get_env(_: *mut JavaVM, env: *mut *mut c_void, _: i32) -> i32 {
    let functions: &[*const c_void] = vec![does_nothing as *const c_void; FUNCTIONS].leak();
    let made = Box::leak(Box::new(functions.as_ptr()));
    // SAFETY: the caller's out-parameter.
    unsafe { env.write(std::ptr::from_mut(made).cast()) };
    0
}

/// A JVM whose functions succeed and do nothing; it is never freed.
pub fn vm() -> Vm {
    // SAFETY: a table of functions that may be absent, and words that nobody reads.
    let mut functions: jni::sys::JNIInvokeInterface_ = unsafe { std::mem::zeroed() };
    functions.GetEnv = Some(get_env);
    let table: *const jni::sys::JNIInvokeInterface_ = Box::leak(Box::new(functions));
    Vm {
        raw: Box::leak(Box::new(table)),
    }
}

/// A reference that stands for any object.
pub fn object<'f>() -> crate::object::Object<'f> {
    let raw = std::ptr::NonNull::dangling().as_ptr();
    // SAFETY: the functions above look behind no reference.
    unsafe { crate::object::Object::from_raw(raw) }.unwrap()
}
