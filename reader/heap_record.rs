//! The sub-records inside a heap dump: roots, classes, objects.

use format::{android, heap, BasicType, RootFacts, RootKind};

use crate::error::ReadError;
use crate::stream::Source;

/// A root of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Why it is a root.
    pub kind: RootKind,
    /// The object; 0 is null, which does not occur in a valid file.
    pub object: u64,
    /// Serial of the thread, for kinds that have one.
    pub thread_serial: Option<u32>,
    /// Serial of the thread's trace; only for [`RootKind::ThreadObject`].
    pub trace: Option<u32>,
    /// Number of the frame in the thread's trace, 0 for the top, `u32::MAX` for none; for kinds
    /// that have one.
    pub frame_number: Option<u32>,
    /// The JNI reference itself (in a JVM's own dump the address of its slot); only for
    /// [`RootKind::JniGlobal`].
    pub reference: Option<u64>,
}

/// A class with its static fields and its own instance fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassDump {
    /// Id of the class object.
    pub class: u64,
    /// Serial of the trace; 1 for none.
    pub trace: u32,
    /// Id of the superclass; 0 for java.lang.Object.
    pub super_class: u64,
    /// Id of the class loader; 0 for the bootstrap loader.
    pub loader: u64,
    /// Id of the signers' array; 0 for none.
    pub signers: u64,
    /// Id of the protection domain; 0 for none.
    pub protection_domain: u64,
    /// Bytes of one instance. HotSpot: the sum of the field sizes of the class and its
    /// superclasses, without an object header.
    pub instance_bytes: u32,
    /// Entries of the constant pool; HotSpot writes none.
    pub constants: Vec<Constant>,
    /// Static fields with their values.
    pub statics: Vec<Static>,
    /// Instance fields declared by this class.
    pub fields: Vec<Field>,
}

/// An entry of a class's constant pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Index in the pool.
    pub index: u16,
    /// Type of the entry.
    pub kind: BasicType,
    /// The value, as raw bits.
    pub value: u64,
}

/// A static field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Static {
    /// String id of the name.
    pub name: u64,
    /// Type of the field.
    pub kind: BasicType,
    /// The value, as raw bits; an object id for references.
    pub value: u64,
}

/// An instance field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// String id of the name.
    pub name: u64,
    /// Type of the field.
    pub kind: BasicType,
}

/// An object that is neither an array nor a class. Its field values follow as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Id of the object.
    pub object: u64,
    /// Serial of its allocation trace; 1 for none.
    pub trace: u32,
    /// Id of its class.
    pub class: u64,
    /// Bytes of field values that follow.
    pub data_bytes: u32,
}

/// An array of references. Its elements follow as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectArray {
    /// Id of the array.
    pub object: u64,
    /// Serial of its allocation trace; 1 for none.
    pub trace: u32,
    /// Number of elements.
    pub length: u32,
    /// Id of the array's class (not of the elements').
    pub class: u64,
}

/// An array of primitive values. Its elements follow as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimitiveArray {
    /// Id of the array.
    pub object: u64,
    /// Serial of its allocation trace; 1 for none.
    pub trace: u32,
    /// Number of elements.
    pub length: u32,
    /// Type of the elements, never [`BasicType::Object`].
    pub kind: BasicType,
    /// Whether the file contains the elements; Android may omit them.
    pub has_data: bool,
}

/// A sub-record of a heap dump (format text, "HEAP DUMP or HEAP DUMP SEGMENT").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeapRecord {
    /// One of the ROOT sub-records.
    Root(Root),
    /// CLASS DUMP.
    Class(Box<ClassDump>),
    /// INSTANCE DUMP.
    Instance(Instance),
    /// OBJECT ARRAY DUMP.
    ObjectArray(ObjectArray),
    /// PRIMITIVE ARRAY DUMP.
    PrimitiveArray(PrimitiveArray),
    /// Android: the heap that contains the next objects.
    HeapInfo {
        /// Number of the heap.
        heap: u32,
        /// String id of its name.
        name: u64,
    },
}

/// Why a sub-record could not be decoded.
#[derive(Debug)]
pub(crate) enum SubError {
    /// Bytes are missing, or I/O.
    Read(ReadError),
    /// No sub-record has this tag.
    Tag(u8),
    /// No basic type has this number.
    Type(u8),
}

impl From<ReadError> for SubError {
    fn from(fault: ReadError) -> Self {
        Self::Read(fault)
    }
}

impl HeapRecord {
    /// Decodes one sub-record up to its data, which is not read.
    pub(crate) fn read(from: &mut Source<'_>) -> Result<Self, SubError> {
        let tag = from.u1()?;
        Ok(match tag {
            heap::CLASS_DUMP => Self::Class(Box::new(class_dump(from)?)),
            heap::INSTANCE_DUMP => Self::Instance(instance(from)?),
            heap::OBJ_ARRAY_DUMP => Self::ObjectArray(object_array(from)?),
            heap::PRIM_ARRAY_DUMP => Self::PrimitiveArray(primitive_array(from, true)?),
            android::PRIM_ARRAY_NODATA => Self::PrimitiveArray(primitive_array(from, false)?),
            android::HEAP_DUMP_INFO => Self::HeapInfo {
                heap: from.u4()?,
                name: from.id()?,
            },
            _ => {
                let kind = RootKind::from_tag(tag).ok_or(SubError::Tag(tag))?;
                Self::Root(root(kind, from)?)
            }
        })
    }

    /// Bytes of data after the decoded part: field values or elements. At most 2^35.
    pub fn data_bytes(&self, id_bytes: u32) -> u64 {
        match self {
            Self::Instance(instance) => u64::from(instance.data_bytes),
            Self::ObjectArray(array) => u64::from(array.length) * u64::from(id_bytes),
            Self::PrimitiveArray(array) if array.has_data => {
                u64::from(array.length) * u64::from(array.kind.size_bytes(id_bytes))
            }
            _ => 0,
        }
    }

    /// The format text's name of the sub-record's kind, in capitals.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Root(root) => root.kind.name(),
            Self::Class(_) => "CLASS DUMP",
            Self::Instance(_) => "INSTANCE DUMP",
            Self::ObjectArray(_) => "OBJECT ARRAY DUMP",
            Self::PrimitiveArray(array) if array.has_data => "PRIMITIVE ARRAY DUMP",
            Self::PrimitiveArray(_) => "PRIMITIVE ARRAY NODATA",
            Self::HeapInfo { .. } => "HEAP DUMP INFO",
        }
    }
}

fn root(kind: RootKind, from: &mut Source<'_>) -> Result<Root, ReadError> {
    let mut root = Root {
        kind,
        object: from.id()?,
        thread_serial: None,
        trace: None,
        frame_number: None,
        reference: None,
    };
    match kind.facts() {
        RootFacts::None => {}
        RootFacts::Reference => root.reference = Some(from.id()?),
        RootFacts::Thread => root.thread_serial = Some(from.u4()?),
        RootFacts::ThreadAndFrame => {
            root.thread_serial = Some(from.u4()?);
            root.frame_number = Some(from.u4()?);
        }
        RootFacts::ThreadAndTrace => {
            root.thread_serial = Some(from.u4()?);
            root.trace = Some(from.u4()?);
        }
    }
    Ok(root)
}

fn class_dump(from: &mut Source<'_>) -> Result<ClassDump, SubError> {
    let mut dump = ClassDump {
        class: from.id()?,
        trace: from.u4()?,
        super_class: from.id()?,
        loader: from.id()?,
        signers: from.id()?,
        protection_domain: from.id()?,
        instance_bytes: {
            from.id()?;
            from.id()?;
            from.u4()?
        },
        constants: Vec::new(),
        statics: Vec::new(),
        fields: Vec::new(),
    };
    for _ in 0..from.u2()? {
        let index = from.u2()?;
        let (kind, value) = typed_value(from)?;
        dump.constants.push(Constant { index, kind, value });
    }
    for _ in 0..from.u2()? {
        let name = from.id()?;
        let (kind, value) = typed_value(from)?;
        dump.statics.push(Static { name, kind, value });
    }
    for _ in 0..from.u2()? {
        let name = from.id()?;
        let kind = basic_type(from)?;
        dump.fields.push(Field { name, kind });
    }
    Ok(dump)
}

fn typed_value(from: &mut Source<'_>) -> Result<(BasicType, u64), SubError> {
    let kind = basic_type(from)?;
    let value = match kind.size_bytes(from.id_bytes()) {
        1 => u64::from(from.u1()?),
        2 => u64::from(from.u2()?),
        4 => u64::from(from.u4()?),
        _ => from.u8()?,
    };
    Ok((kind, value))
}

fn basic_type(from: &mut Source<'_>) -> Result<BasicType, SubError> {
    let code = from.u1()?;
    BasicType::from_code(code).ok_or(SubError::Type(code))
}

fn instance(from: &mut Source<'_>) -> Result<Instance, ReadError> {
    Ok(Instance {
        object: from.id()?,
        trace: from.u4()?,
        class: from.id()?,
        data_bytes: from.u4()?,
    })
}

fn object_array(from: &mut Source<'_>) -> Result<ObjectArray, ReadError> {
    Ok(ObjectArray {
        object: from.id()?,
        trace: from.u4()?,
        length: from.u4()?,
        class: from.id()?,
    })
}

fn primitive_array(from: &mut Source<'_>, has_data: bool) -> Result<PrimitiveArray, SubError> {
    Ok(PrimitiveArray {
        object: from.id()?,
        trace: from.u4()?,
        length: from.u4()?,
        kind: match basic_type(from)? {
            BasicType::Object => return Err(SubError::Type(BasicType::Object.code())),
            kind => kind,
        },
        has_data,
    })
}
