//! Scans the sub-records of a heap dump and calls a visitor for each: the fast path over millions
//! of objects.
//!
//! [`reader::DumpReader`] returns the same records as events, with all checks. Here a record costs
//! only a few loads.

use format::codec::{Bytes, FieldCodec};
use format::sub_record::{head_bytes, Instance};
use format::{record, sub_record, BasicType};
use reader::{sub_record, HeapRecord, ReadError, Source, CLASS_BYTES_MAX};

use crate::graph_objects::graph_objects;
use crate::twins::Twins;
use crate::visitor::{Head, Visitor, INSTANCE_BYTES_MAX};

/// Bytes of the longest head of an object: an instance's or an array's with ids of 8 bytes.
const HEAD_BYTES: usize = head_bytes::<Instance>(8) as usize;

/// The end of a part of unknown length: the end of the dump or of the file.
pub(crate) const OPEN_END: u64 = u64::MAX;

/// How a scan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanEnd {
    /// All bytes were sub-records.
    Whole,
    /// There is no complete sub-record at this offset. One that runs over the end was not visited.
    Damaged(u64),
}

/// Visits the sub-records up to the file offset `end`, or [`OPEN_END`]; ids have `id_bytes`. Each
/// of `twins` is visited once.
/// Errors: I/O.
pub(crate) fn scan(
    window: &mut Source<'_>,
    end: u64,
    id_bytes: u32,
    twins: &Twins,
    visitor: &mut impl Visitor,
) -> Result<ScanEnd, ReadError> {
    match id_bytes {
        4 => scan_ids::<4>(window, end, twins, visitor),
        _ => scan_ids::<8>(window, end, twins, visitor),
    }
}

fn scan_ids<const ID: u32>(
    window: &mut Source<'_>,
    end: u64,
    twins: &Twins,
    visitor: &mut impl Visitor,
) -> Result<ScanEnd, ReadError> {
    while window.offset() < end {
        let offset = window.offset();
        let whole = match window.look(HEAD_BYTES)?.first() {
            None | Some(&record::HEAP_DUMP_END) if end == OPEN_END => return Ok(ScanEnd::Whole),
            None => false,
            Some(&sub_record::INSTANCE_DUMP) => instance::<ID, _>(window, end, twins, visitor)?,
            Some(&sub_record::GRAPH_OBJECTS) if ID == 8 => graph_objects(window, visitor)?,
            Some(tag) => {
                let is_class = *tag == sub_record::CLASS_DUMP;
                visit::<ID>(window, end, is_class, twins, visitor)?
            }
        };
        if !whole || window.offset() > end {
            return Ok(ScanEnd::Damaged(offset));
        }
    }
    Ok(ScanEnd::Whole)
}

/// Visits the next sub-record. Returns whether it is whole and ends before `end`.
#[inline]
fn visit<const ID: u32>(
    window: &mut Source<'_>,
    end: u64,
    is_class: bool,
    twins: &Twins,
    visitor: &mut impl Visitor,
) -> Result<bool, ReadError> {
    let offset = window.offset();
    let mut read = sub_record(window.look(HEAD_BYTES)?, ID);
    if is_class && read.is_none() {
        read = sub_record(window.look(CLASS_BYTES_MAX)?, ID);
    }
    let Some((record, head_bytes)) = read else {
        return Ok(false);
    };
    let data_bytes = record.data_bytes(ID);
    if end.saturating_sub(offset) < head_bytes as u64 + data_bytes {
        return Ok(false);
    }
    let head = |object, trace, class| Head {
        object,
        trace,
        class,
        units: 0,
    };
    let (head, length, kind) = match record {
        HeapRecord::ObjectArray(array) => {
            let head = head(array.object, array.trace, array.class);
            (head, array.length, BasicType::Object)
        }
        HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
            let head = head(array.object, array.trace, 0);
            (head, array.length, array.kind)
        }
        other => {
            match other {
                HeapRecord::Class(dump) if twins.get(dump.class).is_none() => {
                    visitor.class(offset, *dump, None);
                }
                HeapRecord::Root(root) => visitor.root(root),
                _ => {}
            }
            window.advance(head_bytes);
            return Ok(true);
        }
    };
    visitor.array(offset, head, length, kind);
    window.advance(head_bytes);
    in_pieces(window, visitor, data_bytes, (kind, kind.size_bytes(ID)))
}

/// As [`visit`]; most sub-records are instances.
#[inline]
fn instance<const ID: u32, V: Visitor>(
    window: &mut Source<'_>,
    end: u64,
    twins: &Twins,
    visitor: &mut V,
) -> Result<bool, ReadError> {
    let offset = window.offset();
    let mut bytes = Bytes {
        bytes: window.look(HEAD_BYTES)?.get(1..).unwrap_or_default(),
        id_bytes: ID,
    };
    let Ok(instance) = Instance::read(&mut bytes) else {
        return Ok(false);
    };
    let head_bytes = head_bytes::<Instance>(ID) as usize;
    let data_bytes = instance.data_bytes as usize;
    let record_bytes = head_bytes + data_bytes;
    if end.saturating_sub(offset) < record_bytes as u64 {
        return Ok(false);
    }
    let head = Head {
        object: instance.object,
        trace: instance.trace,
        class: instance.class,
        units: 0,
    };
    if !V::WANTS_DATA {
        visitor.instance(offset, head, &[]);
        return window.skip(record_bytes as u64);
    }
    if data_bytes > INSTANCE_BYTES_MAX {
        return Ok(false);
    }
    let Some(data) = window.look(record_bytes)?.get(head_bytes..record_bytes) else {
        return Ok(false);
    };
    match twins.get(head.object) {
        Some(dump) => visitor.class(offset, dump.clone(), Some(data)),
        None => visitor.instance(offset, head, data),
    }
    window.advance(record_bytes);
    Ok(true)
}

/// Passes the next `count` bytes to the visitor, if it wants data, in pieces of whole units.
/// Returns whether they are there.
fn in_pieces<V: Visitor>(
    window: &mut Source<'_>,
    visitor: &mut V,
    count: u64,
    (kind, unit): (BasicType, u32),
) -> Result<bool, ReadError> {
    if !V::WANTS_DATA {
        return window.skip(count);
    }
    let (mut left, unit) = (count, unit as usize);
    while left > 0 {
        let bytes = window.look(unit)?;
        let here = bytes.len() - bytes.len() % unit;
        let step = usize::try_from(left).map_or(here, |left| left.min(here));
        if step == 0 {
            return Ok(false);
        }
        let piece = bytes.get(..step).unwrap_or_default();
        match kind {
            BasicType::Object => visitor.elements(piece),
            _ => visitor.values(piece),
        }
        window.advance(step);
        left -= step as u64;
    }
    Ok(true)
}
