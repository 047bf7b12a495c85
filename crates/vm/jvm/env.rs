//! A JVMTI environment: creates it, calls its functions, disposes of it (JVMTI, "General").

use super::error::JvmtiError;
use super::slot::Slot;
use jni::sys::{JNIEnv, JavaVM, JNI_VERSION_1_6};
use jvmti_sys::jvmtiEnv;
use std::os::raw::c_void;

#[cfg(any(test, feature = "invented"))]
pub mod invented_vm;

/// `JVMTI_VERSION_1_2`: the version of JDK 8. Every newer JVM accepts it, and still lets newer
/// functions be called.
const VERSION_1_2: i32 = 0x3001_0200;

/// A JVMTI environment. Each has its own tags, capabilities and event settings.
///
/// Any thread attached to the JVM may call through it, in the phases that the specification allows.
/// It has a single owner. Dropping it disposes of the environment and its tags.
#[derive(Debug)]
pub struct Env {
    raw: *mut jvmtiEnv,
}

// SAFETY: the specification lets every attached thread use every environment.
unsafe impl Send for Env {}
// SAFETY: the specification lets every attached thread use every environment; the functions
// synchronise themselves.
unsafe impl Sync for Env {}

/// The virtual machine, which creates environments.
#[derive(Clone, Copy, Debug)]
pub struct Vm {
    raw: *mut JavaVM,
}

// SAFETY: the invocation interface is callable from every thread (JNI, "The Invocation API").
unsafe impl Send for Vm {}
// SAFETY: the invocation interface is callable from every thread (JNI, "The Invocation API").
unsafe impl Sync for Vm {}

impl Vm {
    /// Wraps the pointer that the JVM passed to an entry point.
    ///
    /// # Safety
    /// `raw` is the JVM's own pointer, valid until the process ends.
    pub unsafe fn from_raw(raw: *mut JavaVM) -> Self {
        Self { raw }
    }

    /// The JNI environment of the calling thread; `None` if it is not attached.
    ///
    /// # Safety
    /// The JVM is alive.
    pub unsafe fn jni_env(self) -> Option<*mut JNIEnv> {
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: the JVM's own pointer; `env` outlives the call.
        let answer = unsafe { ((**self.raw).GetEnv?)(self.raw, &mut env, JNI_VERSION_1_6) };
        (answer == 0 && !env.is_null()).then_some(env.cast())
    }

    /// Creates a new environment. Fails with the JNI error number if the JVM has no JVMTI.
    pub fn new_env(self) -> Result<Env, JvmtiError> {
        let mut raw: *mut c_void = std::ptr::null_mut();
        // SAFETY: `self.raw` is the JVM's pointer (`from_raw`); `raw` outlives the call.
        let answer = unsafe {
            let get_env = (**self.raw).GetEnv.ok_or(JvmtiError::NOT_AVAILABLE)?;
            get_env(self.raw, &mut raw, VERSION_1_2)
        };
        if answer != 0 || raw.is_null() {
            return Err(JvmtiError(answer));
        }
        Ok(Env { raw: raw.cast() })
    }
}

impl Env {
    /// The pointer that JVMTI functions take as their first argument.
    pub(super) fn raw(&self) -> *mut jvmtiEnv {
        self.raw
    }

    /// The function in `slot`.
    ///
    /// # Safety
    /// The environment's table extends to `slot`: true for all slots in `slot.rs`, which exist
    /// since JVMTI 1.2.
    pub(super) unsafe fn function<F: Copy>(&self, slot: Slot<F>) -> Result<F, JvmtiError> {
        // SAFETY: a jvmtiEnv points to a struct whose first word points to the function table.
        let function = unsafe {
            let table = *self.raw.cast::<*const *const c_void>();
            *table.add(slot.number - 1)
        };
        if function.is_null() {
            return Err(JvmtiError::NOT_AVAILABLE);
        }
        // SAFETY: a slot has the type of the function that stands there.
        Ok(unsafe { std::mem::transmute_copy(&function) })
    }

    /// Returns memory to the JVM. A failure is ignored, because nothing could be done about it.
    pub(super) fn deallocate(&self, memory: *mut u8) {
        // SAFETY: called only by `Allocated`, once, with memory from this environment.
        let _ = unsafe { call!(self, DEALLOCATE(memory)) };
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        // SAFETY: nothing else has the environment. One whose events are on is dropped only to end
        // them: HotSpot calls back no more, and frees what callbacks in progress use when they have
        // returned. An error is ignored: after a dump the JVM may be shutting down.
        let _ = unsafe { call!(self, DISPOSE_ENVIRONMENT()) };
    }
}

/// Calls the JVMTI function in a slot.
///
/// Each use is an unsafe block that must justify the phase, the thread and the pointers.
macro_rules! call {
    ($env:expr, $slot:ident($($argument:expr),*)) => {
        $env.function($crate::slot::$slot).and_then(|function| {
            $crate::error::JvmtiError::check(function($env.raw(), $($argument),*))
        })
    };
}
pub(super) use call;

/// The same with one more argument, a variable, whose value is the answer.
///
/// The function writes it on success, if it writes at all: a number, or a pointer that may be null.
macro_rules! get {
    ($env:expr, $slot:ident($($argument:expr),*)) => {{
        let mut answer = std::mem::zeroed();
        $crate::env::call!($env, $slot($($argument,)* &mut answer)).map(|()| answer)
    }};
}
pub(super) use get;
