//! The layout of objects, arrays, mirrors and classes, as calibration found it.

use crate::layout::{instance_offset, ClassWords, Linear, Oops};
use crate::memory::Memory;
use format::BasicType;

/// All positions and codings needed to read an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLayout {
    /// The coding of references.
    pub oops: Oops,
    /// The position of the class word in headers.
    pub class_words: ClassWords,
    /// The coding from a class word to the address of the `Klass`.
    pub klasses: Linear,
    /// Offset in a mirror of its `Klass`'s address.
    pub klass_in_mirror: u64,
    /// The position of the mirror in a `Klass`.
    pub mirror_in_klass: MirrorInKlass,
    /// The positions of length and elements in arrays.
    pub arrays: ArrayLayout,
    /// The structures that the ids of static fields point to.
    pub static_ids: StaticIds,
}

/// Offsets in an array, from the object's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    /// Offset of the length (four bytes).
    pub length: u64,
    /// Offset of the first element, by the element type's HPROF number.
    pub elements: [u64; 12],
}

impl ArrayLayout {
    /// Offset of the first element.
    #[inline]
    pub fn elements(&self, element_type: BasicType) -> u64 {
        self.elements
            .get(usize::from(element_type.code()))
            .copied()
            .unwrap_or(0)
    }
}

/// How a `Klass` refers to its mirror: by its address (JDK 8), or by the address of a slot that
/// holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorInKlass {
    /// Offset in the `Klass`.
    pub offset: u64,
    /// Whether the `Klass` holds the address of a slot.
    pub through_slot: bool,
}

impl MirrorInKlass {
    /// The mirror of this `Klass`; 0 for an archived class that was never loaded.
    pub fn load(self, memory: impl Memory, klass: u64) -> u64 {
        match memory.u64(klass.wrapping_add(self.offset)) {
            slot if self.through_slot && slot != 0 => memory.reference(slot),
            mirror => mirror,
        }
    }
}

/// Offsets in the structure that a static field's id points to (HotSpot's `JNIid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticIds {
    /// Offset of the declaring class's `Klass` (eight bytes).
    pub holder: u64,
    /// Offset of the field's offset in the mirror (four bytes).
    pub offset: u64,
}

impl ObjectLayout {
    /// The object's class word.
    #[inline]
    pub fn class_word(&self, memory: impl Memory, object: u64) -> u64 {
        self.class_words.load(memory, object)
    }

    /// The number of elements of an array.
    #[inline]
    pub fn length(&self, memory: impl Memory, array: u64) -> u32 {
        memory.u32(array.wrapping_add(self.arrays.length))
    }

    /// The address of the `Klass` of this mirror; 0 for mirrors of primitive types.
    pub fn klass(&self, memory: impl Memory, mirror: u64) -> u64 {
        memory.u64(mirror.wrapping_add(self.klass_in_mirror))
    }

    /// The class word of instances of this mirror's class; `None` if the class cannot have
    /// instances.
    ///
    /// From JDK 24 on, HotSpot stores interfaces and abstract classes at addresses that no class
    /// word can encode.
    pub fn class_word_of(&self, memory: impl Memory, mirror: u64) -> Option<u64> {
        let word = self.klasses.code(self.klass(memory, mirror))?;
        let most = match self.class_words {
            ClassWords::Wide => u64::MAX,
            ClassWords::Narrow => u64::from(u32::MAX),
            ClassWords::Compact(shift) => u64::MAX >> shift,
        };
        (word != 0 && word <= most).then_some(word)
    }

    /// The address of a static field, from its id and its class's mirror; `None` if the id belongs
    /// to another class.
    pub fn static_place(&self, memory: impl Memory, mirror: u64, field_id: u64) -> Option<u64> {
        if instance_offset(field_id).is_some() {
            return None;
        }
        let holder = memory.u64(field_id.wrapping_add(self.static_ids.holder));
        let offset = memory.u32(field_id.wrapping_add(self.static_ids.offset));
        (holder == self.klass(memory, mirror)).then(|| mirror.wrapping_add(u64::from(offset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::BufferMemory;

    const CODING: Linear = Linear {
        base: 0x8000,
        shift: 3,
    };

    fn layout(class_words: ClassWords, klasses: Linear) -> ObjectLayout {
        ObjectLayout {
            oops: Oops::Wide,
            class_words,
            klasses,
            klass_in_mirror: 8,
            mirror_in_klass: MirrorInKlass {
                offset: 0,
                through_slot: false,
            },
            arrays: ArrayLayout {
                length: 12,
                elements: [16; 12],
            },
            static_ids: StaticIds {
                holder: 0,
                offset: 8,
            },
        }
    }

    #[test]
    fn a_mirror_is_found_directly_or_through_a_slot() {
        // The mirror's address, a slot's address, the slot's contents, and null.
        let words = [0x7000, 0x110, 0x8000, 0_u64];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let memory = BufferMemory::new(0x100, &bytes);
        let load = |through_slot, klass| {
            let offset = 8;
            MirrorInKlass {
                offset,
                through_slot,
            }
            .load(memory, klass)
        };
        assert_eq!(load(false, 0x100 - 8), 0x7000);
        assert_eq!(load(true, 0x108 - 8), 0x8000);
        assert_eq!(load(true, 0x118 - 8), 0, "a class that was never loaded");
    }

    #[test]
    fn the_id_of_a_static_field_belongs_to_one_class() {
        // Two mirrors with their classes at 8, then two ids, each with the class and the field's
        // offset.
        let words = [1, 0x9000, 1, 0xA000, 0x9000, 24, 0xA000, 32_u64];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (memory, at) = (BufferMemory::new(0x1000, &bytes), |word: u64| {
            0x1000 + word * 8
        });
        let layout = layout(ClassWords::Narrow, CODING);
        let place = |mirror, id| layout.static_place(memory, at(mirror), at(id));
        assert_eq!(place(0, 4), Some(at(0) + 24));
        assert_eq!(place(2, 6), Some(at(2) + 32));
        assert_eq!((place(0, 6), place(2, 4)), (None, None));
        // An instance field's id encodes its offset.
        assert_eq!(layout.static_place(memory, at(0), at(4) | 2), None);
        assert_eq!(layout.class_word_of(memory, at(0)), Some(0x200));
    }

    #[test]
    fn a_class_that_no_class_word_leads_to_has_none() {
        let word_of = |klass: u64, class_words, klasses| {
            let bytes: Vec<u8> = [1, klass]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            let memory = BufferMemory::new(0x1000, &bytes);
            layout(class_words, klasses).class_word_of(memory, 0x1000)
        };
        let narrow = |klass| word_of(klass, ClassWords::Narrow, CODING);
        let last = 0x8000 + (u64::from(u32::MAX) << 3);
        // Code 0 means null. Some classes lie above the highest code, or between two codes.
        assert_eq!((narrow(0x8000), narrow(0x8004)), (None, None));
        assert_eq!(
            (narrow(last), narrow(last + 8)),
            (Some(u64::from(u32::MAX)), None)
        );
        let compact = |klass| word_of(klass, ClassWords::Compact(42), CODING);
        let last = 0x8000 + (((1_u64 << 22) - 1) << 3);
        assert_eq!(
            (compact(last), compact(last + 8)),
            (Some((1 << 22) - 1), None)
        );
        assert_eq!(word_of(0, ClassWords::Wide, Linear::PLAIN), None);
    }
}
