//! What rewritten code reports: new objects and arrays, methods that begin and end.

use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::profile::{CpuTimes, New};
use crate::session::Session;

/// A class file on its way into the JVM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassFileEvent<'a, 'f> {
    /// The file.
    pub(crate) bytes: &'a [u8],
    /// The loader that defines the class; `None` is the bootstrap loader.
    pub(crate) loader: Option<&'a Object<'f>>,
    /// Whether the class had another file so far.
    pub(crate) is_redefined: bool,
}

/// `ClassFileLoadHook`: the class file to take instead; `None` for the one there is.
pub(crate) fn class_file_load_hook(
    session: &Session,
    jni: &Jni<'_>,
    file: ClassFileEvent<'_, '_>,
) -> Option<Vec<u8>> {
    let injection = session.profiles.injection.as_ref()?;
    if let Some(allocations) = &session.profiles.allocations {
        if injection.is_started() {
            allocations.note_class_file(file.is_redefined);
        }
    }
    injection.rewrite(jni, file.bytes, file.loader)
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

/// An array of arrays was made, on the thread that makes it: of so many dimensions there are arrays.
pub(crate) fn new_arrays(session: &Session, jni: &Jni<'_>, array: &Object<'_>, dimensions: i32) {
    let Some(allocations) = &session.profiles.allocations else {
        return;
    };
    let length = jni.array_length(array);
    allocations.note_new(&session.env, jni, array, New::Nest(length));
    if dimensions > 1 {
        for index in 0..length {
            let Some(inner) = jni.element(array, index) else {
                continue;
            };
            new_arrays(session, jni, &inner, dimensions - 1);
            jni.forget(inner);
        }
    }
}

/// From here on this thread runs this virtual thread.
pub(crate) fn mount(session: &Session, jni: &Jni<'_>, thread: &Object<'_>) {
    if let Some(times) = &session.profiles.cpu_times {
        times.mount(&session.env, jni, jni.thread_number(thread));
    }
}

/// The virtual thread has left this thread.
pub(crate) fn unmount(session: &Session) {
    if let Some(times) = &session.profiles.cpu_times {
        times.unmount();
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
