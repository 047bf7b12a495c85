//! Known objects: what JNI says about some objects, which calibration must explain.

use crate::classes::{FieldId, Slot};
use format::BasicType;

/// The value that JNI reports.
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

/// What an object holds.
#[derive(Debug)]
pub enum Content {
    /// Instance fields, inherited ones too.
    Fields(Vec<KnownField>),
    /// Elements of a primitive type, as memory holds them.
    Primitives(BasicType, Vec<u8>),
    /// Elements of an object array; `None` is null.
    References(Vec<Option<Slot>>),
}

/// An object and what JNI says about it.
#[derive(Debug)]
pub struct KnownObject {
    /// The object.
    pub object: Slot,
    /// Its class's mirror.
    pub class: Slot,
    /// What it holds.
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
