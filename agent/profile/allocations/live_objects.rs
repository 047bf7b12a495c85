//! Objects that may live, behind weak handles.

use crate::hotspot::WeakSlots;
use crate::jvmti::jni::Jni;
use crate::jvmti::weak::Weak;
use tables::{SiteIndex, Weight};

/// What objects are multiples of, in bytes, on every HotSpot.
pub(crate) const WORD_BYTES: u64 = 8;

/// An object. There are as many of these as objects were made since the last collection, so it is small.
#[derive(Debug)]
pub(crate) struct LiveObject {
    /// The object.
    pub(crate) object: Weak,
    /// Where it was allocated.
    pub(crate) site: SiteIndex,
    size_words: u32,
}

const _: () = assert!(std::mem::size_of::<LiveObject>() == 16);

impl LiveObject {
    /// An object of this size, which is a multiple of 8 and at most 32 GiB: as large as the largest array.
    pub(crate) fn new(object: Weak, site: SiteIndex, size_bytes: u64) -> Self {
        Self {
            object,
            site,
            size_words: u32::try_from(size_bytes / WORD_BYTES).unwrap_or(u32::MAX),
        }
    }

    /// Its size.
    pub(crate) fn size_bytes(&self) -> u64 {
        u64::from(self.size_words) * WORD_BYTES
    }

    /// It stands for itself.
    pub(crate) fn weight(&self) -> Weight {
        Weight::of_sample(self.size_bytes(), 0)
    }
}

/// Something with a weak handle.
pub(crate) trait Behind {
    /// The object.
    fn object(&self) -> &LiveObject;
    /// The object alone.
    fn into_object(self) -> LiveObject;
}

impl Behind for LiveObject {
    fn object(&self) -> &LiveObject {
        self
    }

    fn into_object(self) -> LiveObject {
        self
    }
}

/// Takes out those whose objects were collected, and gives their handles back. The order changes, and no memory is taken.
pub(crate) fn forget_gone<B: Behind>(jni: &Jni<'_>, slots: &WeakSlots, all: &mut Vec<B>) {
    let mut index = 0;
    while let Some(one) = all.get(index) {
        if slots.is_gone(jni, &one.object().object) {
            jni.forget_weak(all.swap_remove(index).into_object().object);
        } else {
            index += 1;
        }
    }
}

/// Gives the handles back.
pub(crate) fn forget<B: Behind>(jni: &Jni<'_>, all: Vec<B>) {
    for one in all {
        jni.forget_weak(one.into_object().object);
    }
}
