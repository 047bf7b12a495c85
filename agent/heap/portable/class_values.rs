//! What a class holds, as the walk reports it: static fields, loader, signers, constant pool.

use crate::jvmti::heap::{Primitive, Reference};
use format::BasicType;
use tables::ObjectIndex;
use writer::heap_record::Value;

/// The value of a static field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum StaticValue {
    /// A reference; null is not reported.
    Reference(ObjectIndex),
    /// A primitive value.
    Primitive(Primitive),
}

/// What one class holds. What was not reported is null or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct ClassValues {
    /// Its signers: an array.
    pub(in super::super) signers: Option<ObjectIndex>,
    /// Its protection domain.
    pub(in super::super) protection_domain: Option<ObjectIndex>,
    /// Objects in its constant pool, by index there: strings, other classes.
    pub(in super::super) constant_pool: Vec<(u32, ObjectIndex)>,
    /// Its static fields, by JVMTI field index.
    pub(in super::super) statics: Vec<(u32, StaticValue)>,
}

impl ClassValues {
    /// Notes a reference from the class. Superclass, interfaces and loader are the catalogue's.
    pub(super) fn refer(&mut self, kind: Reference, target: ObjectIndex) {
        match kind {
            Reference::Signers => self.signers = Some(target),
            Reference::ProtectionDomain => self.protection_domain = Some(target),
            Reference::ConstantPool(index) => self.constant_pool.push((index, target)),
            Reference::StaticField(index) => {
                self.statics.push((index, StaticValue::Reference(target)))
            }
            _ => {}
        }
    }
}

/// A primitive value as the writer takes it.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // `bits` is zero-extended
pub(in super::super) fn value_of(primitive: Primitive) -> Value {
    let bits = primitive.bits;
    match primitive.basic_type {
        BasicType::Boolean => Value::Boolean(bits != 0),
        BasicType::Byte => Value::Byte(bits as u8 as i8),
        BasicType::Char => Value::Char(bits as u16),
        BasicType::Short => Value::Short(bits as u16 as i16),
        BasicType::Int => Value::Int(bits as u32 as i32),
        BasicType::Float => Value::Float(f32::from_bits(bits as u32)),
        BasicType::Long => Value::Long(bits as i64),
        BasicType::Double => Value::Double(f64::from_bits(bits)),
        BasicType::Object => Value::Object(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_sign() {
        let primitive = |basic_type, bits| value_of(Primitive { basic_type, bits });
        assert_eq!(primitive(BasicType::Byte, 0xFF), Value::Byte(-1));
        assert_eq!(primitive(BasicType::Short, 0x8000), Value::Short(i16::MIN));
        assert_eq!(primitive(BasicType::Int, 0xFFFF_FFFF), Value::Int(-1));
        assert_eq!(primitive(BasicType::Long, 1 << 63), Value::Long(i64::MIN));
        assert_eq!(primitive(BasicType::Char, 0xFFFF), Value::Char(0xFFFF));
        assert_eq!(primitive(BasicType::Boolean, 1), Value::Boolean(true));
    }
}
