//! Whether the heap has room for the few small objects that the agent makes. In a full heap it
//! makes none.

use crate::env::Env;
use crate::jni::Jni;
use crate::new_object::{are_collections_held_off, HeapBytes};
use crate::object::Object;
use std::thread::sleep;
use std::time::Duration;

/// With less free heap than this, no object is created. Many times what the agent needs.
pub const LEAST_FREE_BYTES: u64 = 256 << 10;
const RUNTIME: &[u8] = b"Ljava/lang/Runtime;";
/// How long to wait, and how often, until a collection has made room.
const COLLECTION: Duration = Duration::from_millis(10);
const COLLECTION_LOOKS: u32 = 300;

/// Whether there is room, according to `java.lang.Runtime`, which is one of these classes. There is
/// none while collections are held off: what is free may still need one.
pub fn is_there(env: &Env, jni: &Jni<'_>, classes: &[Object<'_>]) -> bool {
    !are_collections_held_off()
        && bytes(env, jni, classes).is_some_and(|heap| heap.free >= LEAST_FREE_BYTES)
}

/// The same, or whether there is room within three seconds, by the application's collections: under
/// ZGC, the heap of one that allocates fast is full for moments, again and again.
pub fn comes(env: &Env, jni: &Jni<'_>, classes: &[Object<'_>]) -> bool {
    let runtime = runtime(env, jni, classes);
    let Some(runtime) = runtime.filter(|_| !are_collections_held_off()) else {
        return false;
    };
    (0..COLLECTION_LOOKS).any(|look| {
        if look > 0 {
            sleep(COLLECTION);
        }
        let heap = jni.heap_bytes(runtime);
        heap.is_some_and(|heap| heap.free >= LEAST_FREE_BYTES)
    })
}

/// Bytes of the heap in use; `None` if the JVM does not report them.
pub fn used_bytes(env: &Env, jni: &Jni<'_>, classes: &[Object<'_>]) -> Option<u64> {
    bytes(env, jni, classes).map(|heap| heap.used)
}

/// Used and free bytes; `None` if the JVM does not report them.
pub fn bytes(env: &Env, jni: &Jni<'_>, classes: &[Object<'_>]) -> Option<HeapBytes> {
    runtime(env, jni, classes).and_then(|runtime| jni.heap_bytes(runtime))
}

/// `java.lang.Runtime`, which is one of these classes.
pub fn runtime<'o, 'f>(
    env: &Env,
    jni: &Jni<'_>,
    classes: &'o [Object<'f>],
) -> Option<&'o Object<'f>> {
    let is_runtime = |class: &&Object<'_>| {
        let signature = env.class_signature(class);
        signature.is_ok_and(|signature| signature == RUNTIME)
            && matches!(env.class_loader(jni, class), Ok(None))
    };
    classes.iter().find(is_runtime)
}
