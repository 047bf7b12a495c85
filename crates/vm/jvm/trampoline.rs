//! From the JVM's event callbacks to the listener: null checks, the gate, the panic net.

use super::agent_thread::is_agent_thread;
use super::env::Env;
use super::error::JvmtiError;
use super::event::{self, Callbacks};
use super::jni::Jni;
use super::listener::{Allocation, ClassFileEvent, Listener, OfMonitor};
use super::object::Object;
use jni::sys::{jmethodID, jobject, JNIEnv};
use jvmti_sys::jvmtiEnv;
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

impl Env {
    /// Has the listener called back; each event must still be switched on.
    pub fn install_callbacks<L: Listener>(&self) -> Result<(), JvmtiError> {
        let callbacks = callbacks::<L>();
        // SAFETY: the functions below have the signatures of jvmti.h and a net each.
        unsafe { self.set_event_callbacks(&callbacks) }
    }
}

/// Runs `body` inside the gate; nothing happens before there is a listener, after VM death, or
/// after a panic.
fn inside<L: Listener>(body: impl FnOnce(&'static L)) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let Some(listener) = L::current() else {
            return;
        };
        let Some(_inside) = listener.enter() else {
            return;
        };
        body(listener);
    }));
}

/// A function an event, by the arguments of `jvmti.h` after the environment, and all of them as the
/// JVM takes them.
macro_rules! callbacks {
    ($(
        $(#[$about:meta])*
        $event:ident: $name:ident($($argument:ident: $kind:ty),*) $body:block
    )*) => {
        $(
            $(#[$about])*
            #[allow(clippy::too_many_arguments)] // JVMTI's own signatures
            unsafe extern "system" fn $name<L: Listener>(
                _env: *mut jvmtiEnv,
                $($argument: $kind),*
            ) $body
        )*

        fn callbacks<L: Listener>() -> Callbacks {
            let mut all = Callbacks::new();
            $(all.set(event::$event, $name::<L> as _);)*
            all
        }
    };
}

callbacks! {
    /// `jvmtiEventVMInit`.
    VM_INIT: vm_init(jni: *mut JNIEnv, _thread: jobject) {
        // SAFETY: this thread's environment, valid until the callback returns.
        inside(|listener: &'static L| unsafe { Jni::enter(jni, |jni| listener.vm_init(jni)) });
    }

    /// `jvmtiEventVMDeath`. Not inside the gate: it closes it.
    VM_DEATH: vm_death(jni: *mut JNIEnv) {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let Some(listener) = L::current() else {
                return;
            };
            // SAFETY: this thread's environment, valid until the callback returns.
            unsafe { Jni::enter(jni, |jni| listener.vm_death(jni)) };
        }));
    }

    /// `jvmtiEventThreadStart`.
    THREAD_START: thread_start(jni: *mut JNIEnv, thread: jobject) {
        // SAFETY: this callback's arguments.
        unsafe { of_object(jni, thread, L::thread_start) };
    }

    /// `jvmtiEventThreadEnd`.
    THREAD_END: thread_end(jni: *mut JNIEnv, thread: jobject) {
        // SAFETY: this callback's arguments.
        unsafe { of_object(jni, thread, L::thread_end) };
    }

    /// `jvmtiEventClassFileLoadHook`.
    CLASS_FILE_LOAD_HOOK: class_file_load_hook(
        jni: *mut JNIEnv, _redefined: jobject, loader: jobject, _name: *const c_char,
        _protection_domain: jobject, length: i32, bytes: *const u8, new_length: *mut i32,
        new_bytes: *mut *mut u8
    ) {
        let file = (bytes, length);
        // SAFETY: what the JVM passed to this callback.
        unsafe {
            of_file(
                jni,
                loader,
                file,
                (new_bytes, new_length),
                L::class_file_load_hook,
            )
        };
    }

    /// `jvmtiEventGarbageCollectionFinish`. Not inside the gate: in a safepoint nobody may wait,
    /// and nothing is called.
    GARBAGE_COLLECTION_FINISH: garbage_collection_finish() {
        if let Some(listener) = L::current() {
            listener.garbage_collection_finish();
        }
    }

    /// `jvmtiEventClassLoad`.
    CLASS_LOAD: class_load(_jni: *mut JNIEnv, _thread: jobject, _class: jobject) {
        inside(L::class_load);
    }

    /// `jvmtiEventClassPrepare`.
    CLASS_PREPARE: class_prepare(jni: *mut JNIEnv, _thread: jobject, class: jobject) {
        // SAFETY: this callback's arguments.
        unsafe {
            of_object(jni, class, |listener: &L, _, class| {
                listener.class_prepare(class)
            })
        };
    }

    /// `jvmtiEventCompiledMethodLoad`. Nothing: that somebody listens is what has HotSpot note the
    /// lines of compiled code.
    COMPILED_METHOD_LOAD: compiled_method_load(
        _method: jmethodID, _code_bytes: i32, _code: *const c_void, _map_length: i32,
        _map: *const c_void, _compile_info: *const c_void
    ) {}

    /// `jvmtiEventDataDumpRequest`.
    DATA_DUMP_REQUEST: data_dump_request() {
        inside(L::data_dump_request);
    }

    /// `jvmtiEventResourceExhausted`. Nothing on the agent's own threads, which would wait for
    /// themselves.
    RESOURCE_EXHAUSTED: resource_exhausted(
        jni: *mut JNIEnv, flags: i32, _reserved: *const c_void, description: *const c_char
    ) {
        if is_agent_thread() {
            return;
        }
        inside(|listener: &L| {
            let what = (!description.is_null())
                // SAFETY: a C string of the JVM's, which stays until the callback returns.
                .then(|| unsafe { CStr::from_ptr(description) }.to_string_lossy());
            let kind = event::ResourceKind::of(flags);
            let what = what.unwrap_or_default();
            // SAFETY: this thread's environment, valid until the callback returns.
            unsafe { Jni::enter(jni, |jni| listener.resource_exhausted(jni, kind, &what)) };
        });
    }

    /// `jvmtiEventSampledObjectAlloc`.
    SAMPLED_OBJECT_ALLOC: sampled_object_alloc(
        jni: *mut JNIEnv, thread: jobject, object: jobject, class: jobject, size_bytes: i64
    ) {
        inside(|listener: &L| {
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
            // SAFETY: this thread's environment, valid until the callback returns.
            unsafe { Jni::enter(jni, |jni| listener.sampled_object_alloc(jni, &allocation)) };
        });
    }

    /// `jvmtiEventMonitorContendedEnter`.
    MONITOR_CONTENDED_ENTER: contended_enter(
        jni: *mut JNIEnv, thread: jobject, monitor: jobject
    ) {
        // SAFETY: what the JVM passed to this callback.
        unsafe { of_monitor(jni, thread, monitor, L::contended_enter) };
    }

    /// `jvmtiEventMonitorContendedEntered`.
    MONITOR_CONTENDED_ENTERED: contended_entered(
        jni: *mut JNIEnv, thread: jobject, monitor: jobject
    ) {
        // SAFETY: what the JVM passed to this callback.
        unsafe { of_monitor(jni, thread, monitor, L::contended_entered) };
    }

    /// `jvmtiEventMonitorWait`.
    MONITOR_WAIT: monitor_wait(
        jni: *mut JNIEnv, thread: jobject, monitor: jobject, timeout_millis: i64
    ) {
        let body = |listener: &L, jni: &Jni<'_>, of: &OfMonitor<'_, '_>| {
            listener.monitor_wait(jni, of, u64::try_from(timeout_millis).unwrap_or(0));
        };
        // SAFETY: what the JVM passed to this callback.
        unsafe { of_monitor(jni, thread, monitor, body) };
    }

    /// `jvmtiEventMonitorWaited`.
    MONITOR_WAITED: monitor_waited(
        jni: *mut JNIEnv, thread: jobject, monitor: jobject, _timed_out: u8
    ) {
        // SAFETY: what the JVM passed to this callback.
        unsafe { of_monitor(jni, thread, monitor, L::monitor_waited) };
    }
}

/// Runs `body` with the object that a callback was called with, unless it is null.
///
/// # Safety
/// Only for a callback's own arguments, while it runs.
unsafe fn of_object<L: Listener>(
    jni: *mut JNIEnv,
    object: jobject,
    body: impl FnOnce(&L, &Jni<'_>, &Object<'_>),
) {
    inside(|listener: &L| {
        // SAFETY: a local reference of this callback, which the JVM gives back itself.
        if let Some(object) = unsafe { Object::from_raw(object) } {
            // SAFETY: this thread's environment, valid until the callback returns.
            unsafe { Jni::enter(jni, |jni| body(listener, jni, &object)) };
        }
    });
}

/// Has the listener see a class file, and hands the JVM what it answers.
///
/// # Safety
/// The arguments are those of the hook.
pub(super) unsafe fn of_file<L: Listener>(
    jni: *mut JNIEnv,
    loader: jobject,
    (bytes, length): (*const u8, i32),
    (new_bytes, new_length): (*mut *mut u8, *mut i32),
    hook: fn(&L, &Jni<'_>, ClassFileEvent<'_, '_>) -> Option<Vec<u8>>,
) {
    inside(|listener: &L| {
        let Ok(count) = usize::try_from(length) else {
            return;
        };
        if bytes.is_null() {
            return;
        }
        // SAFETY: the JVM says that so many bytes are there, until the callback returns.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, count) };
        // SAFETY: a local reference of this callback, which the JVM gives back itself; null for the
        // bootstrap loader.
        let loader = unsafe { Object::from_raw(loader) };
        let file = ClassFileEvent {
            bytes,
            loader: loader.as_ref(),
        };
        // SAFETY: this thread's environment, valid until we return.
        let rewritten = unsafe { Jni::enter(jni, |jni| hook(listener, jni, file)) };
        let Some(rewritten) = rewritten else {
            return;
        };
        let (Ok(length), Some(memory)) = (
            i32::try_from(rewritten.len()),
            listener.env().hand_over(&rewritten),
        ) else {
            return;
        };
        // SAFETY: out-parameters of this callback; the memory is the JVM's from here on.
        unsafe {
            *new_length = length;
            *new_bytes = memory;
        }
    });
}

/// An event of a monitor, unless it is one of the agent's own threads.
///
/// # Safety
/// The arguments of the callback of such an event: this thread's environment, and local references
/// or null.
unsafe fn of_monitor<L: Listener>(
    jni: *mut JNIEnv,
    thread: jobject,
    monitor: jobject,
    body: impl FnOnce(&L, &Jni<'_>, &OfMonitor<'_, '_>),
) {
    if is_agent_thread() {
        return;
    }
    inside(|listener: &L| {
        // SAFETY: the caller's promise; the JVM gives the references back itself.
        let objects = unsafe { (Object::from_raw(thread), Object::from_raw(monitor)) };
        let (Some(thread), Some(monitor)) = objects else {
            return;
        };
        let of = OfMonitor {
            thread: &thread,
            monitor: &monitor,
        };
        // SAFETY: the caller's promise.
        unsafe { Jni::enter(jni, |jni| body(listener, jni, &of)) };
    });
}
