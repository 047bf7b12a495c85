//! Objects that may be alive, held by weak handles.

use hotspot::WeakSlots;
use jvm::jni::Jni;
use jvm::weak::Weak;
use std::borrow::Borrow;
use tables::{SiteIndex, Weight};

/// The size of every object is a multiple of this, on every HotSpot.
pub(crate) const WORD_BYTES: u64 = 8;

/// An object. Small, because there is one for each object created since the last collection.
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
    /// An object of this size, which must be a multiple of 8 and at most 32 GiB, the size of the
    /// largest array.
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

    /// A weight of one object.
    pub(crate) fn weight(&self) -> Weight {
        Weight::of_sample(self.size_bytes(), 0)
    }
}

/// Removes the entries of collected objects and releases their handles. Changes the order;
/// allocates nothing.
pub(crate) fn forget_gone<L: Borrow<LiveObject> + Into<LiveObject>>(
    jni: &Jni<'_>,
    slots: &WeakSlots,
    all: &mut Vec<L>,
) {
    let mut index = 0;
    while let Some(one) = all.get(index) {
        if slots.is_gone(jni, &one.borrow().object) {
            jni.forget_weak(all.swap_remove(index).into().object);
        } else {
            index += 1;
        }
    }
}

/// Releases the handles.
pub(crate) fn forget<L: Into<LiveObject>>(jni: &Jni<'_>, all: Vec<L>) {
    for one in all {
        jni.forget_weak(one.into().object);
    }
}
