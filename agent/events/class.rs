//! ClassLoad and ClassPrepare: classes are counted; one that is linked the moment before a fork waits.

use crate::class_gate::CLASS_GATE;
use crate::jvmti::object::Object;
use crate::session::Session;

/// `ClassLoad`: a class was loaded, on the thread that loaded it.
pub(crate) fn class_load(session: &Session) {
    session.census.note_class_load();
}

/// `ClassPrepare`: a class was linked; its fields are known from now on.
pub(crate) fn class_prepare(session: &Session, class: &Object<'_>) {
    if let Some(cpu) = &session.profiles.cpu_samples {
        cpu.class_prepare(&session.env, class);
    }
    CLASS_GATE.pass();
}
