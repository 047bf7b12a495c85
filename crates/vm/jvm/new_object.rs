//! Objects that the agent makes for itself: it knows their contents, so it can check its reads
//! against them.

use super::env::{get, Env};
use super::error::JvmtiError;
use super::jni::{jni_call, jni_object, Jni};
use super::object::Object;
use format::BasicType;
/// An argument of a constructor.
pub use jni::objects::JValue;
use jni::objects::{JClass, JObject};
use jni::sys::{jarray, jobject};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether collections are held off until the process ends.
static HELD_OFF: AtomicBool = AtomicBool::new(false);

/// Whether [`Jni::hold_off_collections`] was called.
pub(crate) fn are_collections_held_off() -> bool {
    HELD_OFF.load(Ordering::Relaxed)
}

/// The heap in bytes. Dead objects count as used until they are collected.
#[derive(Clone, Copy, Debug)]
pub struct HeapBytes {
    /// In use.
    pub used: u64,
    /// Free for new objects.
    pub free: u64,
}

impl<'f> Jni<'f> {
    /// The heap's size according to `java.lang.Runtime`; `runtime` is that class. Runs its methods,
    /// and creates no object.
    pub fn heap_bytes(&self, runtime: &Object<'_>) -> Option<HeapBytes> {
        self.with_crate(|env| {
            // SAFETY: a live local reference, which the wrapper does not give back.
            let class = unsafe { JClass::from_raw(runtime.raw()) };
            let runtime = env
                .call_static_method(class, "getRuntime", "()Ljava/lang/Runtime;", &[])?
                .l()?;
            let mut ask = |method| env.call_method(&runtime, method, "()J", &[])?.j();
            let (most, total, unused) =
                (ask("maxMemory")?, ask("totalMemory")?, ask("freeMemory")?);
            let used = total.saturating_sub(unused);
            let bytes = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
            env.delete_local_ref(runtime)?;
            Ok(HeapBytes {
                used: bytes(used),
                free: bytes(most.saturating_sub(used)),
            })
        })
    }

    /// A new object, made with the constructor of this descriptor. `None` if it cannot be made.
    ///
    /// Only for classes of the bootstrap loader: a constructor is code, and it must be the JDK's.
    pub fn new_object(
        &self,
        class: &Object<'_>,
        descriptor: &str,
        arguments: &[JValue<'_, '_>],
    ) -> Option<Object<'f>> {
        self.made(|env| {
            // SAFETY: a live local reference, which the wrapper does not give back.
            let class = unsafe { JClass::from_raw(class.raw()) };
            Ok(env.new_object(class, descriptor, arguments)?.into_raw())
        })
    }

    /// A new string; `None` if there is no memory for it.
    pub fn new_string(&self, text: &str) -> Option<Object<'f>> {
        self.made(|env| Ok(env.new_string(text)?.into_raw()))
    }

    /// The object as an argument of a constructor.
    pub fn borrow<'o>(&self, object: &'o Object<'_>) -> JObject<'o> {
        // SAFETY: a live local reference; the wrapper does not give it back.
        unsafe { JObject::from_raw(object.raw()) }
    }

    /// A new array of `length` bytes, all 0; `None` if it cannot be made.
    pub fn new_array_of_bytes(&self, length: usize) -> Option<Object<'f>> {
        let length = i32::try_from(length).ok()?;
        // SAFETY: a plain function of a length; the answer is a local reference or null.
        let array = unsafe { jni_object!(self, NewByteArray(length)) };
        if array.is_none() {
            self.clear_exception();
        }
        array
    }

    /// A new array of references to `elements`; `None` if it cannot be made.
    pub fn new_object_array(
        &self,
        element_class: &Object<'_>,
        elements: &[Option<&Object<'_>>],
    ) -> Option<Object<'f>> {
        let length = i32::try_from(elements.len()).ok()?;
        // SAFETY: a live class; the answer is a local reference or null.
        let array = unsafe {
            jni_object!(
                self,
                NewObjectArray(length, element_class.raw(), null_mut())
            )
        };
        let Some(array) = array else {
            self.clear_exception();
            return None;
        };
        for (index, element) in (0..).zip(elements) {
            let element = element.map_or(null_mut(), Object::raw);
            // SAFETY: the array was made above with this length; the element is a live handle or
            // null.
            unsafe { jni_call!(self, SetObjectArrayElement(array.raw(), index, element), ()) };
        }
        self.clear_exception();
        Some(array)
    }

    /// The elements of an array of references (`GetArrayLength`, `GetObjectArrayElement`).
    pub fn elements(&self, array: &Object<'_>) -> Vec<Option<Object<'f>>> {
        let indexes = 0..self.array_length(array);
        indexes.map(|index| self.element(array, index)).collect()
    }

    /// A new array of a primitive type with these bytes, in the host's order; `None` if it cannot
    /// be made.
    pub fn new_primitive_array(&self, element_type: BasicType, bytes: &[u8]) -> Option<Object<'f>> {
        let width = element_type.size_bytes(8) as usize;
        let n = i32::try_from(bytes.len() / width).ok()?;
        // SAFETY: plain functions of a length; the answer is a local reference or null.
        let array: jarray = unsafe {
            match element_type {
                BasicType::Boolean => jni_call!(self, NewBooleanArray(n), null_mut()),
                BasicType::Byte => jni_call!(self, NewByteArray(n), null_mut()),
                BasicType::Char => jni_call!(self, NewCharArray(n), null_mut()),
                BasicType::Short => jni_call!(self, NewShortArray(n), null_mut()),
                BasicType::Int => jni_call!(self, NewIntArray(n), null_mut()),
                BasicType::Float => jni_call!(self, NewFloatArray(n), null_mut()),
                BasicType::Long => jni_call!(self, NewLongArray(n), null_mut()),
                BasicType::Double => jni_call!(self, NewDoubleArray(n), null_mut()),
                BasicType::Object => return None,
            }
        };
        // SAFETY: a local reference that JNI has just returned, or null.
        let Some(array) = (unsafe { Object::from_raw(array) }) else {
            self.clear_exception();
            return None;
        };
        self.fill(&array, bytes)?;
        Some(array)
    }

    fn fill(&self, array: &Object<'_>, bytes: &[u8]) -> Option<()> {
        let a: jobject = array.raw();
        // SAFETY: a live array of primitive values; no other JNI call comes before the release.
        let start =
            unsafe { jni_call!(self, GetPrimitiveArrayCritical(a, null_mut()), null_mut()) };
        if start.is_null() {
            self.clear_exception();
            return None;
        }
        // SAFETY: the array has as many bytes as `bytes`, as it was made for them.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast::<u8>(), bytes.len());
            jni_call!(self, ReleasePrimitiveArrayCritical(a, start, 0), ());
        }
        Some(())
    }

    /// Keeps the JVM from collecting until the process ends, if its collector pins no objects: this
    /// thread has this array in native code (`GetPrimitiveArrayCritical`) and never gives it back.
    /// At the JVM's end. Threads that need a collection wait for ever, so the agent makes no object
    /// any more ([`crate::heap_room`]).
    pub fn hold_off_collections(&self, array: &Object<'_>) {
        HELD_OFF.store(true, Ordering::Relaxed);
        let a: jobject = array.raw();
        // SAFETY: a live array. This thread needs no other array in native code.
        unsafe { jni_call!(self, GetPrimitiveArrayCritical(a, null_mut()), null_mut()) };
    }

    /// Enters the monitor of an object that no other thread knows; `false` if the JVM refuses.
    pub fn lock(&self, object: &Object<'_>) -> bool {
        // SAFETY: a live handle.
        unsafe { jni_call!(self, MonitorEnter(object.raw()), -1) == 0 }
    }

    /// Leaves the object's monitor.
    pub fn unlock(&self, object: &Object<'_>) {
        // SAFETY: a live handle, and this thread has entered its monitor.
        unsafe { jni_call!(self, MonitorExit(object.raw()), 0) };
    }
}

impl Env {
    /// The object's size in the heap, in bytes, headers and padding included (`GetObjectSize`).
    pub fn object_size_bytes(&self, object: &Object<'_>) -> Result<u64, JvmtiError> {
        // SAFETY: the handle is live.
        let size = unsafe { get!(self, GET_OBJECT_SIZE(object.raw())) }?;
        u64::try_from(size).map_err(|_| JvmtiError::INTERNAL)
    }

    /// Makes the JVM assign the object's identity hash, which it keeps in the header
    /// (`GetObjectHashCode`).
    pub fn hash(&self, object: &Object<'_>) -> Result<i32, JvmtiError> {
        // SAFETY: the handle is live.
        unsafe { get!(self, GET_OBJECT_HASH_CODE(object.raw())) }
    }
}
