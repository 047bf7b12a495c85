//! An invented heap for tests: objects, mirrors and classes of a JVM that does not exist, and the
//! values that its JNI would return.
// If the heap cannot be built, the test has failed, so panics are fine here.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use crate::classes::{FieldId, Slot};
use crate::layout::{
    ArrayLayout, ClassWords, Content, Expected, KnownField, KnownObject, KnownStatic, Linear,
    MirrorInKlass, ObjectLayout, Oops, StaticIds,
};
use crate::mappings::Mappings;
use crate::memory::BufferMemory;
use format::BasicType;

/// Starts of the parts of the heap, in bytes from its start.
const SLOTS: u64 = 0x400;
const KLASSES: u64 = 0x1000;
const KLASS_BYTES: u64 = 0x220;
const STATIC_ID: u64 = 0x4000;
const STATIC_ID_STEP: u64 = 0x20;
const MIRRORS: u64 = 0x4800;
const MIRROR_STEP: u64 = 0x200;
const STATIC_VALUES: u64 = 0x100;
const OBJECTS: u64 = 0x6000;
const OBJECT_STEP: u64 = 0x100;
const END: u64 = 0x7000;
/// Bytes after the end, because a guess may read one word too far.
const MARGIN: u64 = 0x100;

/// Class numbers: `Class`, an array class for each primitive type, one for objects, a class with
/// fields.
const CLASS: u64 = 0;
const OBJECT_ARRAY: u64 = 9;
const WITH_FIELDS: u64 = 10;
const CLASSES: u64 = 11;
/// Elements of each array of a primitive type.
const LENGTH: u64 = 5;

/// The properties in which JVMs differ.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Shift of references; `None` if they are whole addresses.
    pub oop_shift: Option<u32>,
    /// The position of the class word.
    pub class_words: ClassWords,
    /// Shift of class words that are not addresses.
    pub class_shift: u32,
    /// The position of the `Klass` in a mirror.
    pub klass_in_mirror: u64,
    /// The position of the mirror in a `Klass`.
    pub mirror_in_klass: MirrorInKlass,
    /// The layout of the ids of static fields.
    pub static_ids: StaticIds,
}

/// The heap.
#[derive(Debug)]
pub struct InventedHeap {
    words: Vec<u64>,
    klass_step: u64,
    /// Its layout.
    pub layout: ObjectLayout,
    /// Objects with the values that JNI returns.
    pub objects: Vec<KnownObject>,
    /// Static fields with the values that JNI returns.
    pub statics: Vec<KnownStatic>,
}

impl InventedHeap {
    /// A heap built by this plan, with a known object of every class except `Class`, and a static
    /// field of each type.
    pub fn new(plan: &Plan) -> Self {
        // Noise between the objects: zeros would agree with too many guesses.
        let words: Vec<u64> = (0..(END + MARGIN) / 8).map(noise).collect();
        let layout = layout(plan, words.as_ptr() as u64);
        let mut heap = Self {
            words,
            klass_step: klass_step(plan.class_shift),
            layout,
            objects: Vec::new(),
            statics: Vec::new(),
        };
        for class in 0..CLASSES {
            heap.class(class);
        }
        for (class, element_type) in (1..).zip(primitive_types()) {
            heap.primitives(class, element_type);
        }
        heap.with_fields();
        heap.references();
        heap.static_fields();
        heap
    }

    /// Memory in which only this heap can be read.
    pub fn memory(&self) -> BufferMemory<'_> {
        BufferMemory::of_words(&self.words)
    }

    /// Mappings that contain only this heap, with these flags.
    pub fn mappings(&self, flags: &str) -> Mappings {
        let start = self.start();
        Mappings::parse(format!("{start:x}-{:x} {flags} 0 0 0\n", start + END).as_bytes())
    }

    /// Bytes that are mapped.
    pub fn bytes(&self) -> u64 {
        END
    }

    /// Offset from the heap's start of the object of this class.
    pub fn object(class: u64) -> u64 {
        OBJECTS + class * OBJECT_STEP
    }

    /// Offset from the heap's start of the mirror of this class.
    pub fn mirror(class: u64) -> u64 {
        MIRRORS + class * MIRROR_STEP
    }

    /// Offset from the heap's start of the `Klass` of this class.
    pub fn klass(&self, class: u64) -> u64 {
        KLASSES + class * self.klass_step
    }

    /// Offset from the heap's start of the structure behind this static field's id.
    pub fn static_id(index: u64) -> u64 {
        STATIC_ID + index * STATIC_ID_STEP
    }

    /// Flips these bits in the four bytes at this offset.
    pub fn flip(&mut self, place: u64, bits: u32) {
        *self.word(place) ^= u64::from(bits) << (8 * (place % 8));
    }

    fn word(&mut self, place: u64) -> &mut u64 {
        &mut self.words[usize::try_from(place / 8).unwrap()]
    }

    /// Its start address.
    pub fn start(&self) -> u64 {
        self.words.as_ptr() as u64
    }

    fn put(&mut self, place: u64, bytes: &[u8]) {
        for (place, &byte) in (place..).zip(bytes) {
            let shift = 8 * (place % 8);
            let word = self.word(place);
            *word = (*word & !(0xFF << shift)) | (u64::from(byte) << shift);
        }
    }

    fn put_u64(&mut self, place: u64, value: u64) {
        self.put(place, &value.to_ne_bytes());
    }

    fn put_u32(&mut self, place: u64, value: u32) {
        self.put(place, &value.to_ne_bytes());
    }

    /// Stores a value of this type and returns it zero-extended; a reference points to `referent`.
    fn put_value(&mut self, place: u64, basic_type: BasicType, referent: u64) -> u64 {
        if basic_type == BasicType::Object {
            self.put_reference(place, referent);
            return 0;
        }
        let bytes = pattern(basic_type, 1);
        self.put(place, &bytes);
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(&bytes);
        u64::from_le_bytes(bits)
    }

    /// Stores a reference to the object at offset `referent`; 0 is null.
    fn put_reference(&mut self, place: u64, referent: u64) {
        let address = self.start() + referent;
        match self.layout.oops {
            Oops::Wide if referent == 0 => self.put_u64(place, 0),
            Oops::Narrow(_) if referent == 0 => self.put_u32(place, 0),
            Oops::Wide | Oops::Coloured => self.put_u64(place, address),
            Oops::Narrow(coding) => {
                let code = coding.code(address).unwrap();
                self.put_u32(place, u32::try_from(code).unwrap());
            }
        }
    }

    /// Writes an object's header, with a hash where the class word leaves space for it.
    fn header(&mut self, place: u64, class: u64) {
        let klass = self.start() + self.klass(class);
        let word = self.layout.klasses.code(klass).unwrap();
        // A mark word of an object that is hashed and not locked.
        let hash = (noise(place) & !0x7FF) | 1;
        match self.layout.class_words {
            ClassWords::Compact(shift) => {
                self.put_u64(place, (word << shift) | (hash & ((1 << shift) - 1)));
            }
            ClassWords::Wide => {
                self.put_u64(place, hash);
                self.put_u64(place + 8, word);
            }
            ClassWords::Narrow => {
                self.put_u64(place, hash);
                self.put_u32(place + 8, u32::try_from(word).unwrap());
            }
        }
    }

    /// A slot that holds the address of the object at offset `place`.
    fn handle(&mut self, slot: u64, place: u64) -> Slot {
        let slot = SLOTS + slot * 8;
        self.put_u64(slot, self.start() + place);
        Slot::of_handle(self.start() + slot)
    }

    fn mirror_handle(&mut self, class: u64) -> Slot {
        self.handle(class, Self::mirror(class))
    }

    fn object_handle(&mut self, class: u64) -> Slot {
        self.handle(CLASSES + class, Self::object(class))
    }

    /// Writes the class, its mirror, and the slot between them.
    fn class(&mut self, class: u64) {
        let (klass, mirror) = (self.klass(class), Self::mirror(class));
        self.header(mirror, CLASS);
        let slot = self.mirror_handle(class);
        self.put_u64(mirror + self.layout.klass_in_mirror, self.start() + klass);
        let in_klass = if self.layout.mirror_in_klass.through_slot {
            slot.address()
        } else {
            self.start() + mirror
        };
        self.put_u64(klass + self.layout.mirror_in_klass.offset, in_klass);
    }

    fn known(&mut self, class: u64, content: Content) {
        self.header(Self::object(class), class);
        let (object, class) = (self.object_handle(class), self.mirror_handle(class));
        self.objects.push(KnownObject {
            object,
            class,
            content,
        });
    }

    fn primitives(&mut self, class: u64, element_type: BasicType) {
        let (object, arrays) = (Self::object(class), self.layout.arrays);
        let bytes = pattern(element_type, LENGTH);
        self.put_u32(object + arrays.length, u32::try_from(LENGTH).unwrap());
        self.put(object + arrays.elements(element_type), &bytes);
        self.known(class, Content::Primitives(element_type, bytes));
    }

    /// Writes an array with all objects, all mirrors, and null.
    fn references(&mut self) {
        let (object, arrays) = (Self::object(OBJECT_ARRAY), self.layout.arrays);
        let mut elements = vec![None];
        let mut place = object + arrays.elements(BasicType::Object);
        self.put_reference(place, 0);
        for class in 1..CLASSES {
            let is_mirror = class % 2 == 0;
            let referent = if is_mirror {
                Self::mirror(class)
            } else {
                Self::object(class)
            };
            place += self.layout.oops.width_bytes();
            self.put_reference(place, referent);
            elements.push(Some(if is_mirror {
                self.mirror_handle(class)
            } else {
                self.object_handle(class)
            }));
        }
        self.put_u32(
            object + arrays.length,
            u32::try_from(elements.len()).unwrap(),
        );
        self.known(OBJECT_ARRAY, Content::References(elements));
    }

    fn with_fields(&mut self) {
        let mut fields = Vec::new();
        for (offset, basic_type) in (24..).step_by(8).zip(types()) {
            let place = Self::object(WITH_FIELDS) + offset;
            let id = FieldId::of_bits((offset << 2) | 2);
            fields.push(self.field(id, place, basic_type));
        }
        self.known(WITH_FIELDS, Content::Fields(fields));
    }

    fn field(&mut self, id: FieldId, place: u64, basic_type: BasicType) -> KnownField {
        let bits = self.put_value(place, basic_type, Self::mirror(CLASS));
        let expected = match basic_type {
            BasicType::Object => Expected::Object(Some(self.mirror_handle(CLASS))),
            _ => Expected::Bits(bits),
        };
        KnownField {
            id,
            basic_type,
            expected,
        }
    }

    fn static_fields(&mut self) {
        for (index, basic_type) in (0..).zip(types()) {
            // Alternates between two classes.
            let class = WITH_FIELDS - index % 2;
            let offset = STATIC_VALUES + index * 8;
            let id = Self::static_id(index);
            let holder = self.start() + self.klass(class);
            self.put_u64(id + self.layout.static_ids.holder, holder);
            self.put_u32(
                id + self.layout.static_ids.offset,
                u32::try_from(offset).unwrap(),
            );
            let id = FieldId::of_bits(self.start() + id);
            let field = self.field(id, Self::mirror(class) + offset, basic_type);
            let class = self.mirror_handle(class);
            self.statics.push(KnownStatic { class, field });
        }
    }
}

/// Always odd, so that it cannot be an address.
fn noise(seed: u64) -> u64 {
    (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}

fn primitive_types() -> impl Iterator<Item = BasicType> {
    (4..=11).filter_map(BasicType::from_code)
}

fn types() -> impl Iterator<Item = BasicType> {
    primitive_types().chain([BasicType::Object])
}

/// Elements that all differ.
fn pattern(element_type: BasicType, length: u64) -> Vec<u8> {
    let bytes = length * u64::from(element_type.size_bytes(8));
    let seed = element_type.code();
    (1..=u8::try_from(bytes).unwrap())
        .map(|place| place.wrapping_mul(37) ^ seed)
        .collect()
}

/// The layout of a heap by this plan that starts at `start`. No base is the heap's start, because
/// code 0 means null.
fn layout(plan: &Plan, start: u64) -> ObjectLayout {
    let oops = match plan.oop_shift {
        None => Oops::Wide,
        Some(shift) => Oops::Narrow(coding(start, shift)),
    };
    let (klasses, length) = match plan.class_words {
        ClassWords::Wide => (Linear::PLAIN, 16),
        ClassWords::Narrow => (coding(start, plan.class_shift), 12),
        ClassWords::Compact(_) => (coding(start, plan.class_shift), 8),
    };
    let mut elements = [0; 12];
    for basic_type in types() {
        elements[usize::from(basic_type.code())] =
            (length + 4_u64).next_multiple_of(oops.size_bytes(basic_type));
    }
    ObjectLayout {
        oops,
        class_words: plan.class_words,
        klasses,
        klass_in_mirror: plan.klass_in_mirror,
        mirror_in_klass: plan.mirror_in_klass,
        arrays: ArrayLayout { length, elements },
        static_ids: plan.static_ids,
    }
}

/// An odd number of codes, so that no coarser coding can explain the pairs.
fn klass_step(shift: u32) -> u64 {
    ((KLASS_BYTES >> shift) | 1) << shift
}

fn coding(start: u64, shift: u32) -> Linear {
    Linear {
        base: start - 0x2000,
        shift,
    }
}
