//! The sub-records of a heap dump: their tags and names, and what each consists of.
//!
//! Source: format text, the tables under HEAP DUMP; of Android's, its `hprof.cc`. No sub-record has
//! a length, so readers compute where the next one starts.

use crate::codec::{
    bytes_of, parts, row_bytes, tags, FieldCodec, Id, Input, List, Output, PrimitiveType, TooMany,
    Type, Valued, U2, U4,
};
use crate::Root;

pub use crate::codec::Static;

tags! {
    /// A sub-record of a heap dump.
    HeapRecord or Root,
    /// A class with its static fields and the layout of its instances.
    CLASS_DUMP = 0x20 "CLASS DUMP" Class(Box<ClassDump>);
    /// An object that is neither an array nor a class.
    INSTANCE_DUMP = 0x21 "INSTANCE DUMP" Instance(Instance);
    /// An array of references.
    OBJ_ARRAY_DUMP = 0x22 "OBJECT ARRAY DUMP" ObjectArray(ObjectArray);
    /// An array of primitive values.
    PRIM_ARRAY_DUMP = 0x23 "PRIMITIVE ARRAY DUMP" PrimitiveArray(PrimitiveArray);
    /// Android: an array of primitive values without its elements.
    PRIM_ARRAY_NODATA = 0xC3 "PRIMITIVE ARRAY NODATA" NoData(PrimitiveArray);
    /// Android: the heap that the following objects belong to.
    HEAP_DUMP_INFO = 0xFE "HEAP DUMP INFO" HeapInfo(HeapInfo);
}

/// Tag of neighbours in the heap with their references, in a graph stream only: u4 length, then the
/// bytes that `writer/graph_objects.rs` describes.
pub const GRAPH_OBJECTS: u8 = 0x40;

parts! {
    /// A class with its static fields and its own instance fields.
    #[derive(Default, Eq)]
    ClassDump {
        /// Id of the class object.
        class: Id,
        /// Serial of the trace; 1 for none.
        trace: U4,
        /// Id of the superclass; 0 for java.lang.Object.
        super_class: Id,
        /// Id of the class loader; 0 for the bootstrap loader.
        loader: Id,
        /// Id of the signers' array; 0 for none.
        signers: Id,
        /// Id of the protection domain; 0 for none.
        protection_domain: Id,
        /// Without a meaning; 0.
        reserved: Id,
        /// Likewise.
        reserved_too: Id,
        /// Bytes of an instance. HotSpot and we: those of the fields of the class and its
        /// superclasses, without an object header, references at the size of an id.
        instance_bytes: U4,
        /// Entries of the constant pool. HotSpot and we write none: most readers skip them, so
        /// references from there are static fields with invented names.
        constants: List<U2, Valued<U2>>,
        /// The class's own static fields with their values.
        statics: List<U2, Valued<Id>>,
        /// The class's own instance fields, in the order of the instance data.
        fields: List<U2, Field>,
    }

    /// An instance field.
    #[derive(Copy, Eq)]
    Field {
        /// String id of the name.
        name: Id,
        /// Type of the field.
        kind: Type,
    }

    /// An object that is neither an array nor a class. Its field values follow as data.
    #[derive(Copy, Eq)]
    Instance {
        /// Id of the object.
        object: Id,
        /// Serial of its allocation trace; 1 for none.
        trace: U4,
        /// Id of its class.
        class: Id,
        /// Bytes of field values that follow.
        data_bytes: U4,
    }

    /// An array of references. Its elements follow as data.
    #[derive(Copy, Eq)]
    ObjectArray {
        /// Id of the array.
        object: Id,
        /// Serial of its allocation trace; 1 for none.
        trace: U4,
        /// Number of elements.
        length: U4,
        /// Id of the array's class (not of the elements').
        class: Id,
    }

    /// An array of primitive values. Its elements follow as data.
    #[derive(Copy, Eq)]
    PrimitiveArray {
        /// Id of the array.
        object: Id,
        /// Serial of its allocation trace; 1 for none.
        trace: U4,
        /// Number of elements.
        length: U4,
        /// Type of the elements, never [`crate::BasicType::Object`].
        kind: PrimitiveType,
    }

    /// Android: the following objects are in this heap.
    #[derive(Copy, Eq)]
    HeapInfo {
        /// Number of the heap.
        heap: U4,
        /// String id of its name.
        name: Id,
    }
}

impl HeapRecord {
    /// Bytes of data after the decoded part: field values or elements. At most 2^35.
    pub fn data_bytes(&self, id_bytes: u32) -> u64 {
        let elements = |length: u32, bytes: u32| u64::from(length) * u64::from(bytes);
        match self {
            Self::Instance(instance) => instance.data_bytes.into(),
            Self::ObjectArray(array) => elements(array.length, id_bytes),
            Self::PrimitiveArray(array) => elements(array.length, array.kind.size_bytes(id_bytes)),
            _ => 0,
        }
    }
}

/// Bytes of a tag, and of the number of a basic type.
pub const TAG_BYTES: u32 = 1;
/// Bytes of a count of constants, static fields or fields, and of an index of a constant.
pub const COUNT_BYTES: u32 = U2::BYTES;

/// Bytes of the tag and of all fields of a sub-record, before its data; of CLASS DUMP, with the
/// counts of its lists.
pub const fn head_bytes<P: FieldCodec>(id_bytes: u32) -> u32 {
    TAG_BYTES + bytes_of::<P>(id_bytes)
}
