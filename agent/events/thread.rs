//! ThreadStart and ThreadEnd.

use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::session::Session;

/// `ThreadStart`: a platform thread begins, on that thread.
pub(crate) fn thread_start(session: &Session, jni: &Jni<'_>, thread: &Object<'_>) {
    session.census.note_thread_start();
    if let Some(allocations) = &session.profiles.allocations {
        allocations.thread_start();
    }
    if let Some(cpu) = &session.profiles.cpu_samples {
        cpu.thread_start(&session.env, jni, thread);
    }
}

/// `ThreadEnd`: a platform thread ends, on that thread.
pub(crate) fn thread_end(session: &Session, jni: &Jni<'_>, thread: &Object<'_>) {
    if let Some(cpu) = &session.profiles.cpu_samples {
        cpu.thread_end();
    }
    session.profiles.note_thread_end(&session.env, jni, thread);
}
