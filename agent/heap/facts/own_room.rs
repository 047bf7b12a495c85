//! Room in the heap for the objects that the agent makes.

use crate::copied;
use jvm::env::Env;
use jvm::heap_room;
use jvm::jni::Jni;
use jvm::object::Object;

/// Whether there is room; waits for it, unless threads wait for this dump: those that have filled
/// the heap. `classes` are all loaded ones. Call it in no pause and behind no gate.
pub(in crate::heap) fn comes(env: &Env, jni: &Jni<'_>, classes: &[Object<'_>]) -> bool {
    match copied::is_awaited() {
        true => heap_room::is_there(env, jni, classes),
        false => heap_room::comes(env, jni, classes),
    }
}
