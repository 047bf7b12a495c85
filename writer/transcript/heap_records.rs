//! The sub-records of our own heap dumps, read back.

use std::io::{self, Read, Seek};

use format::BasicType;
use tables::{ObjectId, ThreadId, TraceId};

use super::records::Records;
use crate::heap_record::RootRecord;
use format::{heap, ID_SIZE_BYTES, NO_FRAME};

/// A sub-record, but for the values of an object, which come next; [`HeapRecord::skip_values`] passes over them.
#[derive(Debug)]
pub(super) enum HeapRecord {
    Root(RootRecord),
    Class(ClassRecord),
    Instance(InstanceRecord),
    ObjectArray(ObjectArrayRecord),
    PrimitiveArray(PrimitiveArrayRecord),
}

/// A class; names are numbers of strings.
#[derive(Debug)]
pub(super) struct ClassRecord {
    pub(super) object: ObjectId,
    pub(super) trace: TraceId,
    pub(super) super_class: Option<ObjectId>,
    pub(super) loader: Option<ObjectId>,
    pub(super) signers: Option<ObjectId>,
    pub(super) protection_domain: Option<ObjectId>,
    /// The static fields that are references.
    pub(super) statics: Vec<(u64, Option<ObjectId>)>,
    /// The fields of its instances, own ones only.
    pub(super) fields: Vec<(u64, BasicType)>,
}

/// An object; its field values come next.
#[derive(Clone, Copy, Debug)]
pub(super) struct InstanceRecord {
    pub(super) object: ObjectId,
    pub(super) trace: TraceId,
    pub(super) class: ObjectId,
    pub(super) data_bytes: u32,
}

/// An array of references, which come next.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectArrayRecord {
    pub(super) object: ObjectId,
    pub(super) trace: TraceId,
    pub(super) elements: u32,
    pub(super) class: ObjectId,
}

/// An array of primitive values, which come next.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrimitiveArrayRecord {
    pub(super) object: ObjectId,
    pub(super) trace: TraceId,
    pub(super) elements: u32,
    pub(super) element_type: BasicType,
}

impl PrimitiveArrayRecord {
    /// Bytes of all elements.
    pub(super) fn data_bytes(&self) -> u64 {
        let width = self.element_type.size_bytes(ID_SIZE_BYTES);
        u64::from(self.elements) * u64::from(width)
    }
}

impl HeapRecord {
    /// The next one of a segment; `None` at its end.
    pub(super) fn read<R: Read + Seek>(records: &mut Records<R>) -> io::Result<Option<Self>> {
        if records.left() == 0 {
            return Ok(None);
        }
        Ok(Some(match records.u1()? {
            heap::CLASS_DUMP => Self::Class(ClassRecord::read(records)?),
            heap::INSTANCE_DUMP => Self::Instance(InstanceRecord {
                object: records.object()?,
                trace: records.serial(TraceId::new)?,
                class: records.object()?,
                data_bytes: records.u4()?,
            }),
            heap::OBJ_ARRAY_DUMP => Self::ObjectArray(ObjectArrayRecord {
                object: records.object()?,
                trace: records.serial(TraceId::new)?,
                elements: records.u4()?,
                class: records.object()?,
            }),
            heap::PRIM_ARRAY_DUMP => Self::PrimitiveArray(PrimitiveArrayRecord {
                object: records.object()?,
                trace: records.serial(TraceId::new)?,
                elements: records.u4()?,
                element_type: records.basic_type()?,
            }),
            tag => Self::Root(root(tag, records)?),
        }))
    }

    /// Passes over what comes next of this record, if nothing of it was read.
    pub(super) fn skip_values<R: Read + Seek>(&self, records: &mut Records<R>) -> io::Result<()> {
        records.skip(match self {
            Self::Root(_) | Self::Class(_) => 0,
            Self::Instance(instance) => u64::from(instance.data_bytes),
            Self::ObjectArray(array) => u64::from(array.elements) * u64::from(ID_SIZE_BYTES),
            Self::PrimitiveArray(array) => array.data_bytes(),
        })
    }
}

fn root<R: Read + Seek>(tag: u8, records: &mut Records<R>) -> io::Result<RootRecord> {
    let object = records.object()?;
    let mut thread = || records.serial(ThreadId::new);
    Ok(match tag {
        heap::ROOT_JNI_GLOBAL => RootRecord::JniGlobal(object, records.u8()?),
        heap::ROOT_JNI_LOCAL => RootRecord::JniLocal(object, thread()?, frame(records)?),
        heap::ROOT_JAVA_FRAME => RootRecord::JavaFrame(object, thread()?, frame(records)?),
        heap::ROOT_STICKY_CLASS => RootRecord::StickyClass(object),
        heap::ROOT_MONITOR_USED => RootRecord::MonitorUsed(object),
        heap::ROOT_THREAD_OBJ => {
            RootRecord::ThreadObject(object, thread()?, records.serial(TraceId::new)?)
        }
        heap::ROOT_THREAD_BLOCK => RootRecord::ThreadBlock(object, thread()?),
        _ => return Err(records.broken("have a part of a heap dump that is not ours")),
    })
}

fn frame<R: Read + Seek>(records: &mut Records<R>) -> io::Result<Option<u32>> {
    let frame = records.u4()?;
    Ok((frame != NO_FRAME).then_some(frame))
}

impl ClassRecord {
    fn read<R: Read + Seek>(records: &mut Records<R>) -> io::Result<Self> {
        let object = records.object()?;
        let trace = records.serial(TraceId::new)?;
        let super_class = records.reference()?;
        let loader = records.reference()?;
        let signers = records.reference()?;
        let protection_domain = records.reference()?;
        // Two reserved ids; the size of instances follows from the fields.
        records.skip(8 + 8 + 4)?;
        if records.u2()? != 0 {
            // What constant pools refer to, we write as static fields.
            return Err(records.broken("have a constant pool, which is not ours"));
        }
        let mut statics = Vec::new();
        for _ in 0..records.u2()? {
            let name = records.u8()?;
            match records.basic_type()? {
                BasicType::Object => statics.push((name, records.reference()?)),
                primitive => records.skip(u64::from(primitive.size_bytes(ID_SIZE_BYTES)))?,
            }
        }
        let mut fields = Vec::new();
        for _ in 0..records.u2()? {
            fields.push((records.u8()?, records.basic_type()?));
        }
        Ok(Self {
            object,
            trace,
            super_class,
            loader,
            signers,
            protection_domain,
            statics,
            fields,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Header;
    use crate::Segments;
    use std::io::Cursor;

    fn id(address: u64) -> ObjectId {
        ObjectId::new(address).unwrap()
    }

    /// A file of one segment with these roots.
    fn file(roots: &[RootRecord]) -> Vec<u8> {
        let mut file = Vec::new();
        let millis_since_epoch = 0;
        Header { millis_since_epoch }.encode(&mut file).unwrap();
        let mut segments = Segments::new(|bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        });
        for root in roots {
            segments.record(|out| root.encode(out)).unwrap();
        }
        segments.finish().unwrap();
        file
    }

    fn read_back(file: &[u8]) -> io::Result<Vec<RootRecord>> {
        let mut records = Records::new(Cursor::new(file));
        let mut roots = Vec::new();
        records.first()?;
        records.next()?;
        while let Some(record) = HeapRecord::read(&mut records)? {
            match record {
                HeapRecord::Root(root) => roots.push(root),
                other => panic!("{other:?}"),
            }
        }
        Ok(roots)
    }

    #[test]
    fn every_root_comes_back() {
        let (thread, trace) = (ThreadId::new(3).unwrap(), TraceId::new(4).unwrap());
        let roots = [
            RootRecord::JniGlobal(id(8), u64::MAX),
            RootRecord::JniLocal(id(16), thread, None),
            RootRecord::JavaFrame(id(24), thread, Some(5)),
            RootRecord::StickyClass(id(32)),
            RootRecord::MonitorUsed(id(40)),
            RootRecord::ThreadObject(id(48), thread, trace),
            RootRecord::ThreadBlock(id(u64::MAX), thread),
        ];
        assert_eq!(read_back(&file(&roots)).unwrap(), roots);
    }

    #[test]
    fn what_is_not_ours_is_an_error() {
        let mut bytes = file(&[RootRecord::StickyClass(id(32))]);
        let tag = bytes.len() - 9;
        for (tag_byte, is_ours) in [(heap::ROOT_MONITOR_USED, true), (heap::ROOT_UNKNOWN, false)] {
            bytes[tag] = tag_byte;
            assert_eq!(read_back(&bytes).is_ok(), is_ours);
        }
        bytes[tag..].fill(0);
        assert!(read_back(&bytes).is_err(), "a root that is null");
    }
}
