//! Field ids, and the values of fields as JNI reports them (JNI, "Accessing Fields of Objects").

use super::heap::{bits, Primitive};
use super::jni::{jni_call, Jni};
use super::object::Object;
use format::BasicType;
use jni::sys::{jfieldID, jvalue};
use std::ptr::null_mut;

/// A field's id: the JVM's own key, valid as long as the class is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldId(usize);

impl FieldId {
    /// Wraps the JVM's id.
    pub(super) fn from_raw(raw: jfieldID) -> Self {
        Self(raw as usize)
    }

    fn raw(self) -> jfieldID {
        self.0 as jfieldID
    }

    /// The id's bits. HotSpot encodes the field's offset in them, or makes them the address of a
    /// structure that holds the offset.
    pub fn bits(self) -> u64 {
        self.0 as u64
    }
}

impl<'f> Jni<'f> {
    /// The value of an instance field of a primitive type; `None` for references.
    pub fn primitive_field(
        &self,
        object: &Object<'_>,
        field: FieldId,
        basic_type: BasicType,
    ) -> Option<Primitive> {
        let (o, f) = (object.raw(), field.raw());
        // SAFETY: a live handle, and the id of a field of its class with this type; the caller got
        // both from the JVM for the same class.
        let value = unsafe {
            match basic_type {
                BasicType::Boolean => jvalue {
                    z: jni_call!(self, GetBooleanField, (o, f), 0),
                },
                BasicType::Byte => jvalue {
                    b: jni_call!(self, GetByteField, (o, f), 0),
                },
                BasicType::Char => jvalue {
                    c: jni_call!(self, GetCharField, (o, f), 0),
                },
                BasicType::Short => jvalue {
                    s: jni_call!(self, GetShortField, (o, f), 0),
                },
                BasicType::Int => jvalue {
                    i: jni_call!(self, GetIntField, (o, f), 0),
                },
                BasicType::Float => jvalue {
                    f: jni_call!(self, GetFloatField, (o, f), 0.0),
                },
                BasicType::Long => jvalue {
                    j: jni_call!(self, GetLongField, (o, f), 0),
                },
                BasicType::Double => jvalue {
                    d: jni_call!(self, GetDoubleField, (o, f), 0.0),
                },
                BasicType::Object => return None,
            }
        };
        // SAFETY: the member of `basic_type` was just written.
        let bits = unsafe { bits(value, basic_type) };
        Some(Primitive { basic_type, bits })
    }

    /// The object that an instance field refers to; `None` is null.
    pub fn object_field(&self, object: &Object<'_>, field: FieldId) -> Option<Object<'f>> {
        // SAFETY: as in `primitive_field`; the answer is a local reference or null.
        unsafe {
            Object::from_raw(jni_call!(
                self,
                GetObjectField,
                (object.raw(), field.raw()),
                null_mut()
            ))
        }
    }

    /// The value of a static field of a primitive type; `None` for references.
    pub fn static_primitive_field(
        &self,
        class: &Object<'_>,
        field: FieldId,
        basic_type: BasicType,
    ) -> Option<Primitive> {
        let (c, f) = (class.raw(), field.raw());
        // SAFETY: a live class, and the id of a static field of it with this type. The call does
        // not initialise the class: only looking the field up by name would run its initialiser.
        let value = unsafe {
            match basic_type {
                BasicType::Boolean => jvalue {
                    z: jni_call!(self, GetStaticBooleanField, (c, f), 0),
                },
                BasicType::Byte => jvalue {
                    b: jni_call!(self, GetStaticByteField, (c, f), 0),
                },
                BasicType::Char => jvalue {
                    c: jni_call!(self, GetStaticCharField, (c, f), 0),
                },
                BasicType::Short => jvalue {
                    s: jni_call!(self, GetStaticShortField, (c, f), 0),
                },
                BasicType::Int => jvalue {
                    i: jni_call!(self, GetStaticIntField, (c, f), 0),
                },
                BasicType::Float => jvalue {
                    f: jni_call!(self, GetStaticFloatField, (c, f), 0.0),
                },
                BasicType::Long => jvalue {
                    j: jni_call!(self, GetStaticLongField, (c, f), 0),
                },
                BasicType::Double => jvalue {
                    d: jni_call!(self, GetStaticDoubleField, (c, f), 0.0),
                },
                BasicType::Object => return None,
            }
        };
        // SAFETY: the member of `basic_type` was just written.
        let bits = unsafe { bits(value, basic_type) };
        Some(Primitive { basic_type, bits })
    }

    /// The object that a static field refers to; `None` is null.
    pub fn static_object_field(&self, class: &Object<'_>, field: FieldId) -> Option<Object<'f>> {
        // SAFETY: as in `static_primitive_field`; the answer is a local reference or null.
        unsafe {
            Object::from_raw(jni_call!(
                self,
                GetStaticObjectField,
                (class.raw(), field.raw()),
                null_mut()
            ))
        }
    }
}
