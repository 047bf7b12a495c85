//! Writes large arrays as soon as the walk reaches them, so that the disk is not idle during
//! marking.
//!
//! The walk does not visit a primitive array reached through a field declared with that array type.
//! The encoder writes those later.

use crate::classes::{Class, Shape};
use crate::encode::{Encoded, Encoder};
use crate::memory::{Memory, ProcessMemory};
use crate::walk::OnObject;
use crate::{Failure, Snapshot};
use format::BasicType;
use writer::{Deliver, Segments};

/// Least element bytes of a large array: high enough that few arrays are large and that readers do
/// not miss their place in the address order.
const LEAST_BYTES: u64 = 64 << 10;

/// One thread's large arrays.
#[derive(Debug)]
pub struct LargeArrays<'s, D, M = ProcessMemory> {
    snapshot: &'s Snapshot<M>,
    encoder: Encoder<'s, D, M>,
    /// The arrays that were written.
    written: Vec<u64>,
}

impl<'s, D: Deliver, M: Memory> LargeArrays<'s, D, M> {
    /// No arrays yet. Records are written to `segments`.
    pub fn new(snapshot: &'s Snapshot<M>, segments: Segments<D>) -> Self {
        Self {
            snapshot,
            encoder: Encoder::new(snapshot, segments, false),
            written: Vec::new(),
        }
    }

    /// Removes the marks of these arrays, so that the encoder does not write them again, and
    /// returns the counts. Call it after the walk.
    pub fn finish(self) -> Result<Encoded, Failure> {
        for address in self.written {
            self.snapshot.marks.unmark(address);
        }
        self.encoder.finish()
    }
}

impl<D: Deliver, M: Memory> OnObject for LargeArrays<'_, D, M> {
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
        let is_large = u64::from(length) * u64::from(width_bytes) >= LEAST_BYTES;
        // Another object may still decide that the elements of a primitive array are dropped.
        let is_open = element_type != BasicType::Object && self.snapshot.values.are_decided();
        // Without linked classes there will be no dump, so do not write to the disk.
        if !is_large || is_open || self.snapshot.check_linked().is_err() {
            return Ok(false);
        }
        self.encoder.put(class, address)?;
        self.written.push(address);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::Walker;
    use crate::walk::{Batch, Work};
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use writer::WriteError;

    /// Words in a large array.
    const LARGE: usize = 20_000;
    /// Words in an instance: mark, class, two references.
    const NODE: usize = 4;

    /// A heap of instances and arrays, and the indexes of those that nothing refers to.
    ///
    /// Array 0 refers many times to all instances but the last. The instances refer to large arrays
    /// of both kinds, to each other, and to null.
    fn heap() -> (Vec<u64>, Vec<usize>, BTreeSet<usize>) {
        let nodes: Vec<usize> = (0..5000).map(|node| LARGE + node * NODE).collect();
        let arrays: Vec<usize> = (0..6)
            .map(|array| 2 * LARGE + 40_000 + array * LARGE)
            .collect();
        let mut words = vec![0_u64; 2 * LARGE + 40_000 + 6 * LARGE];
        let start = words.as_ptr() as u64;
        let at = |index: usize| start + index as u64 * 8;
        let mut put = |index: usize, class: u64, rest: &[u64]| {
            words[index..index + 2].copy_from_slice(&[1, class]);
            words[index + 2..index + 2 + rest.len()].copy_from_slice(rest);
        };
        let reachable = &nodes[..nodes.len() - 1];
        let mut elements = vec![LARGE as u64 - 3];
        elements.extend((0..LARGE - 3).map(|index| at(reachable[index / 3 % reachable.len()])));
        put(0, 2, &elements);
        for (number, &node) in nodes.iter().enumerate() {
            let array = arrays[number % 5];
            let next = reachable[number * 7 % reachable.len()];
            put(
                node,
                1,
                &[at(array), if number % 3 == 0 { 0 } else { at(next) }],
            );
        }
        for (number, &array) in arrays.iter().enumerate() {
            let mut elements = vec![LARGE as u64 - 3];
            elements.resize(LARGE - 2, at(reachable[number]));
            put(array, 2 + (number as u64 & 1), &elements);
        }
        let mut expected: BTreeSet<usize> = reachable.iter().copied().collect();
        expected.insert(0);
        expected.extend(&arrays[..5]);
        (words, arrays, expected)
    }

    fn shapes() -> Vec<Shape> {
        let instance = Shape::Instance {
            fields: Vec::new(),
            data_bytes: 0,
            references: vec![16, 24],
            primitive_arrays: Vec::new(),
            heap_bytes: 32,
        };
        let longs = Shape::PrimitiveArray(BasicType::Long);
        vec![instance, Shape::ObjectArray, longs]
    }

    #[test]
    fn all_that_is_reached_is_marked_or_written_once() {
        let (words, arrays, mut expected) = heap();
        let start = words.as_ptr() as u64;
        for walkers in [1, 2, 5] {
            let snapshot = Snapshot::of_words(&words, shapes());
            let work = Work::new(vec![Batch::References(vec![start])]);
            let bytes = Mutex::new(0);
            let nowhere = |buffer: Vec<u8>| -> Result<(), WriteError> {
                *bytes.lock().expect("no panic") += buffer.len();
                Ok(())
            };
            let encoded = std::thread::scope(|scope| {
                let walk = || {
                    let arrays = LargeArrays::new(&snapshot, Segments::new(nowhere));
                    Walker::new(&snapshot, &work, arrays).run()
                };
                let threads: Vec<_> = (0..walkers).map(|_| scope.spawn(walk)).collect();
                let walked: Vec<_> = threads
                    .into_iter()
                    .map(|thread| thread.join().expect("no panic").expect("no failure"))
                    .collect();
                Encoded::sum(
                    walked
                        .into_iter()
                        .map(|arrays| arrays.finish().expect("written")),
                )
            });
            // The array with all instances, and the five that instances refer to.
            assert_eq!(encoded.objects, 6);
            assert!(bytes.into_inner().expect("no panic") > 6 * 8 * (LARGE - 3));
            for array in [0].iter().chain(&arrays) {
                expected.remove(array);
            }
            let marks = snapshot.marks.part(0).into_iter().flatten();
            let marks = marks.chain(snapshot.marks.part(1).into_iter().flatten());
            let marked: BTreeSet<usize> = marks.map(|at| ((at - start) / 8) as usize).collect();
            assert_eq!(marked, expected, "{walkers} walkers");
        }
    }
}
