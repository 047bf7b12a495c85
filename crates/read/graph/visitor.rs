//! What a scan passes to its visitor, and how the ids in it are read.

use format::BasicType;
use reader::{ClassDump, Root};

/// Most bytes of field values of one instance. No class in a JVM has that many fields.
pub(crate) const INSTANCE_BYTES_MAX: usize = 64 << 20;

/// Receives the records of a scan, in file order.
pub(crate) trait Visitor {
    /// Whether it wants field values and elements; otherwise they are skipped.
    const WANTS_DATA: bool = true;

    /// A root.
    fn root(&mut self, _root: Root) {}
    /// A class, which is also an object. `own` has the values of the object's own fields, which
    /// only native images write.
    fn class(&mut self, offset: u64, dump: ClassDump, own: Option<&[u8]>);
    /// An object that is neither a class nor an array. `data` has its field values if the visitor
    /// wants them.
    fn instance(&mut self, offset: u64, head: Head, data: &[u8]);
    /// An array of elements of this type. They follow if the visitor wants them. The class of an
    /// array of primitive values is 0.
    fn array(&mut self, offset: u64, head: Head, length: u32, kind: BasicType);
    /// Some elements of the last array of references, as whole ids.
    fn elements(&mut self, _ids: &[u8]) {}
    /// Some bytes of the last primitive array's elements.
    fn values(&mut self, _bytes: &[u8]) {}
}

/// The common part of all objects except classes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Id of the object.
    pub(crate) object: u64,
    /// Serial number of its allocation trace.
    pub(crate) trace: u32,
    /// Id of its class; 0 for primitive arrays.
    pub(crate) class: u64,
    /// Its size in the heap, in units; 0 if the file does not contain it.
    pub(crate) units: u32,
}

/// The identifier at `at`; 0 if `bytes` is too short.
#[inline]
pub(crate) fn id_at<const ID: usize>(bytes: &[u8], at: usize) -> u64 {
    if ID == 4 {
        return u64::from(u32_at(bytes, at));
    }
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk::<8>());
    word.map_or(0, |word| u64::from_be_bytes(*word))
}

/// The identifier of `id_bytes` at `at`; 0 if `bytes` is too short.
#[inline]
pub(crate) fn id_in(bytes: &[u8], at: usize, id_bytes: u32) -> u64 {
    match id_bytes {
        4 => id_at::<4>(bytes, at),
        _ => id_at::<8>(bytes, at),
    }
}

/// The 32-bit number at `at`; 0 if `bytes` is too short.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk::<4>());
    word.map_or(0, |word| u32::from_be_bytes(*word))
}
