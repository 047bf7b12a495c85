//! The few JNI functions that the agent needs, all outside hot paths.
//!
//! None of them looks a class up by name: `FindClass` on a thread without Java frames asks the
//! application's system class loader, and may wait for a lock that the application holds.

use super::env::Vm;
use super::object::Object;
use jni::objects::{JByteArray, JClass, JObject, JString, JValue};
use jni::sys::{jfieldID, jobject};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::OnceLock;

// The types of the functions that the JVM looks up.
pub use jni::sys::{jbyteArray, jclass, jint, JNIEnv, JavaVM, JNI_ERR};

/// A thread's JNI environment during the local frame `'f`. Each frame has one, which cannot be
/// copied.
#[derive(Debug)]
pub struct Jni<'f> {
    pub(super) raw: *mut JNIEnv,
    frame: PhantomData<&'f ()>,
}

/// Calls the JNI function `$name`, or returns `$absent` if the table lacks it.
macro_rules! jni_call {
    ($jni:expr, $name:ident($($arg:expr),*), $absent:expr) => {
        match (**$jni.raw).$name {
            Some(function) => function($jni.raw $(, $arg)*),
            None => $absent,
        }
    };
}
pub(super) use jni_call;

/// The same with a function that returns an object: `None` for null, and if the table lacks it.
macro_rules! jni_object {
    ($jni:expr, $name:ident($($arg:expr),*)) => {
        $crate::object::Object::from_raw($crate::jni::jni_call!(
            $jni,
            $name($($arg),*),
            std::ptr::null_mut()
        ))
    };
}
pub(super) use jni_object;

/// Pops a local frame when dropped, even after a panic.
struct PushedFrame(*mut JNIEnv);

impl Drop for PushedFrame {
    fn drop(&mut self) {
        let jni = Jni {
            raw: self.0,
            frame: PhantomData,
        };
        // SAFETY: made by `with_frame` after it pushed a frame on this thread; none of the frame's
        // handles is left.
        unsafe { jni_call!(jni, PopLocalFrame(null_mut()), null_mut()) };
    }
}

impl<'f> Jni<'f> {
    /// Runs `body` with the environment that the JVM passed to a callback.
    ///
    /// # Safety
    /// `raw` is the calling thread's environment, valid until the callback returns.
    pub unsafe fn enter<R>(raw: *mut JNIEnv, body: impl FnOnce(&mut Jni<'_>) -> R) -> R {
        body(&mut Jni {
            raw,
            frame: PhantomData,
        })
    }

    /// Runs `body` in its own local frame: every reference created in it is released afterwards.
    ///
    /// `None` if the JVM has no memory for a frame.
    pub fn with_frame<R>(&mut self, body: impl FnOnce(&mut Jni<'_>) -> R) -> Option<R> {
        // Only -Xcheck:jni enforces this limit, with lines on stdout. It is the most that HotSpot
        // accepts.
        const CAPACITY: i32 = 65_536;
        // SAFETY: this thread's environment; the frame is popped by `PushedFrame`.
        let pushed = unsafe { jni_call!(self, PushLocalFrame(CAPACITY), -1) };
        if pushed != 0 {
            self.clear_exception();
            return None;
        }
        let _pushed = PushedFrame(self.raw);
        Some(body(&mut Jni {
            raw: self.raw,
            frame: PhantomData,
        }))
    }

    /// Clears a pending exception: the agent's failed calls must not surface in the application.
    pub(super) fn clear_exception(&self) {
        // SAFETY: allowed with and without a pending exception.
        unsafe { jni_call!(self, ExceptionClear(), ()) };
    }

    /// The class and message of a pending exception, which is cleared; `None` if there is none.
    pub fn take_exception(&self) -> Option<String> {
        // SAFETY: allowed with and without a pending exception.
        if unsafe { jni_call!(self, ExceptionCheck(), 0) } == 0 {
            return None;
        }
        let message = self.with_crate(|env| {
            let exception = env.exception_occurred()?;
            env.exception_clear()?;
            // Only for the JDK's own exceptions: their `getMessage` runs no code of the
            // application.
            let text = env.call_method(&exception, "getMessage", "()Ljava/lang/String;", &[])?;
            Ok(env.get_string((&text.l()?).into())?.into())
        });
        self.clear_exception();
        Some(message.unwrap_or_else(|| "an exception without a message".to_owned()))
    }

    /// The message of a throwable as its constructor has left it
    /// (`java.lang.Throwable.detailMessage`), without a call of its methods. `None` if there is
    /// none.
    pub fn message_of(&self, throwable: &Object<'_>) -> Option<String> {
        let message = self.with_crate(|env| {
            // SAFETY: a live local reference, which the wrapper does not release.
            let throwable = unsafe { JObject::from_raw(throwable.raw()) };
            let text = env.get_field(&throwable, "detailMessage", "Ljava/lang/String;")?;
            let text = JString::from(text.l()?);
            let message = match text.is_null() {
                true => None,
                // SAFETY: the field's type is that of a string.
                false => Some(unsafe { env.get_string_unchecked(&text) }?.into()),
            };
            env.delete_local_ref(text)?;
            Ok(message)
        });
        message.flatten()
    }

    /// The superclass, or `None` for `java.lang.Object`, interfaces and primitive types
    /// (`GetSuperclass`).
    pub fn superclass(&self, class: &Object<'_>) -> Option<Object<'f>> {
        // SAFETY: the handle is a live class; the answer is a local reference or null.
        unsafe { jni_object!(self, GetSuperclass(class.raw())) }
    }

    /// The object's class (`GetObjectClass`).
    pub fn class_of(&self, object: &Object<'_>) -> Option<Object<'f>> {
        // SAFETY: the handle is live and not null; the answer is a local reference.
        unsafe { jni_object!(self, GetObjectClass(object.raw())) }
    }

    /// Whether two references refer to the same object (`IsSameObject`).
    pub fn is_same(&self, one: &Object<'_>, other: &Object<'_>) -> bool {
        // SAFETY: both handles are live.
        unsafe { jni_call!(self, IsSameObject(one.raw(), other.raw()), 0) != 0 }
    }

    /// Releases a reference before its frame ends, for loops that create many.
    pub fn forget(&self, object: Object<'_>) {
        // SAFETY: a local reference of this thread, and the only handle to it.
        unsafe { jni_call!(self, DeleteLocalRef(object.raw()), ()) };
    }

    /// Makes the JVM link a class of the bootstrap loader, so that its fields are known; its
    /// initialiser does not run.
    ///
    /// JNI and JVMTI have no function for that. `Class.getDeclaredFields0` links first (HotSpot's
    /// `JVM_GetClassDeclaredFields`, 8 to 26); the public method would cache the fields. For other
    /// loaders' classes it could run application code, to load the types of fields. `false` if the
    /// class cannot be linked.
    pub fn link(&self, class: &Object<'_>) -> bool {
        let linked = self.with_crate(|env| {
            // SAFETY: a live local reference, which the wrapper does not release.
            let class = unsafe { JObject::from_raw(class.raw()) };
            let fields = env.call_method(
                &class,
                "getDeclaredFields0",
                "(Z)[Ljava/lang/reflect/Field;",
                &[JValue::Bool(1)],
            )?;
            Ok(fields.l()?.into_raw())
        });
        // SAFETY: null or a local reference that nothing else has.
        if let Some(fields) = linked.and_then(|fields| unsafe { Object::from_raw(fields) }) {
            self.forget(fields);
        }
        linked.is_some()
    }

    /// The environment's own address, for code that reads HotSpot's structures.
    pub fn address(&self) -> u64 {
        self.raw as u64
    }

    /// The number of a thread, virtual or not (`java.lang.Thread.tid`); `None` if this JVM keeps it
    /// elsewhere. Numbers are never reused.
    pub fn thread_number(&self, thread: &Object<'_>) -> Option<i64> {
        /// The field's id, which is constant, because the class is never unloaded.
        static TID: OnceLock<Option<usize>> = OnceLock::new();
        let field = TID.get_or_init(|| {
            let class = self.class_of(thread)?;
            let (name, descriptor) = (c"tid".as_ptr(), c"J".as_ptr());
            // SAFETY: a live class; the names are static.
            let field = unsafe {
                let class = class.raw();
                jni_call!(self, GetFieldID(class, name, descriptor), null_mut())
            };
            self.clear_exception();
            self.forget(class);
            (!field.is_null()).then_some(field as usize)
        });
        let field = (*field)? as jfieldID;
        // SAFETY: a live thread and the id of a long field that its class has.
        Some(unsafe { jni_call!(self, GetLongField(thread.raw(), field), 0) })
    }

    /// The virtual machine; `None` if the JVM does not provide it.
    pub fn vm(&self) -> Option<Vm> {
        let vm = self.with_crate(|env| Ok(env.get_java_vm()?.get_java_vm_pointer()));
        // SAFETY: the JVM's own pointer.
        vm.map(|vm| unsafe { Vm::from_raw(vm) })
    }

    /// The text in an array of bytes; invalid UTF-8 becomes U+FFFD. `None` for null, or if there is
    /// no memory.
    ///
    /// # Safety
    /// `array` is null or a valid reference to an array of bytes.
    pub unsafe fn text(&self, array: jbyteArray) -> Option<String> {
        // SAFETY: the caller's promise; the crate refuses null.
        let array = unsafe { JByteArray::from_raw(array) };
        let bytes = self.with_crate(|env| env.convert_byte_array(&array))?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The length of an array.
    pub fn array_length(&self, array: &Object<'_>) -> i32 {
        // SAFETY: a live array.
        unsafe { jni_call!(self, GetArrayLength(array.raw()), 0) }
    }

    /// An element of an array of objects; `None` if it is null, or if the index is too high.
    pub fn element(&self, array: &Object<'_>, index: i32) -> Option<Object<'f>> {
        // SAFETY: a live array of objects; the answer is a local reference or null.
        let element = unsafe { jni_object!(self, GetObjectArrayElement(array.raw(), index)) };
        if element.is_none() {
            self.clear_exception();
        }
        element
    }

    /// A new, unstarted thread of the class `java.lang.Thread`, in this group. `None` if it cannot
    /// be made.
    pub fn new_thread(
        &self,
        class: &Object<'_>,
        group: &Object<'_>,
        name: &str,
    ) -> Option<Object<'f>> {
        self.made(|env| {
            let name = env.new_string(name)?;
            // SAFETY: live local references, which the wrappers do not release.
            let (class, group) = unsafe {
                (
                    JClass::from_raw(class.raw()),
                    JObject::from_raw(group.raw()),
                )
            };
            let arguments = [JValue::Object(&group), JValue::Object(&name)];
            let thread = env.new_object(
                class,
                "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V",
                &arguments,
            )?;
            Ok(thread.into_raw())
        })
    }

    /// The object that `body` makes in the current frame. Clears an exception and returns `None`
    /// for it.
    pub(super) fn made(
        &self,
        body: impl FnOnce(&mut jni::JNIEnv<'_>) -> jni::errors::Result<jobject>,
    ) -> Option<Object<'f>> {
        // SAFETY: null, or a local reference of the current frame, which lasts at least as long as
        // `'f`; nothing else has it, as the crate's wrappers are gone.
        unsafe { Object::from_raw(self.with_crate(body)?) }
    }

    /// Runs `body` with the jni crate's wrapper. Clears an exception and returns `None` for it.
    pub(super) fn with_crate<T>(
        &self,
        body: impl FnOnce(&mut jni::JNIEnv<'_>) -> jni::errors::Result<T>,
    ) -> Option<T> {
        // SAFETY: this thread's environment, as the caller of `enter` promised.
        let mut env = unsafe { jni::JNIEnv::from_raw(self.raw) }.ok()?;
        match body(&mut env) {
            Ok(made) => Some(made),
            Err(_) => {
                self.clear_exception();
                None
            }
        }
    }
}
