//! What is known of some objects without looking into the heap: what calibration must explain.

use crate::classes::{FieldId, Slot};
use format::BasicType;

/// What JNI says of a value.
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
    /// The JVM's id.
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
    /// Elements of a primitive type, as they lie in memory.
    Primitives(BasicType, Vec<u8>),
    /// References.
    References(Vec<Option<Slot>>),
}

/// An object and what JNI says of it.
#[derive(Debug)]
pub struct KnownObject {
    /// The object.
    pub object: Slot,
    /// Its class's mirror.
    pub class: Slot,
    /// What it holds.
    pub content: Content,
}

/// A class and a static field of it.
#[derive(Debug)]
pub struct KnownStatic {
    /// The class's mirror.
    pub class: Slot,
    /// The field.
    pub field: KnownField,
}
