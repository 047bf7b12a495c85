//! Classes that are loaded and not linked, though there may be instances of them.

use super::error::{DumpError, For};
use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;

/// Has the JVM link the bootstrap loader's classes that may have instances and are not linked.
///
/// HotSpot has objects of such classes where it maps an archive (CDS): those of the archive. The fields of a class that is
/// not linked are not told, and whether there are instances shows only in the pause. There are some 50 such classes in a
/// JVM that has just started, 40 us each; the JVM loads nothing for it but the types of public fields.
pub(super) fn link(env: &Env, jni: &Jni<'_>, classes: &[Object<'_>]) -> Result<(), DumpError> {
    let shares = env.system_property(c"java.vm.info");
    if !shares.is_ok_and(|info| info.windows(7).any(|part| part == b"sharing")) {
        return Ok(());
    }
    for class in classes {
        let is_unlinked = env.is_unlinked_concrete(class);
        if !is_unlinked.when("the state of a class")? {
            continue;
        }
        match env.class_loader(jni, class).when("the loader of a class")? {
            Some(loader) => jni.forget(loader),
            // One that cannot be linked stays as it is.
            None => {
                jni.link(class);
            }
        }
    }
    Ok(())
}
