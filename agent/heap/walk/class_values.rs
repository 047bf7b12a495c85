//! What a class holds, as the walk reports it: static fields, loader, signers, constant pool.

use crate::jvmti::heap::{Primitive, Reference};
use tables::ObjectIndex;

/// The value of a static field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::heap) enum StaticValue {
    /// A reference; null is not reported.
    Reference(ObjectIndex),
    /// A primitive value.
    Primitive(Primitive),
}

/// What one class holds. What was not reported is null or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::heap) struct ClassValues {
    /// Its signers: an array.
    pub(in crate::heap) signers: Option<ObjectIndex>,
    /// Its protection domain.
    pub(in crate::heap) protection_domain: Option<ObjectIndex>,
    /// Objects in its constant pool, by index there: strings, other classes.
    pub(in crate::heap) constant_pool: Vec<(u32, ObjectIndex)>,
    /// Its static fields, by JVMTI field index.
    pub(in crate::heap) statics: Vec<(u32, StaticValue)>,
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
