//! Scans the sub-records of a heap dump and calls a visitor for each: the fast path over millions
//! of objects.
//!
//! [`reader::DumpReader`] returns the same records as events, with all checks. Here a record costs
//! only a few loads.

use format::heap::{head_bytes, Instance};
use format::{heap, record};
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
            Some(&heap::GRAPH_OBJECTS) if ID == 8 => graph_objects(window, visitor)?,
            Some(tag) => {
                let is_class = *tag == heap::CLASS_DUMP;
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
    match record {
        HeapRecord::Instance(instance) => {
            let head = head(instance.object, instance.trace, instance.class);
            return visit_instance(window, twins, visitor, (head, head_bytes, data_bytes));
        }
        HeapRecord::ObjectArray(array) => {
            let head = head(array.object, array.trace, array.class);
            visitor.object_array(offset, head, array.length);
            window.advance(head_bytes);
            return in_pieces(window, visitor, data_bytes, ID, Visitor::elements);
        }
        HeapRecord::PrimitiveArray(array) | HeapRecord::NoData(array) => {
            let head = head(array.object, array.trace, 0);
            visitor.primitive_array(offset, head, array.length, array.kind);
            window.advance(head_bytes);
            let unit = array.kind.size_bytes(ID);
            return in_pieces(window, visitor, data_bytes, unit, Visitor::values);
        }
        HeapRecord::Class(dump) if twins.get(dump.class).is_none() => {
            visitor.class(offset, *dump, None);
        }
        HeapRecord::Root(root) => visitor.root(root),
        HeapRecord::Class(_) | HeapRecord::HeapInfo(_) => {}
    }
    window.advance(head_bytes);
    Ok(true)
}

#[inline]
fn visit_instance<V: Visitor>(
    window: &mut Source<'_>,
    twins: &Twins,
    visitor: &mut V,
    (head, head_bytes, data_bytes): (Head, usize, u64),
) -> Result<bool, ReadError> {
    let offset = window.offset();
    let end = head_bytes + usize::try_from(data_bytes).unwrap_or(usize::MAX);
    if !V::WANTS_DATA {
        visitor.instance(offset, head, &[]);
        return window.skip(end as u64);
    }
    if end - head_bytes > INSTANCE_BYTES_MAX {
        return Ok(false);
    }
    let Some(data) = window.look(end)?.get(head_bytes..end) else {
        return Ok(false);
    };
    match twins.get(head.object) {
        Some(dump) => visitor.class(offset, dump.clone(), Some(data)),
        None => visitor.instance(offset, head, data),
    }
    window.advance(end);
    Ok(true)
}

/// Passes the next `count` bytes to the visitor, if it wants data, in pieces of whole units.
/// Returns whether they are there.
fn in_pieces<V: Visitor>(
    window: &mut Source<'_>,
    visitor: &mut V,
    count: u64,
    unit: u32,
    take: fn(&mut V, &[u8]),
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
        take(visitor, bytes.get(..step).unwrap_or_default());
        window.advance(step);
        left -= step as u64;
    }
    Ok(true)
}
