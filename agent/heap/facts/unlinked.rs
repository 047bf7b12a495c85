//! Classes that are loaded but not linked, although they may have instances.

use jvm::env::Env;
use jvm::heap_room;
use jvm::jni::Jni;
use jvm::object::Object;

/// Links the bootstrap loader's classes that may have instances but are not linked.
///
/// Where HotSpot maps a CDS archive, the archived objects may be instances of unlinked classes.
/// JVMTI does not report the fields of an unlinked class, and only the pause shows whether it has
/// instances. A JVM that has just started has about 50 such classes; linking takes 40 us each and
/// loads nothing but the types of public fields. A thread that links a class waits if another
/// thread is linking it, and reports that to a debugger.
///
/// Asking for fields creates objects, so nothing is linked in a full heap. At VMInit the heap is
/// not full, and the archive's objects exist already.
///
/// A class that the JVM does not report, or that cannot be linked, stays as it is. If the walk
/// meets an instance, it says so.
pub(in crate::heap) fn link(env: &Env, jni: &Jni<'_>, classes: &[Object<'_>]) {
    let shares = env.system_property(c"java.vm.info");
    if !shares.is_ok_and(|info| info.windows(7).any(|part| part == b"sharing")) {
        return;
    }
    let is_unlinked = |class: &&Object<'_>| env.is_unlinked_concrete(class).unwrap_or(false);
    let mut has_room = None;
    for class in classes.iter().filter(is_unlinked) {
        if !*has_room.get_or_insert_with(|| heap_room::is_there(env, jni, classes)) {
            return;
        }
        match env.class_loader(jni, class) {
            Ok(Some(loader)) => jni.forget(loader),
            Ok(None) => {
                jni.link(class);
            }
            Err(_) => {}
        }
    }
}
