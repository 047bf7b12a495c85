//! The JVM classes that rewritten code calls, and their native methods (JNI, "Class Operations" and
//! "Registering Native Methods").

use super::agent_thread::is_agent_thread;
use super::error::JvmtiError;
use super::jni::{jni_call, Jni};
use super::listener::Listener;
use super::object::Object;
use bytecode::{names, natives_class, tracker_class, PROBE};
use jni::objects::{JClass, JValue};
use jni::sys::{jfieldID, jobject, JNIEnv, JNINativeMethod, JNI_OK};
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// What rewritten code reports, each time on the thread that runs it. Not inside the gate, because
/// a counter for all calls of all threads would be a bottleneck. The tracker is disengaged before
/// the JVM ends.
pub trait Tracked: Listener {
    /// The constructor of `java.lang.Object` returns.
    fn object_init(&self, jni: &Jni<'_>, object: &Object<'_>);
    /// A constructor of `java.lang.OutOfMemoryError` returns. Not delivered on the agent's own
    /// threads.
    fn error_init(&self, jni: &Jni<'_>, error: &Object<'_>);
    /// An array was made, and its inner arrays in up to this many dimensions; 1 if it alone.
    fn new_array(&self, jni: &Jni<'_>, array: &Object<'_>, dimensions: i32);
    /// From here on this thread runs the virtual thread `thread`.
    fn mount(&self, jni: &Jni<'_>, thread: &Object<'_>);
    /// The virtual thread has left this thread.
    fn unmount(&self);
    /// A method starts.
    fn method_enter(&self, jni: &Jni<'_>, number: i32);
    /// A method returns or throws.
    fn method_exit(&self, number: i32);
}

/// The native methods of the tracker, for one listener: names, signatures, functions.
#[derive(Clone, Copy, Debug)]
pub struct Natives([(&'static str, &'static CStr, *const c_void); 7]);

impl Natives {
    /// The native methods that report to `T`.
    pub fn of<T: Tracked>() -> Self {
        let (of_object, of_array) = (c"(Ljava/lang/Object;)V", c"(Ljava/lang/Object;I)V");
        Self([
            (names::OBJECT_INIT, of_object, object_init::<T> as _),
            (names::ERROR_INIT, of_object, error_init::<T> as _),
            (names::NEW_ARRAY, of_array, new_array::<T> as _),
            (names::ENTER, c"(I)V", enter::<T> as _),
            (names::EXIT, c"(I)V", exit::<T> as _),
            (names::MOUNT, of_object, mount::<T> as _),
            (names::UNMOUNT, c"()V", unmount::<T> as _),
        ])
    }
}

/// The tracker class after its definition. It lives as long as the JVM.
#[derive(Debug)]
pub struct Tracker {
    class: jobject,
    engaged: jfieldID,
}

// SAFETY: global references and field ids may be used on every thread (JNI, "Global and Local
// References").
unsafe impl Send for Tracker {}
// SAFETY: global references and field ids may be used on every thread (JNI, "Global and Local
// References").
unsafe impl Sync for Tracker {}

impl Tracker {
    /// Defines the classes in the bootstrap loader and binds the native methods. Nothing calls them
    /// until the tracker is [engaged](Self::engage).
    ///
    /// From `VMInit` on, because the JVM cannot link them earlier. Fails if the JVM rejects a class
    /// in `java.lang`. A second call has the answer of the first.
    pub fn define(jni: &Jni<'_>, functions: Natives) -> Result<&'static Self, JvmtiError> {
        static TRACKER: OnceLock<Result<Tracker, JvmtiError>> = OnceLock::new();
        let made = TRACKER.get_or_init(|| Self::make(jni, functions));
        made.as_ref().map_err(|error| *error)
    }

    fn make(jni: &Jni<'_>, functions: Natives) -> Result<Self, JvmtiError> {
        let natives = natives_class().map_err(|_| JvmtiError::INTERNAL)?;
        let natives = define(jni, names::NATIVES, &natives)?;
        bind(jni, &natives, functions)?;
        let tracker = tracker_class().map_err(|_| JvmtiError::INTERNAL)?;
        let class = define(jni, names::TRACKER, &tracker)?;
        let (field, descriptor) = (text("engaged")?, text("I")?);
        // SAFETY: a live class; the names outlive the calls.
        let (engaged, class) = unsafe {
            let names = (field.as_ptr(), descriptor.as_ptr());
            let id = jni_call!(
                jni,
                GetStaticFieldID(class.raw(), names.0, names.1),
                null_mut()
            );
            (id, jni_call!(jni, NewGlobalRef(class.raw()), null_mut()))
        };
        if engaged.is_null() || class.is_null() {
            jni.clear_exception();
            return Err(JvmtiError::INTERNAL);
        }
        Ok(Self { class, engaged })
    }

    /// Whether a call reaches the native methods. A JVM that separated modules more strictly would
    /// otherwise throw in the application. Engage the tracker before: the test reports the end of a
    /// call that never began.
    pub fn is_heard(&self, jni: &Jni<'_>) -> bool {
        jni.with_crate(|env| {
            // SAFETY: the global reference, which the wrapper does not release.
            let class = unsafe { JClass::from_raw(self.class) };
            env.call_static_method(class, names::EXIT, "(I)V", &[JValue::Int(0)])?
                .v()
        })
        .is_some()
    }

    /// Whether `Object.wait(long, int)` forwards calls to the native methods. It must have been
    /// rewritten before.
    pub fn is_heard_through_wait(&self, jni: &Jni<'_>) -> bool {
        jni.with_crate(|env| {
            let array = env.new_int_array(0)?;
            let (millis, nanos) = PROBE;
            let arguments = [JValue::Long(millis), JValue::Int(nanos)];
            env.call_method(&array, "wait", "(JI)V", &arguments)?;
            env.delete_local_ref(array)
        })
        .is_some()
    }

    /// Switches the native methods on or off.
    pub fn engage(&self, jni: &Jni<'_>, on: bool) {
        // SAFETY: the global reference and the id of its static int field.
        unsafe {
            jni_call!(
                jni,
                SetStaticIntField(self.class, self.engaged, i32::from(on)),
                ()
            )
        };
    }
}

fn text(text: &str) -> Result<CString, JvmtiError> {
    CString::new(text).map_err(|_| JvmtiError::INTERNAL)
}

/// Defines a class in the bootstrap loader.
fn define<'f>(jni: &Jni<'f>, name: &str, bytes: &[u8]) -> Result<Object<'f>, JvmtiError> {
    let name = text(name)?;
    let length = i32::try_from(bytes.len()).map_err(|_| JvmtiError::INTERNAL)?;
    // SAFETY: this thread's environment; name and bytes outlive the call; null is the bootstrap
    // loader.
    let class = unsafe {
        let start = bytes.as_ptr().cast();
        let raw = jni_call!(
            jni,
            DefineClass(name.as_ptr(), null_mut(), start, length),
            null_mut()
        );
        Object::from_raw(raw)
    };
    class.ok_or_else(|| {
        jni.clear_exception();
        JvmtiError::NOT_AVAILABLE
    })
}

/// Binds the native methods to these functions.
fn bind(jni: &Jni<'_>, class: &Object<'_>, natives: Natives) -> Result<(), JvmtiError> {
    for (name, signature, function) in natives.0 {
        let name = text(name)?;
        let method = JNINativeMethod {
            name: name.as_ptr().cast::<c_char>().cast_mut(),
            signature: signature.as_ptr().cast::<c_char>().cast_mut(),
            fnPtr: function.cast_mut(),
        };
        // SAFETY: a live class; the names outlive the call; each function has its method's
        // signature and lets no panic escape.
        let answer = unsafe { jni_call!(jni, RegisterNatives(class.raw(), &method, 1), -1) };
        if answer != JNI_OK {
            jni.clear_exception();
            return Err(JvmtiError::INTERNAL);
        }
    }
    Ok(())
}

/// Runs `body`; a panic ends here.
fn inside<T: Tracked>(body: impl FnOnce(&'static T)) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let Some(tracked) = T::current() {
            body(tracked);
        }
    }));
}

/// Runs `body` with the object that a native method was called with, unless it is null.
///
/// # Safety
/// Only for a native method's own arguments, while it runs.
unsafe fn with_object<T: Tracked>(
    jni: *mut JNIEnv,
    object: jobject,
    body: impl FnOnce(&T, &Jni<'_>, &Object<'_>),
) {
    inside(|tracked: &T| {
        // SAFETY: a local reference that the JVM itself releases, by the caller's promise.
        if let Some(object) = unsafe { Object::from_raw(object) } {
            // SAFETY: this thread's environment, valid until the native method returns.
            unsafe { Jni::enter(jni, |jni| body(tracked, jni, &object)) };
        }
    });
}

/// `objectInit`: the constructor of `java.lang.Object` returns.
unsafe extern "system" fn object_init<T: Tracked>(
    jni: *mut JNIEnv,
    _class: jobject,
    object: jobject,
) {
    // SAFETY: this method's arguments.
    unsafe { with_object(jni, object, T::object_init) };
}

/// `errorInit`: an error that is out of memory was made.
unsafe extern "system" fn error_init<T: Tracked>(
    jni: *mut JNIEnv,
    _class: jobject,
    error: jobject,
) {
    if !is_agent_thread() {
        // SAFETY: this method's arguments.
        unsafe { with_object(jni, error, T::error_init) };
    }
}

/// `newArray`: an instruction has created an array, and inner ones in up to this many dimensions.
unsafe extern "system" fn new_array<T: Tracked>(
    jni: *mut JNIEnv,
    _class: jobject,
    array: jobject,
    dimensions: i32,
) {
    let body =
        |tracked: &T, jni: &Jni<'_>, array: &Object<'_>| tracked.new_array(jni, array, dimensions);
    // SAFETY: this method's arguments.
    unsafe { with_object(jni, array, body) };
}

/// `mount`: from here on this thread runs the virtual thread `thread`.
unsafe extern "system" fn mount<T: Tracked>(jni: *mut JNIEnv, _class: jobject, thread: jobject) {
    // SAFETY: this method's arguments.
    unsafe { with_object(jni, thread, T::mount) };
}

/// `unmount`: the virtual thread has left this thread.
unsafe extern "system" fn unmount<T: Tracked>(_jni: *mut JNIEnv, _class: jobject) {
    inside(T::unmount);
}

/// `enter`: a method starts.
unsafe extern "system" fn enter<T: Tracked>(jni: *mut JNIEnv, _class: jobject, number: i32) {
    inside(|tracked: &T| {
        // SAFETY: this thread's environment, valid until the native method returns.
        unsafe { Jni::enter(jni, |jni| tracked.method_enter(jni, number)) };
    });
}

/// `exit`: a method returns or throws.
unsafe extern "system" fn exit<T: Tracked>(_jni: *mut JNIEnv, _class: jobject, number: i32) {
    inside(|tracked: &T| tracked.method_exit(number));
}
