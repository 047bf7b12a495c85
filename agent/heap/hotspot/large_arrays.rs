//! Large arrays: written as soon as the walk comes to them, so that the disk is not idle while the rest is marked.

use super::class_map::{Class, Shape};
use super::encode::{Encoded, Encoder};
use super::failure::Failure;
use super::reach::OnObject;
use super::snapshot::Snapshot;
use tables::BasicType;
use writer::{Deliver, Segments};

/// Bytes of elements from which on an array is large: so many that few arrays are, and their place in the order of addresses is
/// of no use to anybody.
const LEAST_BYTES: u64 = 64 << 10;

/// One thread's part of them.
#[derive(Debug)]
pub(super) struct LargeArrays<'s, D> {
    snapshot: &'s Snapshot,
    encoder: Encoder<'s, D>,
    /// The arrays that were written.
    written: Vec<u64>,
}

impl<'s, D: Deliver> LargeArrays<'s, D> {
    /// None yet; their records go to `segments`.
    pub(super) fn new(snapshot: &'s Snapshot, segments: Segments<D>) -> Self {
        Self {
            snapshot,
            encoder: Encoder::new(snapshot, segments, false),
            written: Vec::new(),
        }
    }

    /// Takes the marks of these arrays back, so that nobody writes them again, and tells what was encoded. After the walk.
    pub(super) fn finish(self) -> Result<Encoded, Failure> {
        for address in self.written {
            self.snapshot.marks.unmark(address);
        }
        self.encoder.finish()
    }
}

impl<D: Deliver> OnObject for LargeArrays<'_, D> {
    #[inline]
    fn object(&mut self, class: &Class, address: u64) -> Result<bool, Failure> {
        let element_type = match class.shape {
            Shape::ObjectArray => BasicType::Object,
            Shape::PrimitiveArray(element_type) => element_type,
            Shape::Instance { .. } | Shape::Unknown => return Ok(false),
        };
        let (memory, layout) = (self.snapshot.memory, &self.snapshot.layout);
        let width_bytes = element_type.size_bytes(8);
        let length = layout.length(memory, address);
        if u64::from(length) * u64::from(width_bytes) < LEAST_BYTES {
            return Ok(false);
        }
        self.encoder.put(class, address)?;
        self.written.push(address);
        Ok(true)
    }
}
