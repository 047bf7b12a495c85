//! What rewritten code reports: new objects and arrays, methods that begin and end.

use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::profile::{CpuTimes, New};
use crate::session::Session;

/// `ClassFileLoadHook`: the class file to take instead; `None` for the one there is. `is_redefined` is whether the class
/// had another one so far.
pub(crate) fn class_file_load_hook(
    session: &Session,
    bytes: &[u8],
    is_redefined: bool,
) -> Option<Vec<u8>> {
    let injection = session.profiles.injection.as_ref()?;
    if let Some(allocations) = &session.profiles.allocations {
        if injection.is_started() {
            allocations.note_class_file(is_redefined);
        }
    }
    injection.rewrite(bytes)
}

/// The constructor of `java.lang.Object` returns, on the thread that makes the object.
pub(crate) fn object_init(session: &Session, jni: &Jni<'_>, object: &Object<'_>) {
    if let Some(allocations) = &session.profiles.allocations {
        allocations.note_new(&session.env, jni, object, New::Instance);
    }
}

/// An array was made, on the thread that makes it.
pub(crate) fn new_array(session: &Session, jni: &Jni<'_>, array: &Object<'_>, length: i32) {
    if let Some(allocations) = &session.profiles.allocations {
        allocations.note_new(&session.env, jni, array, New::Array(length));
    }
}

/// A method begins, on the thread that runs it.
pub(crate) fn method_enter(session: &Session, jni: &Jni<'_>, number: i32) {
    if let Some(times) = &session.profiles.cpu_times {
        times.enter(&session.env, jni, number);
    }
}

/// A method returns or throws.
pub(crate) fn method_exit(number: i32) {
    CpuTimes::exit(number);
}

/// `GarbageCollectionFinish`: calls nothing, as nothing may be called.
pub(crate) fn garbage_collection_finish(session: &Session) {
    if let Some(allocations) = &session.profiles.allocations {
        allocations.note_collection();
    }
}
