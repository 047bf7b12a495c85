//! Field ids, and the values of fields as JNI reports them (JNI, "Accessing Fields of Objects").

use super::jni::{jni_call, jni_object, Jni};
use super::object::Object;
use format::BasicType;
use jni::sys::jfieldID;

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
    /// The value of an instance field of a primitive type, as bits in the host's order,
    /// zero-extended; `None` for references.
    #[allow(clippy::cast_sign_loss)] // the bits are wanted, not the number
    pub fn primitive_field(
        &self,
        object: &Object<'_>,
        field: FieldId,
        basic_type: BasicType,
    ) -> Option<u64> {
        let (o, f) = (object.raw(), field.raw());
        // SAFETY: a live handle, and the id of a field of its class with this type; the caller got
        // both from the JVM for the same class.
        Some(unsafe {
            match basic_type {
                BasicType::Boolean => jni_call!(self, GetBooleanField(o, f), 0).into(),
                BasicType::Byte => u64::from(jni_call!(self, GetByteField(o, f), 0) as u8),
                BasicType::Char => jni_call!(self, GetCharField(o, f), 0).into(),
                BasicType::Short => u64::from(jni_call!(self, GetShortField(o, f), 0) as u16),
                BasicType::Int => u64::from(jni_call!(self, GetIntField(o, f), 0) as u32),
                BasicType::Float => jni_call!(self, GetFloatField(o, f), 0.0).to_bits().into(),
                BasicType::Long => jni_call!(self, GetLongField(o, f), 0) as u64,
                BasicType::Double => jni_call!(self, GetDoubleField(o, f), 0.0).to_bits(),
                BasicType::Object => return None,
            }
        })
    }

    /// The object that an instance field refers to; `None` is null.
    pub fn object_field(&self, object: &Object<'_>, field: FieldId) -> Option<Object<'f>> {
        // SAFETY: an object and a field of its class; the answer is a local reference or null.
        unsafe { jni_object!(self, GetObjectField(object.raw(), field.raw())) }
    }

    /// The same of a static field.
    #[allow(clippy::cast_sign_loss)] // as above
    pub fn static_primitive_field(
        &self,
        class: &Object<'_>,
        field: FieldId,
        basic_type: BasicType,
    ) -> Option<u64> {
        let (c, f) = (class.raw(), field.raw());
        // SAFETY: a live class, and the id of a static field of it with this type. The call does
        // not initialise the class: only looking the field up by name would run its initialiser.
        Some(unsafe {
            match basic_type {
                BasicType::Boolean => jni_call!(self, GetStaticBooleanField(c, f), 0).into(),
                BasicType::Byte => u64::from(jni_call!(self, GetStaticByteField(c, f), 0) as u8),
                BasicType::Char => jni_call!(self, GetStaticCharField(c, f), 0).into(),
                BasicType::Short => u64::from(jni_call!(self, GetStaticShortField(c, f), 0) as u16),
                BasicType::Int => u64::from(jni_call!(self, GetStaticIntField(c, f), 0) as u32),
                BasicType::Float => jni_call!(self, GetStaticFloatField(c, f), 0.0)
                    .to_bits()
                    .into(),
                BasicType::Long => jni_call!(self, GetStaticLongField(c, f), 0) as u64,
                BasicType::Double => jni_call!(self, GetStaticDoubleField(c, f), 0.0).to_bits(),
                BasicType::Object => return None,
            }
        })
    }

    /// The object that a static field refers to; `None` is null.
    pub fn static_object_field(&self, class: &Object<'_>, field: FieldId) -> Option<Object<'f>> {
        // SAFETY: a class and a static field of it; the answer is a local reference or null.
        unsafe { jni_object!(self, GetStaticObjectField(class.raw(), field.raw())) }
    }
}
