//! From the JVM's event callbacks to `events`: null checks, the gate, the panic net.

use super::env::Env;
use super::error::JvmtiError;
use super::event::{self, Callbacks};
use super::jni::Jni;
use super::object::Object;
use crate::events::{self, Allocation};
use crate::session::Session;
use jni::sys::{jmethodID, jobject, JNIEnv};
use jvmti_sys::jvmtiEnv;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};

impl Env {
    /// Installs the agent's callbacks; each event must still be switched on.
    pub(crate) fn install_callbacks(&self) -> Result<(), JvmtiError> {
        let mut callbacks = Callbacks::new();
        callbacks.set(event::VM_INIT, vm_init as *const c_void);
        callbacks.set(event::VM_DEATH, vm_death as *const c_void);
        callbacks.set(event::THREAD_START, thread_start as *const c_void);
        callbacks.set(event::THREAD_END, thread_end as *const c_void);
        callbacks.set(
            event::VIRTUAL_THREAD_START,
            virtual_thread_start as *const c_void,
        );
        callbacks.set(
            event::VIRTUAL_THREAD_END,
            virtual_thread_end as *const c_void,
        );
        callbacks.set(event::CLASS_LOAD, class_load as *const c_void);
        callbacks.set(event::CLASS_PREPARE, class_prepare as *const c_void);
        callbacks.set(
            event::SAMPLED_OBJECT_ALLOC,
            sampled_object_alloc as *const c_void,
        );
        callbacks.set(
            event::COMPILED_METHOD_LOAD,
            compiled_method_load as *const c_void,
        );
        callbacks.set(event::DATA_DUMP_REQUEST, data_dump_request as *const c_void);
        // SAFETY: the functions below have the signatures of jvmti.h and a net each.
        unsafe { self.set_event_callbacks(&callbacks) }
    }
}

/// Runs `body` inside the gate; nothing happens before the session is there, after VM death, or after a panic.
fn inside(body: impl FnOnce(&'static Session)) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let Some(session) = Session::get() else {
            return;
        };
        let Some(_inside) = session.gate.enter() else {
            return;
        };
        body(session);
    }));
}

/// `jvmtiEventVMInit`.
unsafe extern "system" fn vm_init(_env: *mut jvmtiEnv, jni: *mut JNIEnv, _thread: jobject) {
    // SAFETY: this thread's environment, valid until the callback returns.
    inside(|session| unsafe { Jni::enter(jni, |jni| events::vm_init(session, jni)) });
}

/// `jvmtiEventVMDeath`. Not inside the gate: it closes it.
unsafe extern "system" fn vm_death(_env: *mut jvmtiEnv, jni: *mut JNIEnv) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let Some(session) = Session::get() else {
            return;
        };
        // SAFETY: as in `vm_init`.
        unsafe { Jni::enter(jni, |jni| events::vm_death(session, jni)) };
    }));
}

/// `jvmtiEventThreadStart`.
unsafe extern "system" fn thread_start(_env: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jobject) {
    inside(|session| {
        // SAFETY: a local reference of this callback, which the JVM gives back itself.
        if let Some(thread) = unsafe { Object::from_raw(thread) } {
            // SAFETY: as in `vm_init`.
            unsafe { Jni::enter(jni, |jni| events::thread_start(session, jni, &thread)) };
        }
    });
}

/// `jvmtiEventThreadEnd`.
unsafe extern "system" fn thread_end(_env: *mut jvmtiEnv, _jni: *mut JNIEnv, thread: jobject) {
    inside(|session| {
        // SAFETY: a local reference of this callback, which the JVM gives back itself.
        if let Some(thread) = unsafe { Object::from_raw(thread) } {
            events::thread_end(session, &thread);
        }
    });
}

/// `jvmtiEventVirtualThreadStart`.
unsafe extern "system" fn virtual_thread_start(
    _env: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    _thread: jobject,
) {
    inside(events::virtual_thread_start);
}

/// `jvmtiEventVirtualThreadEnd`.
unsafe extern "system" fn virtual_thread_end(
    _env: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    _thread: jobject,
) {
    inside(events::virtual_thread_end);
}

/// `jvmtiEventClassLoad`.
unsafe extern "system" fn class_load(
    _env: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    _thread: jobject,
    _class: jobject,
) {
    inside(events::class_load);
}

/// `jvmtiEventClassPrepare`.
unsafe extern "system" fn class_prepare(
    _env: *mut jvmtiEnv,
    _jni: *mut JNIEnv,
    _thread: jobject,
    class: jobject,
) {
    inside(|session| {
        // SAFETY: a local reference of this callback, which the JVM gives back itself.
        if let Some(class) = unsafe { Object::from_raw(class) } {
            events::class_prepare(session, &class);
        }
    });
}

/// `jvmtiEventCompiledMethodLoad`. Nothing: that somebody listens is what has HotSpot note the lines of compiled code.
unsafe extern "system" fn compiled_method_load(
    _env: *mut jvmtiEnv,
    _method: jmethodID,
    _code_bytes: i32,
    _code: *const c_void,
    _map_length: i32,
    _map: *const c_void,
    _compile_info: *const c_void,
) {
}

/// `jvmtiEventDataDumpRequest`.
unsafe extern "system" fn data_dump_request(_env: *mut jvmtiEnv) {
    inside(events::data_dump_request);
}

/// `jvmtiEventSampledObjectAlloc`.
unsafe extern "system" fn sampled_object_alloc(
    _env: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jobject,
    object: jobject,
    class: jobject,
    size_bytes: i64,
) {
    inside(|session| {
        // SAFETY: local references of this callback, which the JVM gives back itself.
        let (thread, object, class) = unsafe {
            let thread = Object::from_raw(thread);
            (thread, Object::from_raw(object), Object::from_raw(class))
        };
        let (Some(thread), Some(object), Some(class)) = (thread, object, class) else {
            return;
        };
        let allocation = Allocation {
            thread: &thread,
            object: &object,
            class: &class,
            size_bytes: u64::try_from(size_bytes).unwrap_or(0),
        };
        // SAFETY: as in `vm_init`.
        unsafe {
            Jni::enter(jni, |jni| {
                events::sampled_object_alloc(session, jni, &allocation)
            })
        };
    });
}
