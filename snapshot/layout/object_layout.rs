//! Where HotSpot keeps what in objects, arrays, mirrors and classes, as the calibration found it.

use crate::layout::{instance_offset, ClassWords, Linear, Oops};
use crate::memory::Memory;
use format::BasicType;

/// Everything that reading an object takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLayout {
    /// References.
    pub oops: Oops,
    /// Class words.
    pub class_words: ClassWords,
    /// From a class word to the address of the JVM's `Klass`.
    pub klasses: Linear,
    /// Where a mirror holds the address of its `Klass`.
    pub klass_in_mirror: u64,
    /// Where a `Klass` holds its mirror.
    pub mirror_in_klass: MirrorInKlass,
    /// Arrays.
    pub arrays: ArrayLayout,
    /// Ids of static fields.
    pub static_ids: StaticIds,
}

/// Arrays: offsets from the object's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    /// Of the length, four bytes.
    pub length: u64,
    /// Of the first element, by the element type's HPROF number.
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

/// How a `Klass` knows its mirror: by the mirror's address (JDK 8), or by the address of a slot that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MirrorInKlass {
    /// Offset in the `Klass`.
    pub offset: u64,
    /// Through a slot.
    pub through_slot: bool,
}

impl MirrorInKlass {
    /// The mirror of this `Klass`; 0 for one from an archive whose class was never loaded.
    pub fn load(self, memory: impl Memory, klass: u64) -> u64 {
        match memory.u64(klass.wrapping_add(self.offset)) {
            slot if self.through_slot && slot != 0 => memory.u64(slot),
            mirror => mirror,
        }
    }
}

/// What a static field's id points at (HotSpot's `JNIid`): offsets of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticIds {
    /// Of the declaring `Klass`, eight bytes.
    pub holder: u64,
    /// Of the field's offset in the mirror, four bytes.
    pub offset: u64,
}

impl ObjectLayout {
    /// The object's class word.
    #[inline]
    pub fn class_word(&self, memory: impl Memory, object: u64) -> u64 {
        self.class_words.load(memory, object)
    }

    /// Elements of an array.
    #[inline]
    pub fn length(&self, memory: impl Memory, array: u64) -> u32 {
        memory.u32(array.wrapping_add(self.arrays.length))
    }

    /// The address of a class's `Klass`, from its mirror; 0 for mirrors of primitive types.
    pub fn klass(&self, memory: impl Memory, mirror: u64) -> u64 {
        memory.u64(mirror.wrapping_add(self.klass_in_mirror))
    }

    /// The class word that instances of this mirror's class have; `None` if the class can have none.
    ///
    /// From 24 on HotSpot keeps interfaces and abstract classes where no class word leads.
    pub fn class_word_of(&self, memory: impl Memory, mirror: u64) -> Option<u64> {
        let word = self.klasses.code(self.klass(memory, mirror))?;
        let most = match self.class_words {
            ClassWords::Wide => u64::MAX,
            ClassWords::Narrow => u64::from(u32::MAX),
            ClassWords::Compact(shift) => u64::MAX >> shift,
        };
        (word != 0 && word <= most).then_some(word)
    }

    /// Where a static field lies, from its id and its class's mirror; `None` if the id is not of this class.
    pub fn static_place(&self, memory: impl Memory, mirror: u64, field_id: u64) -> Option<u64> {
        if instance_offset(field_id).is_some() {
            return None;
        }
        let holder = memory.u64(field_id.wrapping_add(self.static_ids.holder));
        let offset = memory.u32(field_id.wrapping_add(self.static_ids.offset));
        (holder == self.klass(memory, mirror)).then(|| mirror.wrapping_add(u64::from(offset)))
    }
}
