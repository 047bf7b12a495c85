//! Scans the sub-records of a heap dump and calls a visitor for each: the fast path over millions
//! of objects.
//!
//! [`reader::DumpReader`] returns the same records as events, with all checks. Here a record costs
//! only a few loads.

use format::heap::{head_bytes, HeapInfo, Instance, ObjectArray, PrimitiveArray};
use format::kind::Bytes;
use format::{heap, record, BasicType, RootKind};

use crate::graph_objects::graph_objects;
use crate::twins::Twins;
use crate::visitor::{id_at, id_bytes, u32_at, Head, Visitor, INSTANCE_BYTES_MAX};
use reader::{class_dump_in, ReadError, Root, Source, CLASS_BYTES_MAX};

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
    if id_bytes == 4 {
        scan_ids::<4>(window, end, twins, visitor)
    } else {
        scan_ids::<8>(window, end, twins, visitor)
    }
}

fn scan_ids<const ID: usize>(
    window: &mut Source<'_>,
    end: u64,
    twins: &Twins,
    visitor: &mut impl Visitor,
) -> Result<ScanEnd, ReadError> {
    while window.offset() < end {
        let offset = window.offset();
        let bytes = window.look(HEAD_BYTES)?;
        let tag = match bytes.first() {
            None | Some(&record::HEAP_DUMP_END) if end == OPEN_END => return Ok(ScanEnd::Whole),
            None => return Ok(ScanEnd::Damaged(offset)),
            Some(tag) => *tag,
        };
        let whole = match tag {
            heap::INSTANCE_DUMP => instance::<ID>(window, end, twins, visitor)?,
            heap::OBJ_ARRAY_DUMP => object_array::<ID>(window, end, visitor)?,
            heap::PRIM_ARRAY_DUMP | heap::PRIM_ARRAY_NODATA => {
                primitive_array::<ID>(window, end, visitor, tag)?
            }
            heap::CLASS_DUMP => class::<ID>(window, end, twins, visitor)?,
            heap::GRAPH_OBJECTS if ID == 8 => graph_objects(window, visitor)?,
            heap::HEAP_DUMP_INFO => {
                let bytes = head_bytes::<HeapInfo>(id_bytes::<ID>()).into();
                fits(window, end, bytes) && window.skip(bytes)?
            }
            _ => root::<ID>(window, end, visitor, tag)?,
        };
        if !whole || window.offset() > end {
            return Ok(ScanEnd::Damaged(offset));
        }
    }
    Ok(ScanEnd::Whole)
}

/// Whether a sub-record of so many bytes at the window's front ends before `end`.
#[inline]
fn fits(window: &Source<'_>, end: u64, bytes: u64) -> bool {
    end.saturating_sub(window.offset()) >= bytes
}

/// Each returns whether the record is complete.
fn class<const ID: usize>(
    window: &mut Source<'_>,
    end: u64,
    twins: &Twins,
    visitor: &mut impl Visitor,
) -> Result<bool, ReadError> {
    let (offset, id_bytes) = (window.offset(), id_bytes::<ID>());
    let mut read = class_dump_in(window.look(1)?, id_bytes);
    if read.is_none() {
        read = class_dump_in(window.look(CLASS_BYTES_MAX)?, id_bytes);
    }
    let Some((dump, bytes)) = read.filter(|(_, bytes)| fits(window, end, *bytes as u64)) else {
        return Ok(false);
    };
    if twins.get(dump.class).is_none() {
        visitor.class(offset, dump, None);
    }
    window.advance(bytes);
    Ok(true)
}

#[inline]
fn instance<const ID: usize>(
    window: &mut Source<'_>,
    end: u64,
    twins: &Twins,
    visitor: &mut impl Visitor,
) -> Result<bool, ReadError> {
    let head_bytes = head_bytes::<Instance>(id_bytes::<ID>()) as usize;
    let offset = window.offset();
    let bytes = window.look(head_bytes)?;
    if bytes.len() < head_bytes {
        return Ok(false);
    }
    let head = Head {
        object: id_at::<ID>(bytes, 1),
        trace: u32_at(bytes, 1 + ID),
        class: id_at::<ID>(bytes, 1 + ID + 4),
        units: 0,
    };
    let data_bytes = u32_at(bytes, 1 + ID + 4 + ID) as usize;
    if !fits(window, end, (head_bytes + data_bytes) as u64) {
        return Ok(false);
    }
    if !wants_data(visitor) {
        visitor.instance(offset, head, &[]);
        return window.skip((head_bytes + data_bytes) as u64);
    }
    if data_bytes > INSTANCE_BYTES_MAX {
        return Ok(false);
    }
    let bytes = window.look(head_bytes + data_bytes)?;
    let Some(data) = bytes.get(head_bytes..head_bytes + data_bytes) else {
        return Ok(false);
    };
    match twins.get(head.object) {
        Some(dump) => visitor.class(offset, dump.clone(), Some(data)),
        None => visitor.instance(offset, head, data),
    }
    window.advance(head_bytes + data_bytes);
    Ok(true)
}

fn wants_data<V: Visitor>(_: &V) -> bool {
    V::WANTS_DATA
}

fn object_array<const ID: usize>(
    window: &mut Source<'_>,
    end: u64,
    visitor: &mut impl Visitor,
) -> Result<bool, ReadError> {
    let head_bytes = head_bytes::<ObjectArray>(id_bytes::<ID>()) as usize;
    let offset = window.offset();
    let bytes = window.look(head_bytes)?;
    if bytes.len() < head_bytes {
        return Ok(false);
    }
    let head = Head {
        object: id_at::<ID>(bytes, 1),
        trace: u32_at(bytes, 1 + ID),
        class: id_at::<ID>(bytes, 1 + ID + 8),
        units: 0,
    };
    let length = u32_at(bytes, 1 + ID + 4);
    let data_bytes = u64::from(length) * ID as u64;
    if !fits(window, end, head_bytes as u64 + data_bytes) {
        return Ok(false);
    }
    window.advance(head_bytes);
    visitor.object_array(offset, head, length);
    if !wants_data(visitor) {
        return window.skip(data_bytes);
    }
    in_pieces(window, data_bytes, ID, |ids| visitor.elements(ids))
}

fn primitive_array<const ID: usize>(
    window: &mut Source<'_>,
    end: u64,
    visitor: &mut impl Visitor,
    tag: u8,
) -> Result<bool, ReadError> {
    let head_bytes = head_bytes::<PrimitiveArray>(id_bytes::<ID>()) as usize;
    let offset = window.offset();
    let bytes = window.look(head_bytes)?;
    let (Some(code), false) = (bytes.get(head_bytes - 1), bytes.len() < head_bytes) else {
        return Ok(false);
    };
    let kind = match BasicType::from_code(*code) {
        None | Some(BasicType::Object) => return Ok(false),
        Some(kind) => kind,
    };
    let head = Head {
        object: id_at::<ID>(bytes, 1),
        trace: u32_at(bytes, 1 + ID),
        class: 0,
        units: 0,
    };
    let length = u32_at(bytes, 1 + ID + 4);
    let size = match tag {
        heap::PRIM_ARRAY_NODATA => 0,
        _ => kind.size_bytes(8),
    };
    let data_bytes = u64::from(length) * u64::from(size);
    if !fits(window, end, head_bytes as u64 + data_bytes) {
        return Ok(false);
    }
    window.advance(head_bytes);
    visitor.primitive_array(offset, head, length, kind);
    if !wants_data(visitor) {
        return window.skip(data_bytes);
    }
    in_pieces(window, data_bytes, size as usize, |bytes| {
        visitor.values(bytes)
    })
}

/// Passes on `count` bytes in pieces of whole units.
fn in_pieces(
    window: &mut Source<'_>,
    count: u64,
    unit: usize,
    mut take: impl FnMut(&[u8]),
) -> Result<bool, ReadError> {
    let mut left = count;
    while left > 0 {
        let bytes = window.look(unit)?;
        let here = bytes.len() - bytes.len() % unit;
        let step = usize::try_from(left).map_or(here, |left| left.min(here));
        if step == 0 {
            return Ok(false);
        }
        take(bytes.get(..step).unwrap_or_default());
        window.advance(step);
        left -= step as u64;
    }
    Ok(true)
}

fn root<const ID: usize>(
    window: &mut Source<'_>,
    end: u64,
    visitor: &mut impl Visitor,
    tag: u8,
) -> Result<bool, ReadError> {
    let Some(kind) = RootKind::from_tag(tag) else {
        return Ok(false);
    };
    let id_bytes = id_bytes::<ID>();
    let record_bytes = kind.bytes(id_bytes) as usize;
    let is_inside = fits(window, end, record_bytes as u64);
    let bytes = window.look(record_bytes)?;
    let bytes = bytes.get(1..record_bytes).unwrap_or_default();
    match Root::read(tag, &mut Bytes { bytes, id_bytes }) {
        Ok(Some(root)) if is_inside => visitor.root(root),
        _ => return Ok(false),
    }
    window.advance(record_bytes);
    Ok(true)
}
