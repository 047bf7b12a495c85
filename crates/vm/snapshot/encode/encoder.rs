//! Encodes every object that is still marked as a record, in address order. In a compressed file,
//! the records of each part of the heap are grouped by class.
//!
//! Address order means that the heap is read from front to back, and that neighbours in the heap
//! are neighbours in the file. Such a file is faster to read and compresses better than one in the
//! order of the walk.

use super::allocated::Allocated;
use super::field_copy::{FieldCopy, AT_ONCE_BYTES};
use super::groups::{Found, Groups};
use super::room::fill;
use crate::classes::{Class, Shape};
use crate::memory::{Memory, ProcessMemory};
use crate::{Failure, Snapshot};
use format::sub_record::{Instance, ObjectArray, PrimitiveArray};
use format::{sub_record, BasicType};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tables::TraceId;
use writer::heap_record::encode_head;
use writer::{Deliver, Segments, WriteError};

/// Counts of what was encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Objects, mirrors included.
    pub objects: u64,
    /// Arrays that were cut because their record would have exceeded 4 GiB.
    pub cut_arrays: u64,
}

impl Encoded {
    /// Sums the counts of several threads.
    pub fn sum(of_threads: impl IntoIterator<Item = Self>) -> Self {
        let add = |sum: Self, one: Self| Self {
            objects: sum.objects + one.objects,
            cut_arrays: sum.cut_arrays + one.cut_arrays,
        };
        of_threads.into_iter().fold(Self::default(), add)
    }
}

/// The parts of the heap that no thread has taken yet.
#[derive(Debug, Default)]
pub struct Parts {
    next: AtomicUsize,
    ended: AtomicBool,
}

impl Parts {
    /// The number of a part that nobody else gets.
    pub(super) fn take(&self) -> Option<usize> {
        let ended = self.ended.load(Ordering::Relaxed);
        (!ended).then(|| self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Ends the work of all threads, because one of them failed.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// One thread's share of the encoding.
#[derive(Debug)]
pub struct Encoder<'s, D, M = ProcessMemory> {
    snapshot: &'s Snapshot<M>,
    segments: Segments<D>,
    encoded: Encoded,
    /// Bytes of heap encoded since the last progress report.
    heap_bytes: u64,
    allocated: Allocated,
    /// Groups the objects by class; `None` leaves them in address order.
    groups: Option<Groups<'s>>,
}

impl<'s, D: Deliver, M: Memory> Encoder<'s, D, M> {
    /// An encoder that writes its records to `segments`, grouped by class if `grouped`.
    pub fn new(snapshot: &'s Snapshot<M>, segments: Segments<D>, grouped: bool) -> Self {
        Self {
            snapshot,
            segments,
            encoded: Encoded::default(),
            heap_bytes: 0,
            allocated: Allocated::default(),
            groups: grouped.then(|| Groups::new(snapshot.classes.index_end())),
        }
    }

    /// Encodes parts until none is left. An error ends the work of all threads.
    pub fn run(mut self, parts: &Parts) -> Result<Encoded, Failure> {
        let marks = &self.snapshot.marks;
        while let Some(objects) = parts.take().and_then(|number| marks.part(number)) {
            self.part(objects).inspect_err(|_| parts.end())?;
            self.tell();
        }
        self.finish()
    }

    /// Encodes one object regardless of address order.
    pub fn put(&mut self, class: &Class, address: u64) -> Result<(), Failure> {
        self.allocated.restart();
        let trace = self.trace(address);
        self.encode(class, Found { address, trace })?;
        self.tell();
        Ok(())
    }

    /// Delivers the last segment and returns the counts.
    pub fn finish(self) -> Result<Encoded, Failure> {
        self.segments.finish()?;
        Ok(self.encoded)
    }

    /// Reports progress to the parent.
    fn tell(&mut self) {
        let heap_bytes = std::mem::take(&mut self.heap_bytes);
        self.snapshot.note_encoded(heap_bytes);
    }

    fn part(&mut self, objects: impl Iterator<Item = u64>) -> Result<(), Failure> {
        self.allocated.restart();
        let mut groups = self.groups.take();
        for address in objects {
            let class = self.snapshot.class_of(address)?;
            let trace = self.trace(address);
            let found = Found { address, trace };
            match &mut groups {
                None => self.encode(class, found)?,
                Some(groups) => groups.add(class, found).ok_or(Failure::UnknownClass)?,
            }
        }
        if let Some(groups) = &mut groups {
            for (class, objects) in groups.take() {
                objects
                    .iter()
                    .try_for_each(|&found| self.encode(class, found))?;
            }
        }
        self.groups = groups;
        Ok(())
    }

    #[inline]
    fn encode(&mut self, class: &Class, found: Found) -> Result<(), Failure> {
        let heap_bytes = self.record(class, found)?;
        self.encoded.objects += 1;
        self.heap_bytes += heap_bytes;
        self.snapshot.check_is_here(found.address, heap_bytes)
    }

    /// Encodes an object and returns its size in the heap, in bytes.
    #[inline]
    fn record(&mut self, class: &Class, found: Found) -> Result<u64, Failure> {
        let (object, trace) = (found.address, found.trace.get());
        if object == 0 || class.mirror == 0 {
            return Err(Failure::NoMirror);
        }
        match &class.shape {
            // A mirror is written as the CLASS DUMP of its class.
            Shape::Instance { .. } if is_mirror(self.snapshot, class, found.address) => Ok(0),
            Shape::Instance {
                fields,
                data_bytes,
                heap_bytes,
                ..
            } => {
                let head = Instance {
                    object,
                    trace,
                    class: class.mirror,
                    data_bytes: *data_bytes,
                };
                self.instance(&head, fields)?;
                Ok(u64::from(*heap_bytes))
            }
            Shape::ObjectArray => self.object_array(&ObjectArray {
                object,
                trace,
                length: self.snapshot.layout.length(self.snapshot.memory, object),
                class: class.mirror,
            }),
            Shape::PrimitiveArray(element_type) => self.primitive_array(&PrimitiveArray {
                object,
                trace,
                length: self.snapshot.layout.length(self.snapshot.memory, object),
                kind: *element_type,
            }),
            Shape::Unknown => Err(Failure::Unlinked(vec![class.id])),
        }
    }

    /// The trace that allocated the object. Within a part, addresses must come in ascending order.
    fn trace(&mut self, address: u64) -> TraceId {
        self.allocated.trace(&self.snapshot.allocated, address)
    }

    fn instance(&mut self, head: &Instance, fields: &[FieldCopy]) -> Result<(), Failure> {
        let (memory, object) = (self.snapshot.memory, head.object);
        let oops = self.snapshot.layout.oops;
        self.segments.record(|out| {
            encode_head(sub_record::INSTANCE_DUMP, head, out);
            fill(out, (head.data_bytes + AT_ONCE_BYTES) as usize, |room| {
                for field in fields {
                    let read = memory.u64(field.place(object));
                    room.put_first(field.value(memory, read, oops), field.width_bytes());
                }
            });
            Ok(())
        })?;
        Ok(())
    }

    /// Encodes an array and returns its size in the heap, in bytes.
    fn object_array(&mut self, head: &ObjectArray) -> Result<u64, Failure> {
        let (memory, layout) = (self.snapshot.memory, &self.snapshot.layout);
        let array = head.object;
        let start = array + layout.arrays.elements(BasicType::Object);
        let width = layout.oops.width_bytes();
        let length = u64::from(head.length);
        let heap_bytes = start - array + length * width;
        self.snapshot.check_length(array, heap_bytes)?;
        let missing = self
            .segments
            .object_array_with(head, length, |range, out| {
                let elements = usize::try_from(range.end - range.start).unwrap_or(0);
                fill(out, elements * 8, |room| {
                    for index in range {
                        let element = layout.oops.load(memory, start + index * width);
                        room.put(element.to_be_bytes());
                    }
                });
                Ok(())
            })?;
        self.encoded.cut_arrays += u64::from(missing > 0);
        Ok(heap_bytes)
    }

    /// Encodes an array and returns its size in the heap, in bytes.
    fn primitive_array(&mut self, head: &PrimitiveArray) -> Result<u64, Failure> {
        let snapshot = self.snapshot;
        let (array, element_type, length) = (head.object, head.kind, head.length);
        let start = array + snapshot.layout.arrays.elements(element_type);
        let element_bytes = length as usize * element_type.size_bytes(8) as usize;
        let heap_bytes = start - array + element_bytes as u64;
        snapshot.check_length(array, heap_bytes)?;
        let missing = if snapshot.values.keeps_elements(array) {
            let elements = snapshot.memory.bytes(start, element_bytes);
            self.segments.primitive_array(head, elements)?
        } else {
            self.segments.zeroed_array(head, length)?
        };
        self.encoded.cut_arrays += u64::from(missing > 0);
        Ok(heap_bytes)
    }
}

/// Whether an object is a mirror, which is written as the CLASS DUMP of its class.
pub(super) fn is_mirror<M>(snapshot: &Snapshot<M>, class: &Class, object: u64) -> bool {
    class.is_class_class && snapshot.classes.class_of_mirror(object).is_some()
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::BufferMemory;

    #[test]
    fn what_threads_encoded_adds_up() {
        let one = |objects, cut_arrays| Encoded {
            objects,
            cut_arrays,
        };
        assert_eq!(Encoded::sum([one(3, 1), one(4, 2)]), one(7, 3));
    }

    #[test]
    fn an_array_whose_values_are_not_wanted_keeps_its_length() {
        // The array's words: mark, class, length, two elements.
        let words = [1, 1, 2, 0x7777, 0x7777_u64];
        let shapes = vec![Shape::PrimitiveArray(BasicType::Long)];
        let mut snapshot = Snapshot::of_words(&words, shapes);
        snapshot.values.arrays = false;
        let mut file = Vec::new();
        let segments = Segments::new(|bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        });
        let mut encoder = Encoder::new(&snapshot, segments, false);
        let array = words.as_ptr() as u64;
        let class = snapshot.class_of(array).expect("a class");
        encoder.put(class, array).expect("no error");
        encoder.finish().expect("no error");
        // After the segment's header: the tag, the array, the trace, the length, the type.
        assert_eq!(file[9 + 13..9 + 17], [0, 0, 0, 2]);
        assert_eq!(file[9 + 18..], [0; 16]);
    }

    #[test]
    fn an_object_out_of_order_has_its_own_trace() {
        // Three objects without fields. The first and the last were sampled.
        let words = [1, 1, 1, 1, 1, 1_u64];
        let at = |number: u64| words.as_ptr() as u64 + number * 16;
        let shape = Shape::Instance {
            fields: Vec::new(),
            data_bytes: 0,
            references: Vec::new(),
            primitive_arrays: Vec::new(),
            heap_bytes: 16,
        };
        let mut snapshot = Snapshot::of_words(&words, vec![shape]);
        let trace = |number| TraceId::new(number).expect("a trace");
        snapshot.allocated = vec![(at(0), trace(7)), (at(2), trace(9))];
        let mut file = Vec::new();
        let segments = Segments::new(|bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        });
        let mut encoder = Encoder::new(&snapshot, segments, false);
        for number in [2, 0, 1, 2] {
            let class = snapshot.class_of(at(number)).expect("a class");
            encoder.put(class, at(number)).expect("no error");
        }
        assert_eq!(encoder.finish().expect("no error").objects, 4);
        // After the segment's header: the tag, the object, the trace, the class, no bytes.
        let traces: Vec<_> = file[9..].chunks(25).map(|record| record[12]).collect();
        let [.., none] = TraceId::EMPTY.get().to_be_bytes();
        assert_eq!(traces, [9, 7, none, 9]);
    }

    #[test]
    fn objects_in_order_have_their_own_traces() {
        // Six objects without fields. Three were sampled.
        let words = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1_u64];
        let at = |number: u64| words.as_ptr() as u64 + number * 16;
        let shape = Shape::Instance {
            fields: Vec::new(),
            data_bytes: 0,
            references: Vec::new(),
            primitive_arrays: Vec::new(),
            heap_bytes: 16,
        };
        let mut snapshot = Snapshot::of_words(&words, vec![shape]);
        let trace = |number| TraceId::new(number).expect("a trace");
        // The fourth was sampled and has been freed.
        snapshot.allocated = vec![
            (at(0), trace(7)),
            (at(2), trace(8)),
            (at(3), trace(6)),
            (at(5), trace(9)),
        ];
        for number in [0, 1, 2, 4, 5] {
            assert!(snapshot.marks.mark(at(number)));
        }
        for grouped in [false, true] {
            let mut file = Vec::new();
            let segments = Segments::new(|bytes: Vec<u8>| {
                file.extend(bytes);
                Ok(())
            });
            let encoded = Encoder::new(&snapshot, segments, grouped).run(&Parts::default());
            assert_eq!(encoded.expect("no failure").objects, 5);
            let traces: Vec<_> = file[9..].chunks(25).map(|record| record[12]).collect();
            let [.., none] = TraceId::EMPTY.get().to_be_bytes();
            assert_eq!(traces, [7, none, 8, none, 9]);
        }
    }

    /// The border of a part that is left out. The heap has a few words on both sides of it.
    const BORDER: u64 = 1 << 21;

    /// Encodes an array of this class that begins 40 bytes before the border; the heap ends 40
    /// bytes after it.
    fn across(class: u64, elements: u64, left_out: bool) -> Result<Encoded, Failure> {
        let words = [1, class, elements, 0, 0, 0, 0, 0, 0, 0_u64];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let start = BORDER - 40;
        let memory = BufferMemory::new(start, &bytes);
        let shapes = vec![Shape::ObjectArray, Shape::PrimitiveArray(BasicType::Long)];
        let mut snapshot = Snapshot::invented(memory, start..start + 80, shapes);
        if left_out {
            snapshot.left_out.push(BORDER..2 * BORDER);
        }
        assert!(snapshot.marks.mark(start));
        let segments = Segments::new(|_: Vec<u8>| Ok(()));
        Encoder::new(&snapshot, segments, false).run(&Parts::default())
    }

    #[test]
    fn what_reaches_into_a_part_that_is_left_out_is_refused() {
        for class in [1, 2] {
            let whole = Encoded {
                objects: 1,
                cut_arrays: 0,
            };
            assert_eq!(across(class, 2, true), Ok(whole));
            assert_eq!(across(class, 3, true), Err(Failure::LeftOut(BORDER - 40)));
            assert_eq!(across(class, 3, false), Ok(whole));
        }
    }

    #[test]
    fn an_array_that_ends_behind_the_heap_is_refused() {
        for class in [1, 2] {
            assert!(across(class, 7, false).is_ok());
            for elements in [8, u64::from(u32::MAX)] {
                let answer = across(class, elements, false);
                assert_eq!(answer, Err(Failure::TooLong(BORDER - 40)));
            }
        }
    }

    #[test]
    fn a_mirror_has_no_record_beside_its_classs() {
        let words = [1, 1, 1, 1_u64];
        let start = words.as_ptr() as u64;
        let shapes = || {
            vec![Shape::Instance {
                fields: Vec::new(),
                data_bytes: 0,
                references: Vec::new(),
                primitive_arrays: Vec::new(),
                heap_bytes: 16,
            }]
        };
        let mut snapshot = Snapshot::of_words(&words, shapes());
        let class = tables::ClassId::from_index(0).expect("an id");
        snapshot.classes =
            crate::classes::ClassMap::of_shapes(shapes()).with_mirror(class, start, class);
        assert!(snapshot.marks.mark(start) && snapshot.marks.mark(start + 16));
        let mut file = Vec::new();
        let segments = Segments::new(|bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        });
        let encoded = Encoder::new(&snapshot, segments, false).run(&Parts::default());
        assert_eq!(encoded.expect("no failure").objects, 2);
        // A segment's header, and one record: the tag, the object, the trace, the class, no bytes.
        assert_eq!(file.len(), 9 + 25);
        assert_eq!(file[10..18], (start + 16).to_be_bytes());
    }
}
