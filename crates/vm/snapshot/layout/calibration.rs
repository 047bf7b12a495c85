//! Calibration: finds the layout that explains all known objects, or names the first thing it
//! cannot explain.
//!
//! There is no table of versions. If a JVM has a new layout, calibration detects it here, in the
//! forked child, before a byte of its heap goes to a file. The parent has read the contents of some
//! objects through JNI. Each step tries every plausible offset or coding, and accepts only one that
//! agrees with all known objects:
//!
//! 1. `check_heap`: handles are addresses of slots, objects lie in private mappings, and no object
//!    has been moved.
//! 2. `arrays`: the offset of an array's length, then of its elements for each primitive type.
//! 3. `oops`: the offset of the elements of an object array, and whether references are wide or
//!    narrow (base and shift).
//! 4. `class_words`: the position of the class word in a header, and of the `Klass` in a mirror.
//!    Step 2's length determines the form.
//! 5. `mirror_in_klass`: the position of the mirror in a `Klass`, directly or through a slot.
//! 6. `static_ids`: the positions of the class and the offset in the structure that a static
//!    field's id points to.
//! 7. `read_back`: reads every known value through the finished layout, exactly as the walk will.
//!
//! A guess reads only mapped memory, and a wrong guess explains nothing.

use crate::classes::Slot;
use crate::layout::{
    instance_offset, ArrayLayout, ClassWords, Content, Expected, KnownField, KnownObject,
    KnownStatic, Linear, MirrorInKlass, ObjectLayout, Oops, StaticIds,
};
use crate::mappings::Mappings;
use crate::memory::Memory;
use format::BasicType;

/// The check that failed, in the words that the user sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unexplained(pub &'static str);

/// The check that fails while a collector moves objects concurrently. A later snapshot passes it.
pub const MOVING: Unexplained = Unexplained("the collector is not moving objects");

/// The least number of different classes, and of different objects, that a coding must explain.
const LEAST_CODES: usize = 8;
/// Bytes of a mirror, and of a `Klass`, that are searched for HotSpot's own fields.
const MIRROR_BYTES: u64 = 256;
const KLASS_BYTES: u64 = 512;
/// Bytes of an object that are searched for references to an object's old address.
const HOLDER_BYTES: u64 = 1024;
/// Bytes of the structure of a static field's id that are searched.
const STATIC_ID_BYTES: u64 = 32;
/// A larger value is not accepted as the offset of a static field.
const MOST_STATIC_OFFSET: u32 = 1 << 20;

/// The inputs: the memory to read, its mappings, and the known values.
#[derive(Clone, Copy, Debug)]
pub struct Calibration<'k, M> {
    /// The snapshot.
    pub memory: M,
    /// The mappings of that memory.
    pub mappings: &'k Mappings,
    /// Objects with values read through JNI.
    pub objects: &'k [KnownObject],
    /// Static fields with values read through JNI.
    pub statics: &'k [KnownStatic],
}

impl<M: Memory> Calibration<'_, M> {
    /// Finds the layout, then reads every known value back through it.
    pub fn run(self) -> Result<ObjectLayout, Unexplained> {
        self.check_heap()?;
        let found = self.find();
        found.map_err(|why| if self.has_stale() { MOVING } else { why })
    }

    fn find(self) -> Result<ObjectLayout, Unexplained> {
        let arrays = self.arrays()?;
        let (oops, arrays) = self.oops(arrays)?;
        let (class_words, klasses, klass_in_mirror) = self.class_words(arrays.length)?;
        let mirror_in_klass = self.mirror_in_klass(klass_in_mirror)?;
        let static_ids = self.static_ids(klass_in_mirror, oops)?;
        let layout = ObjectLayout {
            oops,
            class_words,
            klasses,
            klass_in_mirror,
            mirror_in_klass,
            arrays,
            static_ids,
        };
        self.read_back(&layout)?;
        Ok(layout)
    }

    /// The address of the object that a slot refers to.
    fn deref(self, slot: Slot) -> u64 {
        slot.object(self.memory)
    }

    /// Reads four bytes at a guessed address; `None` if it is not mapped.
    fn guessed_u32(self, place: u64) -> Option<u32> {
        let is_mapped = self.mappings.are_readable(place, 4);
        is_mapped.then(|| self.memory.u32(place))
    }

    /// Reads eight bytes at a guessed address; `None` if it is not mapped.
    fn guessed_u64(self, place: u64) -> Option<u64> {
        let is_mapped = self.mappings.are_readable(place, 8);
        is_mapped.then(|| self.memory.u64(place))
    }

    fn check_heap(self) -> Result<(), Unexplained> {
        let objects = self.objects.iter();
        let handles = objects.flat_map(|known| [known.object, known.class]);
        let slots_are_mapped = handles
            .clone()
            .all(|slot| self.mappings.is_readable(slot.address()));
        if !slots_are_mapped {
            return Err(Unexplained("handles are addresses of slots"));
        }
        for object in handles.map(|handle| self.deref(handle)) {
            if object % 8 != 0 || !self.mappings.is_private(object) {
                return Err(Unexplained("the heap is a private mapping"));
            }
            let mark = self.memory.u64(object);
            if mark & 3 == 3 && mark != 3 {
                return Err(MOVING);
            }
        }
        Ok(())
    }

    /// Whether an object still refers to the old address of a known object that the collector has
    /// moved: Shenandoah updates such references concurrently. The mark word at the old address
    /// contains the new one.
    fn has_stale(self) -> bool {
        let is_old_place =
            |place: u64, object: u64| place % 8 == 0 && self.guessed_u64(place) == Some(object | 3);
        let refers_to_old_place = |(holder, object): (u64, u64)| {
            (8..HOLDER_BYTES).step_by(4).any(|offset| {
                let narrow = self.guessed_u32(holder + offset).map_or(0, u64::from);
                let wide = self.guessed_u64(holder + offset).unwrap_or(0);
                [narrow, narrow << 3, wide]
                    .into_iter()
                    .any(|place| is_old_place(place, object))
            })
        };
        self.references().into_iter().any(refers_to_old_place)
    }

    /// The known references: the object that contains one, and its target.
    fn references(self) -> Vec<(u64, u64)> {
        let of_field = |field: &KnownField| match field.expected {
            Expected::Object(object) => object,
            Expected::Bits(_) => None,
        };
        let of_objects = self.objects.iter().flat_map(|known| {
            let objects: Vec<Slot> = match &known.content {
                Content::References(objects) => objects.iter().copied().flatten().collect(),
                Content::Fields(fields) => fields.iter().filter_map(of_field).collect(),
                Content::Primitives(..) => Vec::new(),
            };
            objects.into_iter().map(|object| (known.object, object))
        });
        let of_statics = self
            .statics
            .iter()
            .filter_map(|known| Some((known.class, of_field(&known.field)?)));
        of_objects
            .chain(of_statics)
            .map(|(holder, object)| (self.deref(holder), self.deref(object)))
            .collect()
    }

    /// Finds the positions of an array's length and of its elements of primitive types.
    fn arrays(self) -> Result<ArrayLayout, Unexplained> {
        let arrays = || {
            self.objects
                .iter()
                .filter_map(|known| match &known.content {
                    Content::Primitives(element_type, bytes) => Some((known, *element_type, bytes)),
                    _ => None,
                })
        };
        let count = |element_type: BasicType, bytes: &[u8]| {
            bytes.len() as u64 / u64::from(element_type.size_bytes(8))
        };
        let length = [8, 12, 16]
            .into_iter()
            .find(|offset| {
                arrays().all(|(known, element_type, bytes)| {
                    let found = self.guessed_u32(self.deref(known.object) + offset);
                    found.map(u64::from) == Some(count(element_type, bytes))
                })
            })
            .ok_or(Unexplained("the length of arrays"))?;
        let mut elements = [0; 12];
        for (code, place) in (0..).zip(&mut elements).skip(4) {
            let of_type = || arrays().filter(|(_, element_type, _)| element_type.code() == code);
            let explains = |offset: &u64| {
                of_type().all(|(known, _, bytes)| {
                    let start = self.deref(known.object) + offset;
                    self.mappings.are_readable(start, bytes.len() as u64)
                        && self.memory.bytes(start, bytes.len()) == bytes.as_slice()
                })
            };
            *place = (length + 4..=length + 16)
                .step_by(4)
                .find(explains)
                .filter(|_| of_type().any(|(_, _, bytes)| !bytes.is_empty()))
                .ok_or(Unexplained("the elements of arrays"))?;
        }
        Ok(ArrayLayout { length, elements })
    }

    /// Finds the coding of references, and the position of the elements in object arrays.
    fn oops(self, mut arrays: ArrayLayout) -> Result<(Oops, ArrayLayout), Unexplained> {
        let unexplained = Unexplained("the references in arrays");
        for offset in (arrays.length + 4..=arrays.length + 16).step_by(4) {
            if let Some(oops) = self.oops_at(arrays.length, offset) {
                *arrays
                    .elements
                    .get_mut(usize::from(BasicType::Object.code()))
                    .ok_or(unexplained)? = offset;
                return Ok((oops, arrays));
            }
        }
        Err(unexplained)
    }

    fn oops_at(self, length: u64, offset: u64) -> Option<Oops> {
        let (mut wide, mut narrow) = (true, true);
        let mut pairs = Vec::new();
        for known in self.objects {
            let Content::References(handles) = &known.content else {
                continue;
            };
            let array = self.deref(known.object);
            if self.memory.u32(array + length) as usize != handles.len() {
                return None;
            }
            for (index, handle) in (0..).zip(handles) {
                let expected = handle.map_or(0, |handle| self.deref(handle));
                let reference = self.guessed_u64(array + offset + index * 8);
                wide &= reference.map(|word| self.memory.decoded(word)) == Some(expected);
                let code = self.guessed_u32(array + offset + index * 4)?;
                narrow &= (code == 0) == (expected == 0);
                if expected != 0 {
                    pairs.push((u64::from(code), expected));
                }
            }
        }
        if pairs.len() < LEAST_CODES {
            return None;
        }
        if wide {
            let is_coloured = self.memory.colours().is_some();
            return Some(if is_coloured {
                Oops::Coloured
            } else {
                Oops::Wide
            });
        }
        Linear::explaining(&pairs, LEAST_CODES)
            .filter(|_| narrow)
            .map(Oops::Narrow)
    }

    /// Finds the position of the class word in an object's header, and of the `Klass` in a mirror.
    ///
    /// An array's length follows the class word, so its offset determines the form. Otherwise the
    /// low half of a wide class word would also explain everything, as long as all known classes
    /// lie within 4 GiB.
    fn class_words(self, length: u64) -> Result<(ClassWords, Linear, u64), Unexplained> {
        let forms: Vec<ClassWords> = match length {
            16 => vec![ClassWords::Wide],
            12 => vec![ClassWords::Narrow],
            _ => (33..=48).map(ClassWords::Compact).collect(),
        };
        for form in forms {
            for in_mirror in (8..MIRROR_BYTES).step_by(8) {
                if let Some(coding) = self.klasses(form, in_mirror) {
                    return Ok((form, coding, in_mirror));
                }
            }
        }
        Err(Unexplained("the class word in headers"))
    }

    fn klasses(self, form: ClassWords, in_mirror: u64) -> Option<Linear> {
        let pair = |known: &KnownObject| {
            let word = form.load(self.memory, self.deref(known.object));
            let klass = self.guessed_u64(self.deref(known.class) + in_mirror)?;
            Some((word, klass))
        };
        let pairs: Vec<_> = self.objects.iter().map(pair).collect::<Option<_>>()?;
        if pairs
            .iter()
            .any(|&(_, klass)| klass % 8 != 0 || !self.mappings.is_readable(klass))
        {
            return None;
        }
        let coding = Linear::explaining(&pairs, LEAST_CODES)?;
        (form != ClassWords::Wide || coding == Linear::PLAIN).then_some(coding)
    }

    /// Finds the position of the mirror in a `Klass`.
    fn mirror_in_klass(self, klass_in_mirror: u64) -> Result<MirrorInKlass, Unexplained> {
        for through_slot in [true, false] {
            for offset in (8..KLASS_BYTES).step_by(8) {
                let explains = |known: &KnownObject| {
                    let mirror = self.deref(known.class);
                    let klass = self.memory.u64(mirror + klass_in_mirror);
                    let word = self.guessed_u64(klass + offset);
                    if !through_slot {
                        return word == Some(mirror);
                    }
                    let slot = word.filter(|word| word % 8 == 0);
                    let reference = slot.and_then(|slot| self.guessed_u64(slot));
                    reference.map(|word| self.memory.decoded(word)) == Some(mirror)
                };
                if self.objects.iter().all(explains) {
                    return Ok(MirrorInKlass {
                        offset,
                        through_slot,
                    });
                }
            }
        }
        Err(Unexplained("the mirror of a class"))
    }

    /// Finds the parts of the structures that the ids of static fields point to.
    fn static_ids(self, klass_in_mirror: u64, oops: Oops) -> Result<StaticIds, Unexplained> {
        let unexplained = Unexplained("the ids of static fields");
        let statics = self.statics;
        let is_mapped = |id: u64| id % 8 == 0 && self.mappings.are_readable(id, STATIC_ID_BYTES);
        if statics.len() < LEAST_CODES
            || !statics.iter().all(|known| is_mapped(known.field.id.bits()))
        {
            return Err(unexplained);
        }
        let holder = [0, 8, 16]
            .into_iter()
            .find(|holder| {
                statics.iter().all(|known| {
                    let klass = self.memory.u64(self.deref(known.class) + klass_in_mirror);
                    self.memory.u64(known.field.id.bits() + holder) == klass
                })
            })
            .ok_or(unexplained)?;
        let offset = (0..STATIC_ID_BYTES)
            .step_by(4)
            .find(|offset| {
                statics.iter().all(|known| {
                    let found = self.memory.u32(known.field.id.bits() + offset);
                    let place = self.deref(known.class) + u64::from(found);
                    found < MOST_STATIC_OFFSET && self.holds(oops, place, &known.field)
                })
            })
            .ok_or(unexplained)?;
        Ok(StaticIds { holder, offset })
    }

    /// Whether the field's expected value is at this address. The address may be a guess: half of a
    /// pointer, mistaken for a static field's offset, points far beyond the mirror, and out of the
    /// heap if the mirror is one of the last objects.
    fn holds(self, oops: Oops, place: u64, field: &KnownField) -> bool {
        let size_bytes = oops.size_bytes(field.basic_type);
        if !self.mappings.are_readable(place, size_bytes) {
            return false;
        }
        let bits = oops.value(self.memory, place, field.basic_type);
        match field.expected {
            Expected::Bits(expected) => bits == expected,
            Expected::Object(expected) => bits == expected.map_or(0, |handle| self.deref(handle)),
        }
    }

    /// Reads every known value through the layout, as the walk will.
    fn read_back(self, layout: &ObjectLayout) -> Result<(), Unexplained> {
        for known in self.objects {
            let (object, mirror) = (self.deref(known.object), self.deref(known.class));
            if layout.class_word_of(self.memory, mirror)
                != Some(layout.class_word(self.memory, object))
            {
                return Err(Unexplained("the class word of a known object"));
            }
            if let Content::Fields(fields) = &known.content {
                for field in fields {
                    let offset = instance_offset(field.id.bits())
                        .ok_or(Unexplained("the ids of instance fields"))?;
                    if !self.holds(layout.oops, object + u64::from(offset), field) {
                        return Err(Unexplained("the fields of a known object"));
                    }
                }
            }
        }
        for known in self.statics {
            let mirror = self.deref(known.class);
            let place = layout
                .static_place(self.memory, mirror, known.field.id.bits())
                .ok_or(Unexplained("the place of a static field"))?;
            if !self.holds(layout.oops, place, &known.field) {
                return Err(Unexplained("the value of a static field"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{InventedHeap, Plan};

    const PRIVATE: &str = "rw-p";
    /// Close to HotSpot 17; the other plans vary it.
    const PLAN: Plan = Plan {
        oop_shift: Some(3),
        class_words: ClassWords::Narrow,
        class_shift: 3,
        klass_in_mirror: 16,
        mirror_in_klass: MirrorInKlass {
            offset: 112,
            through_slot: true,
        },
        static_ids: StaticIds {
            holder: 0,
            offset: 16,
        },
    };
    const PLANS: [Plan; 6] = [
        PLAN,
        Plan {
            oop_shift: None,
            ..PLAN
        },
        Plan {
            class_words: ClassWords::Compact(42),
            class_shift: 10,
            ..PLAN
        },
        Plan {
            oop_shift: None,
            class_words: ClassWords::Wide,
            mirror_in_klass: MirrorInKlass {
                offset: 88,
                through_slot: false,
            },
            ..PLAN
        },
        // No HotSpot combines these.
        Plan {
            oop_shift: Some(0),
            class_words: ClassWords::Compact(37),
            class_shift: 4,
            klass_in_mirror: 248,
            mirror_in_klass: MirrorInKlass {
                offset: 504,
                through_slot: true,
            },
            static_ids: StaticIds {
                holder: 16,
                offset: 4,
            },
        },
        Plan {
            oop_shift: Some(8),
            class_words: ClassWords::Wide,
            klass_in_mirror: 8,
            static_ids: StaticIds {
                holder: 8,
                offset: 28,
            },
            ..PLAN
        },
    ];

    fn found(heap: &InventedHeap, flags: &str) -> Result<ObjectLayout, Unexplained> {
        let calibration = Calibration {
            memory: heap.memory(),
            mappings: &heap.mappings(flags),
            objects: &heap.objects,
            statics: &heap.statics,
        };
        calibration.run()
    }

    fn refused(damage: impl FnOnce(&mut InventedHeap)) -> &'static str {
        let mut heap = InventedHeap::new(&PLAN);
        damage(&mut heap);
        found(&heap, PRIVATE).unwrap_err().0
    }

    #[test]
    fn a_layout_is_found_whatever_it_is() {
        for plan in &PLANS {
            let heap = InventedHeap::new(plan);
            assert_eq!(found(&heap, PRIVATE), Ok(heap.layout), "{plan:?}");
        }
    }

    #[test]
    fn a_heap_that_a_fork_does_not_copy_is_refused() {
        let heap = InventedHeap::new(&PLAN);
        let shared = found(&heap, "rw-s");
        assert_eq!(shared, Err(Unexplained("the heap is a private mapping")));
        let unread = found(&heap, "---p");
        assert_eq!(unread, Err(Unexplained("handles are addresses of slots")));
    }

    #[test]
    fn objects_that_move_are_refused() {
        // A mark word that ends in 11 is a forwarding pointer.
        let moved = refused(|heap| heap.flip(InventedHeap::object(3), 2));
        assert_eq!(moved, "the collector is not moving objects");
    }

    #[test]
    fn references_to_where_an_object_was_are_refused() {
        let plan = Plan {
            oop_shift: None,
            ..PLAN
        };
        let mut heap = InventedHeap::new(&plan);
        let set = |heap: &mut InventedHeap, place, value: u64| {
            let change = heap.memory().u64(heap.start() + place) ^ value;
            for (half, bits) in [(0, change & 0xffff_ffff), (4, change >> 32)] {
                heap.flip(place + half, u32::try_from(bits).expect("half a word"));
            }
        };
        let new = heap.start() + InventedHeap::object(5);
        let old = heap.bytes() - 16;
        let element = InventedHeap::object(9) + heap.layout.arrays.elements(BasicType::Object) + 40;
        assert_eq!(heap.memory().u64(heap.start() + element), new);
        let old_address = heap.start() + old;
        set(&mut heap, element, old_address);
        let unexplained = Unexplained("the references in arrays");
        assert_eq!(found(&heap, PRIVATE), Err(unexplained));
        set(&mut heap, old, new | 3);
        assert_eq!(found(&heap, PRIVATE), Err(MOVING));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let array = InventedHeap::object(6);
        assert_eq!(
            refused(|heap| heap.flip(array + 12, 1)),
            "the length of arrays"
        );
        assert_eq!(
            refused(|heap| heap.flip(array + 24, 1)),
            "the elements of arrays"
        );
        let references = InventedHeap::object(9) + 16;
        assert_eq!(
            refused(|heap| heap.flip(references, 1)),
            "the references in arrays"
        );
        assert_eq!(
            refused(|heap| heap.flip(references + 8, 1)),
            "the references in arrays"
        );
        assert_eq!(
            refused(|heap| heap.flip(array + 8, 1)),
            "the class word in headers"
        );
        let klass_in_mirror = InventedHeap::mirror(6) + 16;
        assert_eq!(
            refused(|heap| heap.flip(klass_in_mirror, 8)),
            "the class word in headers"
        );
        let mirror_in_klass = InventedHeap::new(&PLAN).klass(6) + 112;
        assert_eq!(
            refused(|heap| heap.flip(mirror_in_klass, 8)),
            "the mirror of a class"
        );
        let id = InventedHeap::static_id(4);
        assert_eq!(refused(|heap| heap.flip(id, 8)), "the ids of static fields");
        assert_eq!(
            refused(|heap| heap.flip(id + 16, 1)),
            "the ids of static fields"
        );
        let field = InventedHeap::object(10) + 24;
        assert_eq!(
            refused(|heap| heap.flip(field, 1)),
            "the fields of a known object"
        );
    }

    #[test]
    fn too_little_tells_nothing() {
        let statics = refused(|heap| heap.statics.truncate(LEAST_CODES - 1));
        assert_eq!(statics, "the ids of static fields");
        // The seventh object is an int array.
        let arrays = refused(|heap| drop(heap.objects.remove(6)));
        assert_eq!(arrays, "the elements of arrays");
        let references = refused(|heap| {
            let is_primitive =
                |known: &KnownObject| matches!(known.content, Content::Primitives(..));
            heap.objects.retain(is_primitive);
        });
        assert_eq!(references, "the references in arrays");
    }

    #[test]
    fn ids_that_tell_no_offset_are_named() {
        let hidden = refused(|heap| {
            let contents = heap.objects.iter_mut().map(|known| &mut known.content);
            for content in contents {
                if let Content::Fields(fields) = content {
                    fields
                        .iter_mut()
                        .for_each(|field| field.id = heap.statics[0].field.id);
                }
            }
        });
        assert_eq!(hidden, "the ids of instance fields");
    }

    /// Whichever bit of the heap is flipped, calibration finds the true layout or none.
    #[test]
    fn no_damage_leads_to_another_layout() {
        for plan in &PLANS {
            let mut heap = InventedHeap::new(plan);
            let mut refused = 0;
            let damages = [(0, 1), (4, 1 << 31), (0, 8), (4, 1), (0, 1 << 9)];
            let damages = damages.into_iter().cycle();
            for (place, (half, bits)) in (0..heap.bytes()).step_by(8).zip(damages) {
                let place = place + half;
                heap.flip(place, bits);
                match found(&heap, PRIVATE) {
                    Ok(layout) => assert_eq!(layout, heap.layout, "{plan:?}, {place:#x}"),
                    Err(_) => refused += 1,
                }
                heap.flip(place, bits);
            }
            assert!(refused > 50, "{plan:?}: {refused}");
        }
    }
}
