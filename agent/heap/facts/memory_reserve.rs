//! A reserve in the Java heap, which the agent gives up at the first OutOfMemoryError: while the dump keeps the thread that
//! threw, and with it a full heap, HotSpot's signal thread needs memory to answer a SIGTERM.
//!
//! G1 and ZGC give memory to a thread in units: regions and pages. So the reserve is one array that has such a unit of
//! its own, which is free again when the array is dead, whatever else is alive.

use super::heap_room;
use super::kept_objects::AGENTS_TAG;
use crate::hotspot::flags;
use crate::jvmti::env::Env;
use crate::jvmti::error::JvmtiError;
use crate::jvmti::global::Global;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use parking_lot::Mutex;

/// What a new thread and the hooks of a shutdown need, many times.
const LEAST_BYTES: u64 = 64 << 10;
/// ZGC gives every object that is larger a page of its own (zGlobals.hpp); in a small heap, smaller ones, too.
const LARGE_BYTES: u64 = 4 << 20;
/// The largest share of the heap that the reserve, or the region around it, may take.
const LEAST_HEAPS: u64 = 32;

/// The reserve, until it is given up. Not held across calls of the JVM.
static RESERVE: Mutex<Option<Global>> = Mutex::new(None);

/// The collector, as far as that matters here.
#[derive(Clone, Copy, Debug)]
enum Units {
    /// Regions of so many bytes; what is larger than half of one has regions of its own.
    Regions(u64),
    /// ZGC's pages.
    Pages,
    /// Memory is given as it is asked for.
    None,
}

impl Units {
    fn find() -> Self {
        if flags::is_on("UseG1GC") == Some(true) {
            flags::number("G1HeapRegionSize").map_or(Self::None, Self::Regions)
        } else if flags::is_on("UseZGC") == Some(true) {
            Self::Pages
        } else {
            Self::None
        }
    }

    /// The reserve's length in a heap that is at most so large; `None` if it would take too large a share.
    fn reserve_bytes(self, heap_bytes: u64) -> Option<usize> {
        let (bytes, taken) = match self {
            Self::Regions(region) => (region / 2, region),
            Self::Pages => {
                let bytes = LARGE_BYTES.min(heap_bytes / 128);
                (bytes, bytes)
            }
            Self::None => (LEAST_BYTES, LEAST_BYTES),
        };
        let bytes = bytes.max(LEAST_BYTES);
        let fits = taken.max(bytes).saturating_mul(LEAST_HEAPS) <= heap_bytes;
        usize::try_from(bytes).ok().filter(|_| fits)
    }
}

/// Makes the reserve, in `VMInit`; `loaded` are all classes. There is none in a heap that is too small for it.
pub(in crate::heap) fn make(env: &Env, jni: &Jni<'_>, loaded: &[Object<'_>]) {
    let most = heap_room::most_bytes(env, jni, loaded).unwrap_or(0);
    let Some(length) = Units::find().reserve_bytes(most) else {
        return;
    };
    if let Some(array) = jni.new_array_of_bytes(length) {
        *RESERVE.lock() = jni.keep(&array);
        jni.forget(array);
    }
}

/// Leaves the reserve to the next collection. Any thread.
pub(crate) fn give_up(jni: &Jni<'_>) {
    let reserve = RESERVE.lock().take();
    if let Some(reserve) = reserve {
        jni.forget_global(reserve);
    }
}

/// The reserve, for the current local frame, which keeps it alive.
pub(in crate::heap) fn array<'f>(jni: &Jni<'f>) -> Option<Object<'f>> {
    let reserve = RESERVE.lock();
    reserve.as_ref().and_then(|reserve| jni.local(reserve))
}

/// Marks the reserve as an object of the agent's own, which is in no dump.
pub(in crate::heap) fn tag(env: &Env, jni: &Jni<'_>) -> Result<(), JvmtiError> {
    let Some(array) = array(jni) else {
        return Ok(());
    };
    let tagged = env.set_tag(&array, AGENTS_TAG);
    jni.forget(array);
    tagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_has_a_unit_of_its_own_and_a_small_share() {
        let mib = 1 << 20;
        assert_eq!(Units::Regions(mib).reserve_bytes(64 * mib), Some(512 << 10));
        assert_eq!(Units::Regions(mib).reserve_bytes(31 * mib), None);
        assert_eq!(Units::Pages.reserve_bytes(64 * mib), Some(512 << 10));
        assert_eq!(Units::Pages.reserve_bytes(64 << 30), Some(4 << 20));
        assert_eq!(Units::None.reserve_bytes(64 << 30), Some(64 << 10));
        assert_eq!(Units::None.reserve_bytes(mib), None);
    }
}
