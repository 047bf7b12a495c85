//! The few JNI functions that the agent needs, all of them outside of hot paths.

use super::object::Object;
use jni::objects::JValue;
use jni::sys::{jobject, JNIEnv};
use std::marker::PhantomData;

/// A thread's JNI environment during the local frame `'f`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jni<'f> {
    raw: *mut JNIEnv,
    frame: PhantomData<&'f ()>,
}

/// Calls the JNI function `$name`, or answers `$absent` if the table lacks it.
macro_rules! jni_call {
    ($jni:expr, $name:ident, ($($arg:expr),*), $absent:expr) => {
        match (**$jni.raw).$name {
            Some(function) => function($jni.raw $(, $arg)*),
            None => $absent,
        }
    };
}

impl<'f> Jni<'f> {
    /// Runs `body` with the environment that the JVM passed to a callback.
    ///
    /// # Safety
    /// `raw` is the calling thread's environment, valid until the callback returns.
    pub(super) unsafe fn enter<R>(raw: *mut JNIEnv, body: impl FnOnce(Jni<'_>) -> R) -> R {
        body(Jni {
            raw,
            frame: PhantomData,
        })
    }

    /// Runs `body` in a local frame of its own: every reference made in it is gone afterwards.
    ///
    /// `None` if the JVM has no memory for a frame.
    pub(crate) fn with_frame<R>(self, body: impl FnOnce(Jni<'_>) -> R) -> Option<R> {
        // A hint; HotSpot refuses more than 4096 and gives more than it was asked for.
        const CAPACITY: i32 = 4096;
        // SAFETY: this thread's environment; the frame is popped below, whatever `body` does but panic,
        // and a panic ends in the callback, whose end pops all frames.
        let pushed = unsafe { jni_call!(self, PushLocalFrame, (CAPACITY), -1) };
        if pushed != 0 {
            self.clear_exception();
            return None;
        }
        let result = body(Jni {
            raw: self.raw,
            frame: PhantomData,
        });
        // SAFETY: pops the frame pushed above; the handles made in it cannot have left `body`.
        unsafe {
            jni_call!(
                self,
                PopLocalFrame,
                (std::ptr::null_mut()),
                std::ptr::null_mut()
            )
        };
        Some(result)
    }

    /// Forgets a pending exception: the agent's own failed calls must not surface in the application.
    fn clear_exception(self) {
        // SAFETY: allowed with and without a pending exception.
        unsafe { jni_call!(self, ExceptionClear, (), ()) };
    }

    /// The superclass, or `None` for `java.lang.Object`, interfaces and primitive types (`GetSuperclass`).
    pub(crate) fn superclass(self, class: Object<'_>) -> Option<Object<'f>> {
        // SAFETY: the handle is a live class; the answer is a local reference or null.
        unsafe {
            Object::from_raw(jni_call!(
                self,
                GetSuperclass,
                (class.raw()),
                std::ptr::null_mut()
            ))
        }
    }

    /// The object's class (`GetObjectClass`).
    pub(crate) fn class_of(self, object: Object<'_>) -> Option<Object<'f>> {
        // SAFETY: the handle is live and not null; the answer is a local reference.
        unsafe {
            Object::from_raw(jni_call!(
                self,
                GetObjectClass,
                (object.raw()),
                std::ptr::null_mut()
            ))
        }
    }

    /// Gives a reference back before its frame ends, for loops that make many.
    pub(crate) fn forget(self, object: Object<'_>) {
        // SAFETY: the caller gives up the handle, which is a local reference of this thread.
        unsafe { jni_call!(self, DeleteLocalRef, (object.raw()), ()) };
    }

    /// The `Class` object of a primitive type, from the field `TYPE` of its wrapper class, say `java/lang/Integer`.
    ///
    /// `None` if there is no such class or field.
    pub(crate) fn primitive_class(self, wrapper: &str) -> Option<Object<'f>> {
        let found = self.with_crate(|env| {
            let class = env.find_class(wrapper)?;
            let value = env.get_static_field(&class, "TYPE", "Ljava/lang/Class;")?;
            Ok(value.l()?.into_raw())
        })?;
        // SAFETY: a local reference of the current frame, which lasts at least as long as `'f`.
        unsafe { Object::from_raw(found) }
    }

    /// Has the JVM link a class, so that its fields are known; its initialiser does not run.
    ///
    /// There is no function for it in JNI or JVMTI. `Class.getDeclaredFields` links first (HotSpot's
    /// `JVM_GetClassDeclaredFields`, 8 to 26). `false` if the class cannot be linked.
    pub(crate) fn link(self, class: Object<'_>) -> bool {
        let linked = self.with_crate(|env| {
            // SAFETY: a live local reference, which the wrapper does not give back.
            let class = unsafe { jni::objects::JObject::from_raw(class.raw()) };
            let fields = env.call_method(
                &class,
                "getDeclaredFields",
                "()[Ljava/lang/reflect/Field;",
                &[],
            )?;
            Ok(fields.l()?.into_raw())
        });
        linked.is_some()
    }

    /// A new, unstarted `java.lang.Thread` with this name. `None` if it cannot be made.
    pub(crate) fn new_thread(self, name: &str) -> Option<Object<'f>> {
        let made = self.with_crate(|env| {
            let name = env.new_string(name)?;
            let thread = env.new_object(
                "java/lang/Thread",
                "(Ljava/lang/String;)V",
                &[JValue::Object(&name)],
            )?;
            Ok(thread.into_raw())
        })?;
        // SAFETY: as in `primitive_class`.
        unsafe { Object::from_raw(made) }
    }

    /// Runs `body` with the jni crate's wrapper; an exception is cleared and answered as `None`.
    fn with_crate(
        self,
        body: impl FnOnce(&mut jni::JNIEnv<'_>) -> jni::errors::Result<jobject>,
    ) -> Option<jobject> {
        // SAFETY: this thread's environment, as `enter` was promised.
        let mut env = unsafe { jni::JNIEnv::from_raw(self.raw) }.ok()?;
        match body(&mut env) {
            Ok(object) => Some(object),
            Err(_) => {
                self.clear_exception();
                None
            }
        }
    }
}
