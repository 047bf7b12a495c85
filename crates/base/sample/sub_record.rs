//! The sub-records of a heap, with ids of 8 bytes.

use crate::{bytes, Bytes};

/// The type of references.
pub const REF: u8 = 2;
/// The type `boolean`.
pub const BOOLEAN: u8 = 4;
/// The type `char`.
pub const CHAR: u8 = 5;
/// The type `byte`.
pub const BYTE: u8 = 8;
/// The type `int`.
pub const INT: u8 = 10;
/// The type `long`.
pub const LONG: u8 = 11;

/// A class dump that can be changed before it is written.
#[derive(Clone, Debug)]
pub struct ClassDump {
    /// The class.
    pub id: u64,
    /// Where it was loaded.
    pub trace: u32,
    /// 0 for none.
    pub super_class: u64,
    /// Loader, signers and protection domain.
    pub slots: [u64; 3],
    /// Bytes of an instance's fields.
    pub size: u32,
    /// Index, type and value of each constant.
    pub constants: Vec<(u16, u8, Vec<u8>)>,
    /// Name, type and value of each static field.
    pub statics: Vec<(u64, u8, Vec<u8>)>,
    /// Name and type of each own field.
    pub fields: Vec<(u64, u8)>,
}

impl ClassDump {
    /// Without fields, static fields and constants.
    pub fn new(id: u64, super_class: u64) -> Self {
        Self {
            id,
            trace: 1,
            super_class,
            slots: [0; 3],
            size: 0,
            constants: vec![],
            statics: vec![],
            fields: vec![],
        }
    }

    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.add_to(bytes()).0
    }

    pub(crate) fn add_to(&self, to: Bytes) -> Bytes {
        let to = to.u1(0x20).id(self.id).u4(self.trace).id(self.super_class);
        let to = to.ids(&self.slots).ids(&[0, 0]).u4(self.size);
        let mut to = to.u2(self.constants.len() as u16);
        for (index, kind, value) in &self.constants {
            to = to.u2(*index).u1(*kind).all(value);
        }
        to = to.u2(self.statics.len() as u16);
        for (name, kind, value) in &self.statics {
            to = to.id(*name).u1(*kind).all(value);
        }
        to = to.u2(self.fields.len() as u16);
        for (name, kind) in &self.fields {
            to = to.id(*name).u1(*kind);
        }
        to
    }
}

impl Bytes {
    /// INSTANCE DUMP.
    pub fn instance(self, object: u64, trace: u32, class: u64, data: &[u8]) -> Self {
        let head = self.u1(0x21).id(object).u4(trace).id(class);
        head.u4(data.len() as u32).all(data)
    }

    /// OBJECT ARRAY DUMP, with the trace 1.
    pub fn object_array(self, object: u64, class: u64, elements: &[u64]) -> Self {
        let head = self.u1(0x22).id(object).u4(1).u4(elements.len() as u32);
        head.id(class).ids(elements)
    }

    /// PRIMITIVE ARRAY DUMP, with the trace 1.
    pub fn primitive_array(self, object: u64, kind: u8, length: u32, data: &[u8]) -> Self {
        let head = self.u1(0x23).id(object).u4(1);
        head.u4(length).u1(kind).all(data)
    }

    /// A root without further facts, or the start of another.
    pub fn root(self, tag: u8, object: u64) -> Self {
        self.u1(tag).id(object)
    }
}

/// INSTANCE DUMP.
pub fn instance(object: u64, trace: u32, class: u64, data: &[u8]) -> Vec<u8> {
    bytes().instance(object, trace, class, data).0
}

/// OBJECT ARRAY DUMP, with the trace 1.
pub fn object_array(object: u64, class: u64, elements: &[u64]) -> Vec<u8> {
    bytes().object_array(object, class, elements).0
}

/// PRIMITIVE ARRAY DUMP, with the trace 1.
pub fn primitive_array(object: u64, kind: u8, length: u32, data: &[u8]) -> Vec<u8> {
    bytes().primitive_array(object, kind, length, data).0
}

/// A root without further facts: unknown, sticky class, monitor.
pub fn root(tag: u8, object: u64) -> Vec<u8> {
    bytes().root(tag, object).0
}

/// ROOT THREAD OBJECT.
pub fn thread_root(object: u64, serial: u32, trace: u32) -> Vec<u8> {
    bytes().root(0x08, object).u4(serial).u4(trace).0
}

/// ROOT JAVA FRAME.
pub fn frame_root(object: u64, serial: u32, number: u32) -> Vec<u8> {
    bytes().root(0x03, object).u4(serial).u4(number).0
}
