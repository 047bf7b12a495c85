//! Memory that a JVMTI function allocated and we must free (JVMTI, "Memory Management").

use super::env::Env;
use super::object::Object;
use jni::sys::jobject;
use std::ffi::CStr;
use std::os::raw::c_char;

/// Calls the JVMTI function in a slot with two more arguments: how many values there are, and
/// where, in memory that we must free.
macro_rules! list {
    ($env:expr, $slot:ident($($argument:expr),*)) => {{
        let (mut count, mut start): (i32, *mut _) = (0, std::ptr::null_mut());
        let answer = $crate::env::call!($env, $slot($($argument,)* &mut count, &mut start));
        answer.map(|()| $crate::memory::Allocated::new($env, start, count))
    }};
}
pub(super) use list;

/// An array of `len` values from the JVM; freed when dropped.
#[derive(Debug)]
pub(super) struct Allocated<'e, T> {
    env: &'e Env,
    start: *mut T,
    len: usize,
}

impl<'e, T> Allocated<'e, T> {
    /// Takes over what a JVMTI function stored behind its out-parameters.
    ///
    /// # Safety
    /// `start` is null, or the start of `len` initialised values allocated by `env` and owned by
    /// nothing else.
    pub(super) unsafe fn new(env: &'e Env, start: *mut T, len: i32) -> Self {
        let len = if start.is_null() {
            0
        } else {
            usize::try_from(len).unwrap_or(0)
        };
        Self { env, start, len }
    }

    /// The values; empty if the function stored null.
    pub(super) fn as_slice(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: `new` requires `len` initialised values at `start`; they live until `drop`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// Takes a NUL-terminated string over: its bytes, modified UTF-8 without the NUL; none for null.
///
/// # Safety
/// `start` is null, or the start of a NUL-terminated string allocated by `env` and owned by nothing
/// else.
pub(super) unsafe fn text(env: &Env, start: *mut c_char) -> Vec<u8> {
    if start.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller promises a terminating NUL.
    let bytes = unsafe { CStr::from_ptr(start) }.to_bytes().to_vec();
    env.deallocate(start.cast());
    bytes
}

impl Allocated<'_, jobject> {
    /// The references; nulls are left out.
    ///
    /// # Safety
    /// Each is null, or a local reference made in the frame `'f`, and nothing else owns it.
    pub(super) unsafe fn objects<'f>(self) -> Vec<Object<'f>> {
        self.as_slice()
            .iter()
            // SAFETY: the caller's promise.
            .filter_map(|&raw| unsafe { Object::from_raw(raw) })
            .collect()
    }
}

impl<T> Drop for Allocated<'_, T> {
    fn drop(&mut self) {
        if !self.start.is_null() {
            self.env.deallocate(self.start.cast());
        }
    }
}
