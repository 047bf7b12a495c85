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
use std::ffi::CString;
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
    /// An array was made.
    fn new_array(&self, jni: &Jni<'_>, array: &Object<'_>, length: i32);
    /// An array of arrays was made; its arrays have up to this many dimensions.
    fn new_arrays(&self, jni: &Jni<'_>, array: &Object<'_>, dimensions: i32);
    /// From here on this thread runs the virtual thread `thread`.
    fn mount(&self, jni: &Jni<'_>, thread: &Object<'_>);
    /// The virtual thread has left this thread.
    fn unmount(&self);
    /// A method starts.
    fn method_enter(&self, jni: &Jni<'_>, number: i32);
    /// A method returns or throws.
    fn method_exit(&self, number: i32);
}

/// The native methods of the tracker, for one listener.
#[derive(Clone, Copy, Debug)]
pub struct Natives {
    object_init: *const c_void,
    error_init: *const c_void,
    new_array: *const c_void,
    new_arrays: *const c_void,
    enter: *const c_void,
    exit: *const c_void,
    mount: *const c_void,
    unmount: *const c_void,
}

impl Natives {
    /// The native methods that report to `T`.
    pub fn of<T: Tracked>() -> Self {
        Self {
            object_init: object_init::<T> as *const c_void,
            error_init: error_init::<T> as *const c_void,
            new_array: new_array::<T> as *const c_void,
            new_arrays: new_arrays::<T> as *const c_void,
            enter: enter::<T> as *const c_void,
            exit: exit::<T> as *const c_void,
            mount: mount::<T> as *const c_void,
            unmount: unmount::<T> as *const c_void,
        }
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
// SAFETY: as above.
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
            env.call_static_method(class, names::EXIT, "(I)V", &[JValue::Int(0)])?;
            Ok(self.class)
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
            env.delete_local_ref(array)?;
            Ok(self.class)
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
fn bind(jni: &Jni<'_>, class: &Object<'_>, functions: Natives) -> Result<(), JvmtiError> {
    let of_object = text("(Ljava/lang/Object;)V")?;
    let of_array = text("(Ljava/lang/Object;I)V")?;
    let of_number = text("(I)V")?;
    let of_nothing = text("()V")?;
    let natives = [
        (names::OBJECT_INIT, &of_object, functions.object_init),
        (names::ERROR_INIT, &of_object, functions.error_init),
        (names::NEW_ARRAY, &of_array, functions.new_array),
        (names::NEW_ARRAYS, &of_array, functions.new_arrays),
        (names::ENTER, &of_number, functions.enter),
        (names::EXIT, &of_number, functions.exit),
        (names::MOUNT, &of_object, functions.mount),
        (names::UNMOUNT, &of_nothing, functions.unmount),
    ];
    for (name, signature, function) in natives {
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

/// `objectInit`: the constructor of `java.lang.Object` returns.
unsafe extern "system" fn object_init<T: Tracked>(
    jni: *mut JNIEnv,
    _class: jobject,
    object: jobject,
) {
    inside(|tracked: &T| {
        // SAFETY: an argument of this native method: a local reference that the JVM itself
        // releases.
        let Some(object) = (unsafe { Object::from_raw(object) }) else {
            return;
        };
        // SAFETY: this thread's environment, valid until we return.
        unsafe { Jni::enter(jni, |jni| tracked.object_init(jni, &object)) };
    });
}

/// `errorInit`: an error that is out of memory was made.
unsafe extern "system" fn error_init<T: Tracked>(
    jni: *mut JNIEnv,
    _class: jobject,
    error: jobject,
) {
    if is_agent_thread() {
        return;
    }
    inside(|tracked: &T| {
        // SAFETY: as in `object_init`.
        let Some(error) = (unsafe { Object::from_raw(error) }) else {
            return;
        };
        // SAFETY: as in `object_init`.
        unsafe { Jni::enter(jni, |jni| tracked.error_init(jni, &error)) };
    });
}

/// `newArray`: an instruction has created an array of this length.
unsafe extern "system" fn new_array<T: Tracked>(
    jni: *mut JNIEnv,
    _class: jobject,
    array: jobject,
    length: i32,
) {
    inside(|tracked: &T| {
        // SAFETY: as in `object_init`.
        let Some(array) = (unsafe { Object::from_raw(array) }) else {
            return;
        };
        // SAFETY: as in `object_init`.
        unsafe { Jni::enter(jni, |jni| tracked.new_array(jni, &array, length)) };
    });
}

/// `newArrays`: an instruction has created an array of arrays with up to this many dimensions.
unsafe extern "system" fn new_arrays<T: Tracked>(
    jni: *mut JNIEnv,
    _class: jobject,
    array: jobject,
    dimensions: i32,
) {
    inside(|tracked: &T| {
        // SAFETY: as in `object_init`.
        let Some(array) = (unsafe { Object::from_raw(array) }) else {
            return;
        };
        // SAFETY: as in `object_init`.
        unsafe { Jni::enter(jni, |jni| tracked.new_arrays(jni, &array, dimensions)) };
    });
}

/// `mount`: from here on this thread runs the virtual thread `thread`.
unsafe extern "system" fn mount<T: Tracked>(jni: *mut JNIEnv, _class: jobject, thread: jobject) {
    inside(|tracked: &T| {
        // SAFETY: as in `object_init`.
        let Some(thread) = (unsafe { Object::from_raw(thread) }) else {
            return;
        };
        // SAFETY: as in `object_init`.
        unsafe { Jni::enter(jni, |jni| tracked.mount(jni, &thread)) };
    });
}

/// `unmount`: the virtual thread has left this thread.
unsafe extern "system" fn unmount<T: Tracked>(_jni: *mut JNIEnv, _class: jobject) {
    inside(T::unmount);
}

/// `enter`: a method starts.
unsafe extern "system" fn enter<T: Tracked>(jni: *mut JNIEnv, _class: jobject, number: i32) {
    inside(|tracked: &T| {
        // SAFETY: as in `object_init`.
        unsafe { Jni::enter(jni, |jni| tracked.method_enter(jni, number)) };
    });
}

/// `exit`: a method returns or throws.
unsafe extern "system" fn exit<T: Tracked>(_jni: *mut JNIEnv, _class: jobject, number: i32) {
    inside(|tracked: &T| tracked.method_exit(number));
}
