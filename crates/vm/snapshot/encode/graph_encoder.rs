//! Encodes a graph stream: every marked object with its class, size and references, and the few
//! numbers of [`format::sent_numbers`].

use super::allocated::Allocated;
use super::encoder::is_mirror;
use super::field_copy::FieldCopy;
use super::{Encoded, Parts};
use crate::classes::{Class, Shape, SizePlaces};
use crate::memory::{Memory, ProcessMemory};
use crate::{Failure, Snapshot};
use format::{BasicType, GRAPH_ELEMENTS_MAX};
use std::collections::HashMap;
use tables::TraceId;
use writer::{Deliver, GraphClass, GraphObjects, Segments};

/// The facts about sizes that are not part of the snapshot.
#[derive(Clone, Copy, Debug)]
pub struct SizeFacts {
    /// Alignment of objects.
    pub alignment_bytes: u64,
    /// The positions of the sizes of instances. If the JVM does not reveal them, sizes are computed
    /// from the fields.
    pub places: SizePlaces,
}

/// How the objects of one class are encoded.
#[derive(Debug)]
pub(super) struct Plan {
    /// Their common facts.
    pub(super) class: GraphClass,
    /// The fields that are references, in file order.
    references: Vec<FieldCopy>,
    /// The fields that are numbers, in file order.
    numbers: Vec<FieldCopy>,
    /// The code of those without an allocation trace; 0 before the first.
    code: u64,
}

/// One thread's part of the work.
#[derive(Debug)]
pub struct GraphEncoder<'s, D, M = ProcessMemory> {
    snapshot: &'s Snapshot<M>,
    sizes: SizeFacts,
    segments: Segments<D>,
    encoded: Encoded,
    objects: GraphObjects,
    allocated: Allocated,
    /// The plans by class index.
    plans: Vec<Option<Plan>>,
    /// The codes of objects that have an allocation trace.
    codes: HashMap<(usize, TraceId), u64>,
}

impl<'s, D: Deliver, M: Memory> GraphEncoder<'s, D, M> {
    /// An encoder that writes its records to `segments`. The snapshot must not keep values.
    pub fn new(snapshot: &'s Snapshot<M>, sizes: SizeFacts, segments: Segments<D>) -> Self {
        let mut plans = Vec::new();
        plans.resize_with(snapshot.classes.index_end(), || None);
        Self {
            snapshot,
            sizes,
            segments,
            encoded: Encoded::default(),
            objects: GraphObjects::new(sizes.alignment_bytes),
            allocated: Allocated::default(),
            plans,
            codes: HashMap::new(),
        }
    }

    /// Encodes parts until none is left. An error ends the work of all threads.
    pub fn run(mut self, parts: &Parts) -> Result<Encoded, Failure> {
        let marks = &self.snapshot.marks;
        while let Some(objects) = parts.take().and_then(|number| marks.part(number)) {
            self.part(objects).inspect_err(|_| parts.end())?;
        }
        self.segments.finish()?;
        Ok(self.encoded)
    }

    fn part(&mut self, objects: impl Iterator<Item = u64>) -> Result<(), Failure> {
        self.allocated.restart();
        let (mut heap_bytes, before) = (0, self.encoded.objects);
        for address in objects {
            let class = self.snapshot.class_of(address)?;
            self.encoded.objects += 1;
            if is_mirror(self.snapshot, class, address) {
                continue;
            }
            let bytes = self.object(class, address)?;
            self.snapshot.check_is_here(address, bytes)?;
            heap_bytes += bytes;
        }
        self.snapshot.note_encoded(heap_bytes);
        if self.encoded.objects == before {
            return Ok(());
        }
        self.codes.clear();
        for plan in self.plans.iter_mut().flatten() {
            plan.code = 0;
        }
        self.segments.record(|out| self.objects.take(out))?;
        Ok(())
    }

    /// Encodes an object, and returns its bytes in the heap.
    fn object(&mut self, class: &Class, address: u64) -> Result<u64, Failure> {
        let snapshot = self.snapshot;
        let trace = self.allocated.trace(&snapshot.allocated, address);
        let index = class.id.index();
        let slot = self.plans.get_mut(index).ok_or(Failure::UnknownClass)?;
        let plan = match slot {
            Some(plan) => plan,
            None => slot.insert(plan(snapshot, self.sizes, class)?),
        };
        let code = match trace {
            TraceId::EMPTY => &mut plan.code,
            trace => self.codes.entry((index, trace)).or_insert(0),
        };
        *code = self
            .objects
            .object(*code, &plan.class, trace.get(), address);
        match &plan.class {
            GraphClass::Instance { heap_bytes, .. } => {
                let (memory, oops) = (snapshot.memory, snapshot.layout.oops);
                for field in &plan.references {
                    let read = memory.u64(field.place(address));
                    let target = u64::from_be_bytes(field.value(memory, read, oops));
                    self.objects.reference(target);
                }
                for field in &plan.numbers {
                    let read = memory.u64(field.place(address));
                    let value = u64::from_be_bytes(field.value(memory, read, oops));
                    self.objects.number(value >> (64 - 8 * field.width()));
                }
                Ok(*heap_bytes)
            }
            GraphClass::References {
                header_bytes,
                width_bytes,
                ..
            } => {
                let length = snapshot.layout.length(snapshot.memory, address);
                let (start, width) = (address + header_bytes, *width_bytes);
                let heap_bytes = header_bytes + u64::from(length) * width;
                snapshot.check_length(address, heap_bytes)?;
                self.objects.length(length, heap_bytes);
                for index in 0..u64::from(length.min(GRAPH_ELEMENTS_MAX)) {
                    let oops = &snapshot.layout.oops;
                    self.objects
                        .reference(oops.load(snapshot.memory, start + index * width));
                }
                self.encoded.cut_arrays += u64::from(length > GRAPH_ELEMENTS_MAX);
                Ok(heap_bytes)
            }
            GraphClass::Values { kind, header_bytes } => {
                let length = snapshot.layout.length(snapshot.memory, address);
                let heap_bytes = header_bytes + u64::from(length) * u64::from(kind.size_bytes(8));
                snapshot.check_length(address, heap_bytes)?;
                self.objects.length(length, heap_bytes);
                Ok(heap_bytes)
            }
        }
    }
}

/// How the objects of this class are encoded.
pub(super) fn plan<M: Memory>(
    snapshot: &Snapshot<M>,
    sizes: SizeFacts,
    class: &Class,
) -> Result<Plan, Failure> {
    let arrays = &snapshot.layout.arrays;
    let (mut references, mut numbers) = (Vec::new(), Vec::new());
    let class = match &class.shape {
        Shape::Instance {
            fields,
            data_bytes,
            heap_bytes,
            references: others,
            primitive_arrays,
        } => {
            let are_references = [others, primitive_arrays];
            let (mut offset, mut offsets, mut number_places) = (0, Vec::new(), Vec::new());
            for field in fields {
                // The snapshot keeps only references and the numbers that are sent.
                let at = field.offset();
                if are_references.iter().any(|offsets| offsets.contains(&at)) {
                    references.push(*field);
                    offsets.push(offset);
                } else if field.is_kept() {
                    numbers.push(*field);
                    number_places.push((offset, field.width()));
                }
                offset += field.width();
            }
            GraphClass::Instance {
                class: class.mirror,
                heap_bytes: sizes
                    .places
                    .instance_bytes(snapshot, class.mirror)
                    .unwrap_or_else(|| u64::from(*heap_bytes)),
                data_bytes: *data_bytes,
                references: offsets,
                numbers: number_places,
            }
        }
        Shape::ObjectArray => GraphClass::References {
            class: class.mirror,
            header_bytes: arrays.elements(BasicType::Object),
            width_bytes: snapshot.layout.oops.width_bytes(),
        },
        Shape::PrimitiveArray(kind) => GraphClass::Values {
            kind: *kind,
            header_bytes: arrays.elements(*kind),
        },
        Shape::Unknown => return Err(Failure::Unlinked(vec![class.id])),
    };
    Ok(Plan {
        class,
        references,
        numbers,
        code: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Oops;

    const SECRET: u64 = 0x5EC2_E75E_C2E7_5EC2;

    const SIZES: SizeFacts = SizeFacts {
        alignment_bytes: 8,
        places: SizePlaces {
            in_klass: None,
            in_mirror: None,
        },
    };

    /// The bytes of the objects at these addresses.
    fn encoded(
        words: &[u64],
        shape: Shape,
        marked: &[u64],
        allocated: Vec<(u64, TraceId)>,
    ) -> Result<Vec<u8>, Failure> {
        let mut snapshot = Snapshot::of_words(words, vec![shape]);
        snapshot.allocated = allocated;
        for object in marked {
            assert!(snapshot.marks.mark(*object));
        }
        let mut file = Vec::new();
        let segments = Segments::new(|bytes: Vec<u8>| {
            file.extend(bytes);
            Ok(())
        });
        let told = GraphEncoder::new(&snapshot, SIZES, segments).run(&Parts::default())?;
        assert_eq!(told.objects, marked.len() as u64);
        // The bytes after the segment's header.
        Ok(file.split_off(9))
    }

    #[test]
    fn an_instance_has_its_references_and_no_values() {
        let mut words = vec![1, 1, 0, SECRET, 0, 1, 1, 0, SECRET, 0_u64];
        let (a, b) = (words.as_ptr() as u64, words.as_ptr() as u64 + 40);
        (words[2], words[7], words[9]) = (b, a, a);
        let field = |offset, basic_type| {
            FieldCopy::new(offset, basic_type, Oops::Wide, false).expect("behind the header")
        };
        let shape = Shape::Instance {
            fields: vec![
                field(16, BasicType::Object),
                field(24, BasicType::Long),
                field(32, BasicType::Object),
            ],
            data_bytes: 24,
            references: vec![16, 32],
            primitive_arrays: Vec::new(),
            heap_bytes: 40,
        };
        let trace = TraceId::new(7).expect("a trace");
        let class = GraphClass::Instance {
            class: 1 << 40,
            heap_bytes: 40,
            data_bytes: 24,
            references: vec![0, 16],
            numbers: Vec::new(),
        };
        for second in [TraceId::EMPTY, trace] {
            let mut expected = GraphObjects::new(8);
            let code = expected.object(0, &class, TraceId::EMPTY.get(), a);
            expected.reference(b);
            expected.reference(0);
            let code = if second == trace { 0 } else { code };
            expected.object(code, &class, second.get(), b);
            expected.reference(a);
            expected.reference(a);
            let mut block = Vec::new();
            expected.take(&mut block).expect("no error");
            let allocated = Vec::from_iter((second == trace).then_some((b, trace)));
            let found = encoded(&words, shape.clone(), &[a, b], allocated).expect("no failure");
            assert_eq!(found, block);
        }
    }

    #[test]
    fn an_array_has_its_length_and_no_values() {
        // Mark, class, length, elements.
        let words = [1, 1, 2, SECRET, SECRET];
        let at = words.as_ptr() as u64;
        let shape = Shape::PrimitiveArray(BasicType::Long);
        let class = GraphClass::Values {
            kind: BasicType::Long,
            header_bytes: 24,
        };
        let mut expected = GraphObjects::new(8);
        expected.object(0, &class, TraceId::EMPTY.get(), at);
        expected.length(2, 40);
        let mut block = Vec::new();
        expected.take(&mut block).expect("no error");
        assert_eq!(encoded(&words, shape, &[at], Vec::new()), Ok(block));
    }

    #[test]
    fn an_array_that_ends_behind_the_heap_is_refused() {
        let words = [1, 1, 3, 0, 0_u64];
        let at = words.as_ptr() as u64;
        for shape in [Shape::ObjectArray, Shape::PrimitiveArray(BasicType::Long)] {
            let answer = encoded(&words, shape, &[at], Vec::new());
            assert_eq!(answer, Err(Failure::TooLong(at)));
        }
    }
}
