//! A reserve in the Java heap, which the agent gives up at the first OutOfMemoryError: while the
//! dump keeps the thread that threw, and with it a full heap, HotSpot's signal thread needs memory
//! to answer a SIGTERM.
//!
//! G1 and ZGC give memory to a thread in units: regions and pages. So the reserve is one array that
//! has such a unit of its own, which is free again when the array is dead, whatever else is alive.

use super::kept_objects::AGENTS_TAG;
use hotspot::flags;
use jvm::env::Env;
use jvm::error::JvmtiError;
use jvm::global::Global;
use jvm::heap_room;
use jvm::java_version::java_version;
use jvm::jni::Jni;
use jvm::new_object::HeapBytes;
use jvm::object::Object;
use parking_lot::Mutex;

/// What a new thread and the hooks of a shutdown need, many times.
const LEAST_BYTES: u64 = 64 << 10;
/// ZGC gives every object that is larger a page of its own (zGlobals.hpp).
const LARGE_BYTES: u64 = 4 << 20;
/// The length of such a page is a multiple of this.
const PAGE_BYTES: u64 = 2 << 20;
/// The first long-lived version of Java whose ZGC scales its pages with the heap.
const SCALED_SINCE: u32 = 17;
/// The largest share of the heap that the reserve may take, with the regions or the page around it.
const LEAST_HEAPS: u64 = 32;

/// The reserve, until it is given up. Not held across calls of the JVM.
static RESERVE: Mutex<Option<Global>> = Mutex::new(None);

/// The collector, as far as that matters here.
#[derive(Clone, Copy, Debug)]
enum Units {
    /// Regions of this many bytes; a piece larger than half of one has regions of its own.
    Regions(u64),
    /// ZGC's pages, some of 32 MiB for objects that share them.
    Pages,
    /// Those pages, but smaller in a small heap.
    ScaledPages,
    /// Memory is given as it is asked for.
    None,
}

impl Units {
    fn find(env: &Env) -> Self {
        if flags::is_on("UseG1GC") == Some(true) {
            flags::number("G1HeapRegionSize").map_or(Self::None, Self::Regions)
        } else if flags::is_on("UseZGC") == Some(true) {
            if java_version(env) < SCALED_SINCE {
                Self::Pages
            } else {
                Self::ScaledPages
            }
        } else {
            Self::None
        }
    }

    /// The reserve's length; `None` if it would take too large a share of the heap. At least half
    /// of the heap must be free: an allocation that failed would be an OutOfMemoryError of the
    /// application, with all that it asks for then.
    fn reserve_bytes(self, heap: HeapBytes) -> Option<usize> {
        let most = heap.used.saturating_add(heap.free);
        let (bytes, taken) = match self {
            Self::Regions(region) => (region / 2, region),
            Self::Pages => (LARGE_BYTES, LARGE_BYTES + PAGE_BYTES),
            Self::ScaledPages => {
                let bytes = LARGE_BYTES.min(most / 128).max(LEAST_BYTES);
                (bytes, (bytes + 1).next_multiple_of(PAGE_BYTES))
            }
            Self::None => (LEAST_BYTES, LEAST_BYTES),
        };
        let fits = taken.saturating_mul(LEAST_HEAPS) <= most && heap.used <= heap.free;
        usize::try_from(bytes).ok().filter(|_| fits)
    }
}

/// Makes the reserve, in `VMInit`; `loaded` are all classes. There is none in a heap that is too
/// small for it.
pub(in crate::heap) fn make(env: &Env, jni: &Jni<'_>, loaded: &[Object<'_>]) {
    let heap = heap_room::bytes(env, jni, loaded);
    let Some(length) = heap.and_then(|heap| Units::find(env).reserve_bytes(heap)) else {
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

/// Runs `body` while nothing holds the reserve, so that it is not in HotSpot's own dump of what is
/// alive. It is made anew afterwards, unless the heap is full by then.
pub(in crate::heap) fn without<R>(env: &Env, jni: &Jni<'_>, body: impl FnOnce() -> R) -> R {
    let is_there = RESERVE.lock().is_some();
    give_up(jni);
    let done = body();
    if let (true, Ok(loaded)) = (is_there, env.loaded_classes(jni)) {
        if heap_room::is_there(env, jni, &loaded) {
            make(env, jni, &loaded);
        }
        loaded.into_iter().for_each(|class| jni.forget(class));
    }
    done
}

/// Keeps the JVM from collecting until the process ends. A new array could wait for the very
/// collection that waits for ever, so the reserve serves; without one, collections go on.
pub(crate) fn hold_off_collections(jni: &Jni<'_>) {
    let array = RESERVE.lock().as_ref().and_then(|it| jni.local(it));
    if let Some(array) = array {
        jni.hold_off_collections(&array);
    }
}

/// Marks the reserve as an object of the agent's own, which is in no dump.
pub(in crate::heap) fn tag(env: &Env, jni: &Jni<'_>) -> Result<(), JvmtiError> {
    let array = RESERVE.lock().as_ref().and_then(|it| jni.local(it));
    let Some(array) = array else {
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
        let at_start = |most: u64| HeapBytes {
            used: mib,
            free: most - mib,
        };
        let regions = Units::Regions(mib);
        assert_eq!(regions.reserve_bytes(at_start(64 * mib)), Some(512 << 10));
        assert_eq!(regions.reserve_bytes(at_start(31 * mib)), None);
        // A smaller object would share a page of 32 MiB, which such a heap has not free.
        assert_eq!(Units::Pages.reserve_bytes(at_start(64 * mib)), None);
        let scaled = |most| Units::ScaledPages.reserve_bytes(at_start(most));
        assert_eq!(scaled(63 * mib), None);
        assert_eq!(scaled(64 * mib), Some(512 << 10));
        assert_eq!(scaled(64 << 30), Some(4 << 20));
        let pages = Units::Pages.reserve_bytes(at_start(192 * mib));
        assert_eq!(pages, Some(4 << 20));
        let plain = |most| Units::None.reserve_bytes(at_start(most));
        assert_eq!((plain(64 * mib), plain(mib)), (Some(64 << 10), None));
    }

    #[test]
    fn a_heap_that_is_half_full_has_no_reserve() {
        let heap = HeapBytes {
            used: 33 << 20,
            free: 31 << 20,
        };
        assert_eq!(Units::Regions(1 << 20).reserve_bytes(heap), None);
        assert_eq!(Units::None.reserve_bytes(heap), None);
    }
}
