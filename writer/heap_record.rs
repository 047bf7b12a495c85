//! Sub-records of a heap dump: roots, classes, instances, arrays.
//!
//! Source: format text, the tables under HEAP DUMP. Stateless: any thread, including the VM thread,
//! may encode into its own buffer. A sub-record has no length field, so after a failed `encode` its
//! buffer must be truncated to its earlier length; [`crate::Segments::record`] does that. The
//! errors are [`WriteError::TooLarge`] and [`WriteError::BrokenArray`].

use format::BasicType;
use tables::{ObjectId, StringId, ThreadId, TraceId};

use crate::encoder::{put_object, put_string, put_type, put_u1, put_u2, put_u4, put_u8, u2, Head};
use crate::WriteError;
use format::{heap, NO_FRAME};

/// Why an object is alive although no object refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootRecord {
    /// Held by a global JNI reference; its own number is 0 if unknown.
    JniGlobal(ObjectId, u64),
    /// Held by a local JNI reference of a thread and a frame; `None` if it belongs to no frame.
    JniLocal(ObjectId, ThreadId, Option<u32>),
    /// Held by a local variable of a thread and a frame; `None` if the frame is unknown.
    JavaFrame(ObjectId, ThreadId, Option<u32>),
    /// A class that is never unloaded.
    StickyClass(ObjectId),
    /// An object whose monitor is in use.
    MonitorUsed(ObjectId),
    /// A live thread and its stack.
    ThreadObject(ObjectId, ThreadId, TraceId),
    /// Held by a thread, but not by its stack.
    ThreadBlock(ObjectId, ThreadId),
}

impl RootRecord {
    /// Held by the JVM itself: a global whose reference is the object, which no reference can be.
    pub(crate) fn of_jvm(object: ObjectId) -> Self {
        Self::JniGlobal(object, object.get())
    }

    /// Appends the sub-record. Never an error.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        match *self {
            Self::JniGlobal(object, reference) => {
                root(out, heap::ROOT_JNI_GLOBAL, object);
                put_u8(out, reference);
            }
            Self::JniLocal(object, thread, frame) => {
                root(out, heap::ROOT_JNI_LOCAL, object);
                put_u4(out, thread.get());
                put_u4(out, frame.unwrap_or(NO_FRAME));
            }
            Self::JavaFrame(object, thread, frame) => {
                root(out, heap::ROOT_JAVA_FRAME, object);
                put_u4(out, thread.get());
                put_u4(out, frame.unwrap_or(NO_FRAME));
            }
            Self::StickyClass(object) => root(out, heap::ROOT_STICKY_CLASS, object),
            Self::MonitorUsed(object) => root(out, heap::ROOT_MONITOR_USED, object),
            Self::ThreadObject(object, thread, trace) => {
                root(out, heap::ROOT_THREAD_OBJ, object);
                put_u4(out, thread.get());
                put_u4(out, trace.get());
            }
            Self::ThreadBlock(object, thread) => {
                root(out, heap::ROOT_THREAD_BLOCK, object);
                put_u4(out, thread.get());
            }
        }
        Ok(())
    }
}

fn root(out: &mut Vec<u8>, tag: u8, object: ObjectId) {
    put_u1(out, tag);
    put_object(out, Some(object));
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A reference; `None` is null.
    Object(Option<ObjectId>),
    /// A `boolean`.
    Boolean(bool),
    /// A `char`, one UTF-16 unit.
    Char(u16),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A `byte`.
    Byte(i8),
    /// A `short`.
    Short(i16),
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
}

impl Value {
    /// The initial value of a field of this type: null, false or 0.
    pub fn zero(basic_type: BasicType) -> Self {
        match basic_type {
            BasicType::Object => Self::Object(None),
            BasicType::Boolean => Self::Boolean(false),
            BasicType::Char => Self::Char(0),
            BasicType::Float => Self::Float(0.0),
            BasicType::Double => Self::Double(0.0),
            BasicType::Byte => Self::Byte(0),
            BasicType::Short => Self::Short(0),
            BasicType::Int => Self::Int(0),
            BasicType::Long => Self::Long(0),
        }
    }

    /// The value of this type from its bits in memory, zero-extended; for a reference the object's
    /// address, 0 for null.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // `bits` is zero-extended
    pub fn of_bits(basic_type: BasicType, bits: u64) -> Self {
        match basic_type {
            BasicType::Object => Self::Object(ObjectId::new(bits)),
            BasicType::Boolean => Self::Boolean(bits != 0),
            BasicType::Byte => Self::Byte(bits as u8 as i8),
            BasicType::Char => Self::Char(bits as u16),
            BasicType::Short => Self::Short(bits as u16 as i16),
            BasicType::Int => Self::Int(bits as u32 as i32),
            BasicType::Float => Self::Float(f32::from_bits(bits as u32)),
            BasicType::Long => Self::Long(bits as i64),
            BasicType::Double => Self::Double(f64::from_bits(bits)),
        }
    }

    /// The type as HPROF numbers it.
    pub fn basic_type(&self) -> BasicType {
        match self {
            Self::Object(_) => BasicType::Object,
            Self::Boolean(_) => BasicType::Boolean,
            Self::Char(_) => BasicType::Char,
            Self::Float(_) => BasicType::Float,
            Self::Double(_) => BasicType::Double,
            Self::Byte(_) => BasicType::Byte,
            Self::Short(_) => BasicType::Short,
            Self::Int(_) => BasicType::Int,
            Self::Long(_) => BasicType::Long,
        }
    }

    /// Appends just the value, big-endian, in the width of its type.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Object(object) => put_object(out, object),
            Self::Boolean(value) => put_u1(out, u8::from(value)),
            Self::Char(value) => put_u2(out, value),
            Self::Float(value) => out.extend_from_slice(&value.to_be_bytes()),
            Self::Double(value) => out.extend_from_slice(&value.to_be_bytes()),
            Self::Byte(value) => out.extend_from_slice(&value.to_be_bytes()),
            Self::Short(value) => out.extend_from_slice(&value.to_be_bytes()),
            Self::Int(value) => out.extend_from_slice(&value.to_be_bytes()),
            Self::Long(value) => out.extend_from_slice(&value.to_be_bytes()),
        }
    }
}

/// A static field and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticField {
    /// The field's name.
    pub name: StringId,
    /// Its value at the dump.
    pub value: Value,
}

/// A class: its superclass, its static fields, the fields of its instances.
///
/// The constant pool is always written as empty, and the trace as the empty one: references from
/// the constant pool are static fields with invented names, because readers skip the pool itself.
#[derive(Clone, Copy, Debug)]
pub struct ClassDump<'a> {
    /// The class object.
    pub class: ObjectId,
    /// The superclass; `None` for `java.lang.Object` and interfaces.
    pub super_class: Option<ObjectId>,
    /// The defining loader; `None` is the bootstrap loader.
    pub loader: Option<ObjectId>,
    /// The signers, an array; `None` if there are none.
    pub signers: Option<ObjectId>,
    /// The protection domain; `None` if there is none.
    pub protection_domain: Option<ObjectId>,
    /// Bytes of an instance's field data: own and inherited, no header, references at 8 bytes.
    pub instance_size_bytes: u32,
    /// The class's own static fields.
    pub statics: &'a [StaticField],
    /// The class's own instance fields, in the order of the instance data.
    pub fields: &'a [(StringId, BasicType)],
}

impl ClassDump<'_> {
    /// Appends the sub-record; an error if there are more than 65,535 fields of a kind.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        put_u1(out, heap::CLASS_DUMP);
        put_object(out, Some(self.class));
        put_u4(out, TraceId::EMPTY.get());
        put_object(out, self.super_class);
        put_object(out, self.loader);
        put_object(out, self.signers);
        put_object(out, self.protection_domain);
        put_u8(out, 0);
        put_u8(out, 0);
        put_u4(out, self.instance_size_bytes);
        put_u2(out, 0);
        put_u2(out, u2("the number of static fields", self.statics.len())?);
        for field in self.statics {
            put_string(out, field.name);
            put_type(out, field.value.basic_type());
            field.value.encode(out);
        }
        put_u2(out, u2("the number of instance fields", self.fields.len())?);
        for &(name, basic_type) in self.fields {
            put_string(out, name);
            put_type(out, basic_type);
        }
        Ok(())
    }
}

/// The part before the field values of an instance.
#[derive(Clone, Copy, Debug)]
pub struct InstanceHeader {
    /// The object.
    pub object: ObjectId,
    /// Its allocation trace; [`TraceId::EMPTY`] if unknown.
    pub trace: TraceId,
    /// Its class object.
    pub class: ObjectId,
}

impl InstanceHeader {
    /// Appends the sub-record up to its `data_bytes` of field values, which the caller appends.
    #[inline]
    pub fn encode(&self, data_bytes: u32, out: &mut Vec<u8>) {
        Head::<25>::new()
            .with([heap::INSTANCE_DUMP])
            .with(self.object.get().to_be_bytes())
            .with(self.trace.get().to_be_bytes())
            .with(self.class.get().to_be_bytes())
            .with(data_bytes.to_be_bytes())
            .append(out);
    }
}

/// The part before the elements of an array of references.
#[derive(Clone, Copy, Debug)]
pub struct ObjectArrayHeader {
    /// The array.
    pub object: ObjectId,
    /// Its allocation trace; [`TraceId::EMPTY`] if unknown.
    pub trace: TraceId,
    /// The array's class object.
    pub class: ObjectId,
}

impl ObjectArrayHeader {
    /// Appends the sub-record up to its elements, which the caller appends.
    #[inline]
    pub fn encode(&self, elements: u32, out: &mut Vec<u8>) {
        Head::<25>::new()
            .with([heap::OBJ_ARRAY_DUMP])
            .with(self.object.get().to_be_bytes())
            .with(self.trace.get().to_be_bytes())
            .with(elements.to_be_bytes())
            .with(self.class.get().to_be_bytes())
            .append(out);
    }
}

/// The part before the elements of an array of primitive values.
#[derive(Clone, Copy, Debug)]
pub struct PrimitiveArrayHeader {
    /// The array.
    pub object: ObjectId,
    /// Its allocation trace; [`TraceId::EMPTY`] if unknown.
    pub trace: TraceId,
    /// The type of the elements; not a reference.
    pub element_type: BasicType,
}

impl PrimitiveArrayHeader {
    /// Appends the sub-record up to its elements, which the caller appends, big-endian.
    #[inline]
    pub fn encode(&self, elements: u32, out: &mut Vec<u8>) {
        Head::<18>::new()
            .with([heap::PRIM_ARRAY_DUMP])
            .with(self.object.get().to_be_bytes())
            .with(self.trace.get().to_be_bytes())
            .with(elements.to_be_bytes())
            .with([self.element_type.code()])
            .append(out);
    }
}

/// The number of elements in `bytes`; an error if it is not a whole number. `element_bytes` is a
/// power of 2.
#[inline]
pub(crate) fn count_elements(bytes: usize, element_bytes: u32) -> Result<usize, WriteError> {
    // No division, which would take longer than everything else for a small array.
    let elements = bytes >> element_bytes.trailing_zeros();
    if elements * element_bytes as usize == bytes {
        Ok(elements)
    } else {
        Err(WriteError::BrokenArray {
            bytes: bytes as u64,
            element_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ID_SIZE_BYTES;

    #[test]
    fn values_keep_their_sign_and_null_is_no_object() {
        for (basic_type, bits, value) in [
            (BasicType::Byte, 0xFF, Value::Byte(-1)),
            (BasicType::Short, 0x8000, Value::Short(i16::MIN)),
            (BasicType::Int, 0xFFFF_FFFF, Value::Int(-1)),
            (BasicType::Long, 1 << 63, Value::Long(i64::MIN)),
            (BasicType::Char, 0xFFFF, Value::Char(0xFFFF)),
            (BasicType::Boolean, 1, Value::Boolean(true)),
            (BasicType::Float, 0x3F80_0000, Value::Float(1.0)),
            (BasicType::Double, 0x3FF0 << 48, Value::Double(1.0)),
            (BasicType::Object, 0, Value::Object(None)),
            (BasicType::Object, 8, Value::Object(ObjectId::new(8))),
        ] {
            assert_eq!(Value::of_bits(basic_type, bits), value);
        }
    }

    #[test]
    fn a_value_is_as_wide_as_its_type() {
        for code in 0..=255 {
            let Some(basic_type) = BasicType::from_code(code) else {
                continue;
            };
            let value = Value::zero(basic_type);
            let mut out = Vec::new();
            value.encode(&mut out);
            assert_eq!(value.basic_type(), basic_type);
            assert_eq!(out, vec![0; basic_type.size_bytes(ID_SIZE_BYTES) as usize]);
        }
    }

    #[test]
    fn too_many_fields_are_refused() {
        let name = StringId::new(1).unwrap();
        let fields = vec![(name, BasicType::Int); 65_536];
        let class = ClassDump {
            class: ObjectId::new(8).unwrap(),
            super_class: None,
            loader: None,
            signers: None,
            protection_domain: None,
            instance_size_bytes: 0,
            statics: &[],
            fields: &fields,
        };
        let error = class.encode(&mut Vec::new()).unwrap_err();
        assert_eq!(
            error,
            WriteError::TooLarge {
                what: "the number of instance fields",
                value: 65_536
            }
        );
    }
}
