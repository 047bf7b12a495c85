//! Classes and their fields (JVMTI, "Class" and "Field").

use super::env::{call, get, Env};
use super::error::JvmtiError;
use super::field::FieldId;
use super::jni::Jni;
use super::memory::{list, text};
use super::method::MethodId;
use super::object::Object;
use jni::sys::jfieldID;
use std::os::raw::c_char;
use std::ptr::null_mut;

/// `ACC_STATIC` and `ACC_FINAL` (JVM specification, table 4.5-A).
const ACC_STATIC: i32 = 0x0008;
const ACC_FINAL: i32 = 0x0010;
/// `ACC_INTERFACE` and `ACC_ABSTRACT` (JVM specification, table 4.1-B).
const ACC_INTERFACE: i32 = 0x0200;
const ACC_ABSTRACT: i32 = 0x0400;
/// `JVMTI_CLASS_STATUS_PREPARED`, `_INITIALIZED`, `_ARRAY` and `_PRIMITIVE`.
const PREPARED: i32 = 2;
const INITIALIZED: i32 = 4;
const ARRAY: i32 = 16;
const PRIMITIVE: i32 = 32;

/// A field as its class file declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFacts {
    /// Modified UTF-8.
    pub name: Vec<u8>,
    /// Field descriptor, such as `I` or `Ljava/lang/String;`.
    pub descriptor: Vec<u8>,
    /// Whether it belongs to the class, not to its instances.
    pub is_static: bool,
    /// Whether it is final.
    pub is_final: bool,
    /// The JVM's id.
    pub id: FieldId,
}

impl Env {
    /// All classes that are loaded now, arrays included, of every loader (`GetLoadedClasses`).
    pub fn loaded_classes<'f>(&self, _frame: &Jni<'f>) -> Result<Vec<Object<'f>>, JvmtiError> {
        // SAFETY: on success local references made in the current frame.
        unsafe { list!(self, GET_LOADED_CLASSES()).map(|it| it.objects()) }
    }

    /// The class's signature in modified UTF-8: `Ljava/lang/String;`, `[I`, `I`
    /// (`GetClassSignature`).
    pub fn class_signature(&self, class: &Object<'_>) -> Result<Vec<u8>, JvmtiError> {
        let mut signature: *mut c_char = null_mut();
        // SAFETY: the generic signature may be null, because it is not wanted.
        unsafe {
            call!(
                self,
                GET_CLASS_SIGNATURE(class.raw(), &mut signature, null_mut())
            )
        }?;
        // SAFETY: on success a NUL-terminated string that is ours.
        Ok(unsafe { text(self, signature) })
    }

    /// The class's loader; `None` is the bootstrap loader (`GetClassLoader`).
    pub fn class_loader<'f>(
        &self,
        _frame: &Jni<'f>,
        class: &Object<'_>,
    ) -> Result<Option<Object<'f>>, JvmtiError> {
        // SAFETY: on success null or a local reference made in the current frame.
        unsafe { get!(self, GET_CLASS_LOADER(class.raw())).map(|it| Object::from_raw(it)) }
    }

    /// The ids of the class's own methods (`GetClassMethods`). The JVM creates missing ones.
    ///
    /// `CLASS_NOT_PREPARED` if the class has not been linked yet.
    pub fn method_ids(&self, class: &Object<'_>) -> Result<Vec<MethodId>, JvmtiError> {
        // SAFETY: on success method ids in memory that is ours.
        let ids = unsafe { list!(self, GET_CLASS_METHODS(class.raw())) }?;
        let ids = ids.as_slice().iter();
        Ok(ids.filter_map(|&id| MethodId::from_raw(id)).collect())
    }

    /// The class's own fields, static ones too, in the order of the class file (`GetClassFields`).
    ///
    /// `CLASS_NOT_PREPARED` if the class has not been linked yet.
    pub fn fields(&self, class: &Object<'_>) -> Result<Vec<FieldFacts>, JvmtiError> {
        // SAFETY: on success field ids in memory that is ours.
        let ids = unsafe { list!(self, GET_CLASS_FIELDS(class.raw())) }?;
        ids.as_slice()
            .iter()
            .map(|&id| self.field(class, id))
            .collect()
    }

    fn field(&self, class: &Object<'_>, id: jfieldID) -> Result<FieldFacts, JvmtiError> {
        let (mut name, mut descriptor): (*mut c_char, *mut c_char) = (null_mut(), null_mut());
        // SAFETY: `id` is a field of `class`; the generic signature is not wanted.
        unsafe {
            call!(
                self,
                GET_FIELD_NAME(class.raw(), id, &mut name, &mut descriptor, null_mut())
            )
        }?;
        // SAFETY: on success two NUL-terminated strings that are ours.
        let (name, descriptor) = unsafe { (text(self, name), text(self, descriptor)) };
        // SAFETY: `id` is a field of `class`.
        let modifiers = unsafe { get!(self, GET_FIELD_MODIFIERS(class.raw(), id)) }?;
        Ok(FieldFacts {
            name,
            descriptor,
            is_static: modifiers & ACC_STATIC != 0,
            is_final: modifiers & ACC_FINAL != 0,
            id: FieldId::from_raw(id),
        })
    }

    /// Whether the class's initialiser has run (`GetClassStatus`).
    pub fn is_initialised(&self, class: &Object<'_>) -> Result<bool, JvmtiError> {
        Ok(self.class_status(class)? & INITIALIZED != 0)
    }

    /// Whether the class could have instances, but has not been linked yet (`GetClassStatus`,
    /// `GetClassModifiers`).
    pub fn is_unlinked_concrete(&self, class: &Object<'_>) -> Result<bool, JvmtiError> {
        let is_linked = self.class_status(class)? & (PREPARED | ARRAY | PRIMITIVE) != 0;
        Ok(!is_linked && self.class_modifiers(class)? & (ACC_INTERFACE | ACC_ABSTRACT) == 0)
    }

    fn class_modifiers(&self, class: &Object<'_>) -> Result<i32, JvmtiError> {
        // SAFETY: the handle is live.
        unsafe { get!(self, GET_CLASS_MODIFIERS(class.raw())) }
    }

    fn class_status(&self, class: &Object<'_>) -> Result<i32, JvmtiError> {
        // SAFETY: the handle is live.
        unsafe { get!(self, GET_CLASS_STATUS(class.raw())) }
    }

    /// The name of the file that the class was compiled from; `ABSENT_INFORMATION` if it is not
    /// known.
    pub fn source_file_name(&self, class: &Object<'_>) -> Result<Vec<u8>, JvmtiError> {
        // SAFETY: on success a NUL-terminated string that is ours.
        unsafe {
            let name = get!(self, GET_SOURCE_FILE_NAME(class.raw()))?;
            Ok(text(self, name))
        }
    }
}
