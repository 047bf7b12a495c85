//! Weak handles on HotSpot: addresses of slots that hold the objects' addresses.

use super::vm_structs::Table;
use jvm::jni::Jni;
use jvm::object::{Handle, Object};
use jvm::weak::Weak;
use std::sync::atomic::{AtomicU8, Ordering};

/// What weak handles reveal without a call of the JVM; nothing until `look` finds out.
#[derive(Debug, Default)]
pub struct WeakSlots(AtomicU8);

impl WeakSlots {
    /// Only the JVM can tell whether the object is alive.
    const OPAQUE: u8 = 0;
    /// A handle's bits are the address of a slot with the object's address. What the slot holds
    /// after the object was collected is not yet known.
    const SHOW_LIFE: u8 = 1;
    /// The slot then holds null: HotSpot, unless the collector uses coloured pointers.
    const PLAIN: u8 = 2;

    /// Checks how a handle shows a live object.
    pub fn look(&self, jni: &Jni<'_>, object: &Object<'_>) {
        /// A collection may move the object between the two reads.
        const TRIES: usize = 3;
        if Table::find().is_none() {
            return;
        }
        let Some(weak) = jni.weak(object) else {
            return;
        };
        let shows = |_| {
            // SAFETY: HotSpot's handles, since it exports its structures; both are live.
            let (address, same) = unsafe { (slot(weak.handle()), slot(object.handle())) };
            address != 0 && address == same
        };
        if (0..TRIES).any(shows) {
            self.0.store(Self::SHOW_LIFE, Ordering::Relaxed);
        }
        jni.forget_weak(weak);
    }

    /// Whether the object of a weak handle was collected.
    pub fn is_gone(&self, jni: &Jni<'_>, weak: &Weak) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        if state == Self::OPAQUE {
            return jni.is_gone(weak);
        }
        // SAFETY: `look` has seen that handles are addresses of slots; this one was not released.
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

/// The contents of a handle's slot.
///
/// # Safety
/// The handle's bits are the address of a slot, tagged in the low bits; the handle was not
/// released.
unsafe fn slot(handle: Handle) -> u64 {
    /// The tag bits.
    const MARKS: u64 = 7;
    // SAFETY: the caller's promise; the collector may write it at the same time.
    unsafe { ((handle.bits() & !MARKS) as *const u64).read_volatile() }
}
