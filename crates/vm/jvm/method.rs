//! Methods (JVMTI, "Method").

use super::env::{call, get, Env};
use super::error::JvmtiError;
use super::jni::Jni;
use super::memory::{list, text};
use super::object::Object;
use jni::sys::jmethodID;
use std::os::raw::c_char;
use std::ptr::null_mut;

/// A method's id: a key, never a pointer to follow. It is valid as long as its class is loaded.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodId(usize);

impl MethodId {
    /// Wraps an id; `None` for null, which the heap walk reports for a thread without Java frames.
    pub fn from_raw(raw: jmethodID) -> Option<Self> {
        (!raw.is_null()).then_some(Self(raw as usize))
    }

    fn raw(self) -> jmethodID {
        self.0 as jmethodID
    }

    /// The id's bits, for sending to another process.
    pub fn bits(self) -> u64 {
        self.0 as u64
    }

    /// The id with these bits.
    ///
    /// # Safety
    /// The JVM of this process created the id, or the id refers to the same method in this HotSpot.
    pub unsafe fn from_bits(bits: u64) -> Option<Self> {
        usize::try_from(bits)
            .ok()
            .filter(|&bits| bits != 0)
            .map(Self)
    }

    /// An arbitrary id, for tests of code that only compares ids.
    #[cfg(any(test, feature = "invented"))]
    pub fn for_test(key: usize) -> Self {
        Self(key)
    }
}

/// The first bytecode of a source line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStart {
    /// Index of the bytecode.
    pub location: i64,
    /// Line number, from 1.
    pub line: u32,
}

impl Env {
    /// Name and descriptor in modified UTF-8 (`GetMethodName`). `INVALID_METHODID` if its class is
    /// unloaded.
    pub fn method_name(&self, method: MethodId) -> Result<(Vec<u8>, Vec<u8>), JvmtiError> {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (null_mut(), null_mut());
        // SAFETY: the JVM itself checks the id; the generic signature is not
        // wanted.
        unsafe {
            call!(
                self,
                GET_METHOD_NAME(method.raw(), &mut name, &mut descriptor, null_mut())
            )
        }?;
        // SAFETY: on success two NUL-terminated strings that are ours.
        let (name, descriptor) = unsafe { (text(self, name), text(self, descriptor)) };
        Ok((name, descriptor))
    }

    /// The class that declares the method (`GetMethodDeclaringClass`).
    pub fn declaring_class<'f>(
        &self,
        _frame: &Jni<'f>,
        method: MethodId,
    ) -> Result<Object<'f>, JvmtiError> {
        // SAFETY: the JVM itself checks the id. On success a local reference made in the current
        // frame.
        let class =
            unsafe { Object::from_raw(get!(self, GET_METHOD_DECLARING_CLASS(method.raw()))?) };
        class.ok_or(JvmtiError::INTERNAL)
    }

    /// Whether the method is native (`IsMethodNative`).
    pub fn is_native(&self, method: MethodId) -> Result<bool, JvmtiError> {
        // SAFETY: the JVM itself checks the id; jboolean is a byte.
        unsafe { get!(self, IS_METHOD_NATIVE(method.raw())) }.map(|native| native != 0)
    }

    /// The method's code as it is now, including inserted code; needs the capability
    /// (`GetBytecodes`).
    pub fn bytecodes(&self, method: MethodId) -> Result<Vec<u8>, JvmtiError> {
        // SAFETY: the JVM itself checks the id. On success bytes in memory that is ours.
        let code = unsafe { list!(self, GET_BYTECODES(method.raw())) }?;
        Ok(code.as_slice().to_vec())
    }

    /// The start of each line, in the JVM's order (`GetLineNumberTable`); an error if unknown.
    pub fn line_starts(&self, method: MethodId) -> Result<Vec<LineStart>, JvmtiError> {
        // SAFETY: the JVM itself checks the id. On success entries in memory that is ours.
        let table = unsafe { list!(self, GET_LINE_NUMBER_TABLE(method.raw())) }?;
        Ok(table
            .as_slice()
            .iter()
            .map(|entry| LineStart {
                location: entry.start_location,
                line: u32::try_from(entry.line_number).unwrap_or(0),
            })
            .collect())
    }
}
