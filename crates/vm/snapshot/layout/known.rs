//! Known objects: objects whose contents were read through JNI, and which calibration must explain.

use crate::classes::{FieldId, Slot};
use format::BasicType;

/// A value read through JNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A primitive value, zero-extended.
    Bits(u64),
    /// A reference; `None` is null.
    Object(Option<Slot>),
}

/// A field of an object or a class.
#[derive(Clone, Copy, Debug)]
pub struct KnownField {
    /// Its JNI field ID.
    pub id: FieldId,
    /// Its type.
    pub basic_type: BasicType,
    /// Its value.
    pub expected: Expected,
}

/// The contents of an object.
#[derive(Debug)]
pub enum Content {
    /// Instance fields, including inherited ones.
    Fields(Vec<KnownField>),
    /// Elements of a primitive type, in memory order.
    Primitives(BasicType, Vec<u8>),
    /// Elements of an object array; `None` is null.
    References(Vec<Option<Slot>>),
}

/// An object and its contents read through JNI.
#[derive(Debug)]
pub struct KnownObject {
    /// The object.
    pub object: Slot,
    /// Its class's mirror.
    pub class: Slot,
    /// Its contents.
    pub content: Content,
}

/// A static field and its class.
#[derive(Debug)]
pub struct KnownStatic {
    /// The class's mirror.
    pub class: Slot,
    /// The field.
    pub field: KnownField,
}
