//! Counts the marked objects of each class and their bytes in the heap.

use super::encoder::is_mirror;
use super::graph_encoder::plan;
use super::{Parts, SizeFacts};
use crate::classes::Class;
use crate::memory::{Memory, ProcessMemory};
use crate::{Failure, Snapshot};
use format::UNIT_BYTES;
use writer::GraphClass;

/// The count of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCount {
    /// Number of objects.
    pub instances: u64,
    /// Their bytes in the heap.
    pub bytes: u64,
}

impl ClassCount {
    /// Sums the counts of several threads, by class index.
    pub fn sum(of_threads: impl IntoIterator<Item = Vec<Self>>) -> Vec<Self> {
        let mut all = of_threads.into_iter();
        let mut sum = all.next().unwrap_or_default();
        for counts in all {
            for (sum, count) in sum.iter_mut().zip(counts) {
                sum.instances += count.instances;
                sum.bytes += count.bytes;
            }
        }
        sum
    }
}

/// One thread's part of the work.
#[derive(Debug)]
pub struct ClassCounter<'s, M = ProcessMemory> {
    snapshot: &'s Snapshot<M>,
    sizes: SizeFacts,
    /// The classes as far as they have been met, by class index.
    kinds: Vec<Option<GraphClass>>,
    counts: Vec<ClassCount>,
}

impl<'s, M: Memory> ClassCounter<'s, M> {
    /// A counter without counts.
    pub fn new(snapshot: &'s Snapshot<M>, sizes: SizeFacts) -> Self {
        let classes = snapshot.classes.index_end();
        let mut kinds = Vec::new();
        kinds.resize_with(classes, || None);
        Self {
            snapshot,
            sizes,
            kinds,
            counts: vec![ClassCount::default(); classes],
        }
    }

    /// Counts parts until none is left; an error ends the work of all threads. Returns the counts
    /// by class index.
    pub fn run(mut self, parts: &Parts) -> Result<Vec<ClassCount>, Failure> {
        let marks = &self.snapshot.marks;
        while let Some(objects) = parts.take().and_then(|number| marks.part(number)) {
            self.part(objects).inspect_err(|_| parts.end())?;
        }
        Ok(self.counts)
    }

    fn part(&mut self, objects: impl Iterator<Item = u64>) -> Result<(), Failure> {
        let mut heap_bytes = 0;
        for address in objects {
            let class = self.snapshot.class_of(address)?;
            let bytes = self.size(class, address)?;
            self.snapshot.check_is_here(address, bytes)?;
            heap_bytes += bytes;
            let count = self.counts.get_mut(class.id.index());
            let count = count.ok_or(Failure::UnknownClass)?;
            count.instances += 1;
            count.bytes += bytes;
        }
        self.snapshot.note_encoded(heap_bytes);
        Ok(())
    }

    /// The bytes of an object in the heap.
    fn size(&mut self, class: &Class, address: u64) -> Result<u64, Failure> {
        let snapshot = self.snapshot;
        if is_mirror(snapshot, class, address) {
            if let Some(words) = self.sizes.places.mirror_words(snapshot, address) {
                return Ok(u64::from(words) * UNIT_BYTES);
            }
        }
        let slot = self.kinds.get_mut(class.id.index());
        let slot = slot.ok_or(Failure::UnknownClass)?;
        let kind = match slot {
            Some(kind) => kind,
            None => slot.insert(plan(snapshot, self.sizes, class)?.class),
        };
        let (header, width) = match kind {
            GraphClass::Instance { heap_bytes, .. } => return Ok(*heap_bytes),
            GraphClass::References {
                header_bytes,
                width_bytes,
                ..
            } => (*header_bytes, *width_bytes),
            GraphClass::Values { kind, header_bytes } => {
                (*header_bytes, u64::from(kind.size_bytes(8)))
            }
        };
        let length = snapshot.layout.length(snapshot.memory, address);
        let bytes = header + u64::from(length) * width;
        snapshot.check_length(address, bytes)?;
        Ok(bytes.next_multiple_of(self.sizes.alignment_bytes.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::{ClassMap, Shape, SizePlaces};
    use format::BasicType;

    const SIZES: SizeFacts = SizeFacts {
        alignment_bytes: 16,
        places: SizePlaces {
            in_klass: None,
            in_mirror: None,
        },
    };

    fn counted(words: &[u64], shape: Shape, marked: &[u64]) -> Result<Vec<ClassCount>, Failure> {
        let snapshot = Snapshot::of_words(words, vec![shape]);
        for object in marked {
            assert!(snapshot.marks.mark(*object));
        }
        ClassCounter::new(&snapshot, SIZES).run(&Parts::default())
    }

    #[test]
    fn marked_objects_are_counted_and_aligned() {
        // Mark, class, length, elements.
        let words = [1, 1, 2, 0, 0, 1, 1, 0_u64, 1, 1, 0];
        let at = words.as_ptr() as u64;
        let arrays = Shape::PrimitiveArray(BasicType::Long);
        let counts = counted(&words, arrays, &[at, at + 64]).expect("no failure");
        let total = ClassCount::sum([counts.clone(), counts]);
        let found: Vec<_> = total.into_iter().filter(|it| it.instances > 0).collect();
        // Each of 40 and of 24 bytes.
        let expected = ClassCount {
            instances: 4,
            bytes: 2 * (48 + 32),
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn an_array_that_ends_behind_the_heap_is_refused() {
        let words = [1, 1, 3, 0, 0_u64];
        let at = words.as_ptr() as u64;
        for shape in [Shape::ObjectArray, Shape::PrimitiveArray(BasicType::Long)] {
            assert_eq!(counted(&words, shape, &[at]), Err(Failure::TooLong(at)));
        }
    }

    #[test]
    fn a_mirror_has_the_size_that_it_tells() {
        // Mark, class, and the word with the size.
        let words = [1, 1, 5, 0, 0_u64];
        let at = words.as_ptr() as u64;
        let mut snapshot = Snapshot::of_words(&words, Vec::new());
        let class = tables::ClassId::from_index(0).expect("an id");
        let classes = ClassMap::of_shapes(vec![Shape::ObjectArray]);
        snapshot.classes = classes.with_mirror(class, at, class);
        assert!(snapshot.marks.mark(at));
        let places = SizePlaces {
            in_klass: None,
            in_mirror: Some(16),
        };
        let sizes = SizeFacts { places, ..SIZES };
        let counts = ClassCounter::new(&snapshot, sizes).run(&Parts::default());
        let mirror = ClassCount {
            instances: 1,
            bytes: 40,
        };
        assert_eq!(counts.map(|it| it.first().copied()), Ok(Some(mirror)));
    }
}
