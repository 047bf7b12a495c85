//! A handle to a Java object: a JNI local reference that cannot leave the frame in which it was
//! created.

use super::os::careful_reads::is_readable;
use jni::sys::jobject;
use std::marker::PhantomData;

/// A local reference to an object, a class, a thread or a class loader; never null.
///
/// It lives as long as the local frame `'f` (a callback, or [`super::jni::Jni::with_frame`]), on
/// one thread, unless it is [released](super::jni::Jni::forget) before. It cannot be copied.
#[derive(Debug)]
pub struct Object<'f> {
    raw: jobject,
    frame: PhantomData<&'f ()>,
}

/// The bits of a reference. They cannot be used to call the JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(u64);

impl Handle {
    /// A handle with these bits.
    pub(super) fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The word in the slot of a local reference that exists; `None` if this JVM's references are
    /// no addresses of slots. Needs no descriptor.
    pub fn word(self) -> Option<u64> {
        let slot = self.0 & !7;
        // SAFETY: the word was just found readable, and no JVM unmaps the slot of a reference that
        // exists.
        is_readable(slot).then(|| unsafe { (slot as *const u64).read_volatile() })
    }
}

impl Object<'_> {
    /// Takes over a reference; `None` for null.
    ///
    /// # Safety
    /// `raw` is null, or a local reference that is valid throughout the frame and that nothing else
    /// releases.
    pub(super) unsafe fn from_raw(raw: jobject) -> Option<Self> {
        (!raw.is_null()).then_some(Self {
            raw,
            frame: PhantomData,
        })
    }

    /// The handle's bits: on HotSpot the address of the slot with the object's address, tagged in
    /// the low bits.
    ///
    /// Valid in a snapshot of the process taken while this local reference exists.
    pub fn handle(&self) -> Handle {
        Handle(self.raw as u64)
    }

    /// The reference as JVMTI and JNI functions take it.
    pub(super) fn raw(&self) -> jobject {
        self.raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_of_a_reference_is_read_if_it_has_one() {
        let word = 0x1234_5678_9abc_def0_u64;
        let place = std::ptr::from_ref(&word) as u64;
        assert_eq!(Handle(place | 2).word(), Some(word));
        for no_address in [8, u64::MAX - 100] {
            assert_eq!(Handle(no_address).word(), None);
        }
    }
}
