//! The classes that a class loader has resolved, found without calling `loadClass`.

use super::jni::{jni_call, jni_object, Jni};
use super::object::Object;
use jni::sys::{jmethodID, jobject, jvalue};
use std::ptr::null_mut;

/// `java.lang.ClassLoader.findLoadedClass0`, a native method that searches the JVM's table of the
/// classes that a loader was asked for, and calls no other code. Application loaders may have a
/// method of that name, too (Tomcat's do), so it is called by class.
#[derive(Debug)]
pub struct ResolvedClasses {
    class: jobject,
    find: jmethodID,
    object_name: jobject,
}

// SAFETY: global references and method ids may be used on every thread (JNI, "Global and Local
// References").
unsafe impl Send for ResolvedClasses {}
// SAFETY: global references and method ids may be used on every thread (JNI, "Global and Local
// References").
unsafe impl Sync for ResolvedClasses {}

impl ResolvedClasses {
    /// Finds the method in the topmost class that this loader inherits from below `Object`; `None`
    /// if this JVM has no such method, or no memory.
    pub fn new(jni: &Jni<'_>, loader: &Object<'_>) -> Option<Self> {
        let mut class = jni.class_of(loader)?;
        while let Some(above) = jni.superclass(&class) {
            // java.lang.Object has no superclass.
            let Some(above_that) = jni.superclass(&above) else {
                jni.forget(above);
                break;
            };
            jni.forget(above_that);
            jni.forget(std::mem::replace(&mut class, above));
        }
        let (name, descriptor) = (
            c"findLoadedClass0",
            c"(Ljava/lang/String;)Ljava/lang/Class;",
        );
        // SAFETY: a live class; the names are static. The references are local, global or null.
        let found = unsafe {
            let names = (name.as_ptr(), descriptor.as_ptr());
            let find = jni_call!(jni, GetMethodID(class.raw(), names.0, names.1), null_mut());
            jni.clear_exception();
            let text = jni_call!(jni, NewStringUTF(c"java.lang.Object".as_ptr()), null_mut());
            let text = Object::from_raw(text)?;
            let object_name = jni_call!(jni, NewGlobalRef(text.raw()), null_mut());
            jni.forget(text);
            Self {
                class: jni_call!(jni, NewGlobalRef(class.raw()), null_mut()),
                find,
                object_name,
            }
        };
        jni.forget(class);
        jni.clear_exception();
        let is_whole =
            !found.class.is_null() && !found.find.is_null() && !found.object_name.is_null();
        is_whole.then_some(found)
    }

    /// Whether the loader was asked for `java.lang.Object` before, so that the JVM does not ask it
    /// again.
    pub fn have_object(&self, jni: &Jni<'_>, loader: &Object<'_>) -> bool {
        let arguments = [jvalue {
            l: self.object_name,
        }];
        // SAFETY: a live loader, the method's class and id, and its one argument; the result is a
        // local reference or null.
        let found = unsafe {
            jni_object!(
                jni,
                CallNonvirtualObjectMethodA(
                    loader.raw(),
                    self.class,
                    self.find,
                    arguments.as_ptr()
                )
            )
        };
        jni.clear_exception();
        let Some(found) = found else {
            return false;
        };
        jni.forget(found);
        true
    }
}
