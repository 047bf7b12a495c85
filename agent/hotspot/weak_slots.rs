//! What weak handles are on HotSpot: addresses of slots, which hold the objects' addresses.

use super::vm_structs::Table;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::{Handle, Object};
use crate::jvmti::weak::Weak;
use std::sync::atomic::{AtomicU8, Ordering};

/// What weak handles show of themselves, without a call of the JVM; nothing, unless it was found out.
#[derive(Debug, Default)]
pub(crate) struct WeakSlots(AtomicU8);

impl WeakSlots {
    /// Only the JVM can tell.
    const OPAQUE: u8 = 0;
    /// Their bits are the address of a slot, which holds the object's address. What it holds when that was collected is not
    /// known yet.
    const SHOW_LIFE: u8 = 1;
    /// The same, and then it holds null: HotSpot, unless the collector colours addresses.
    const PLAIN: u8 = 2;

    /// Looks how a live object is shown.
    pub(crate) fn look(&self, jni: &Jni<'_>, object: &Object<'_>) {
        /// A collection may move the object between two looks.
        const TRIES: usize = 3;
        if Table::find().is_none() {
            return;
        }
        let Some(weak) = jni.weak(object) else {
            return;
        };
        let shows = |_| {
            // SAFETY: handles of HotSpot's, which tells of its structures; both are live.
            let (address, same) = unsafe { (slot(weak.handle()), slot(object.handle())) };
            address != 0 && address == same
        };
        if (0..TRIES).any(shows) {
            self.0.store(Self::SHOW_LIFE, Ordering::Relaxed);
        }
        jni.forget_weak(weak);
    }

    /// Whether the object behind a weak handle was collected.
    pub(crate) fn is_gone(&self, jni: &Jni<'_>, weak: &Weak) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        if state == Self::OPAQUE {
            return jni.is_gone(weak);
        }
        // SAFETY: `look` has seen that handles are addresses of slots; this one was not given back.
        let is_null = || unsafe { slot(weak.handle()) } == 0;
        if state == Self::PLAIN {
            return is_null();
        }
        let is_gone = jni.is_gone(weak);
        if is_gone {
            let found = if is_null() { Self::PLAIN } else { Self::OPAQUE };
            self.0.store(found, Ordering::Relaxed);
        }
        is_gone
    }
}

/// What the slot of a handle holds.
///
/// # Safety
/// The handle's bits are the address of a slot, and marks in the low bits; it was not given back.
unsafe fn slot(handle: Handle) -> u64 {
    /// Marks of the kinds of handles.
    const MARKS: u64 = 7;
    // SAFETY: the caller's promise; the collector may write to it meanwhile.
    unsafe { ((handle.bits() & !MARKS) as *const u64).read_volatile() }
}
