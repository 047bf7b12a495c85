//! Classes that are loaded and not linked, though there may be instances of them.

use super::heap_room;
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;

/// Has the JVM link the bootstrap loader's classes that may have instances and are not linked.
///
/// HotSpot has objects of such classes where it maps an archive (CDS): those of the archive. The fields of a class that is
/// not linked are not told, and whether there are instances shows only in the pause. There are some 50 such classes in a
/// JVM that has just started, 40 us each; the JVM loads nothing for it but the types of public fields. Who asks to link a
/// class waits while another thread links it, and reports that to a debugger.
///
/// To ask for the fields makes objects, so in a full heap nothing is linked. At VMInit it is not full, and what the archive holds is there.
///
/// A class of which the JVM does not tell, or that cannot be linked, stays as it is: a walk that meets an instance says so.
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
