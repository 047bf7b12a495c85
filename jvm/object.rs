//! A handle to a Java object: a JNI local reference that cannot leave the frame in which it was
//! created.

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
