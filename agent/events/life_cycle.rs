//! VMInit and VMDeath: the first and the last word of the JVM.

use crate::heap;
use crate::jvmti::event::{
    Event, CLASS_LOAD, CLASS_PREPARE, DATA_DUMP_REQUEST, THREAD_END, THREAD_START,
    VIRTUAL_THREAD_END, VIRTUAL_THREAD_START,
};
use crate::jvmti::jni::Jni;
use crate::message::say;
use crate::options::Options;
use crate::session::Session;

/// `VMInit`: makes what dumps need while the heap has room, listens, counts what is there already.
pub(crate) fn vm_init(session: &Session, jni: &mut Jni<'_>) {
    // By the socket a heap dump can be asked for in any session.
    if session.options.heap_dump || session.net.is_some() {
        // Without memory for a frame there is none for objects: a dump makes them.
        let _ = jni.with_frame(|jni| heap::prepare(&session.env, jni, &session.options));
    }
    for event in [
        DATA_DUMP_REQUEST,
        THREAD_START,
        THREAD_END,
        CLASS_LOAD,
        CLASS_PREPARE,
    ] {
        listen(session, event);
    }
    if session.options.virtual_threads {
        listen(session, VIRTUAL_THREAD_START);
        listen(session, VIRTUAL_THREAD_END);
    }
    session.dump_queue.start(session, jni);
    if let Some(net) = &session.net {
        net.start(session, jni);
    }
    let counted = jni.with_frame(|jni| {
        let threads = session
            .env
            .live_threads(jni)
            .map_or(0, |threads| threads.len());
        let classes = session
            .env
            .loaded_classes(jni)
            .map_or(0, |classes| classes.len());
        session.census.note_found(threads as u64, classes as u64);
    });
    session.profiles.start(session.vm, &session.env, jni);
    if counted.is_none() {
        say("the threads and classes that were there before the agent could not be counted: no memory");
    }
}

fn listen(session: &Session, event: Event) {
    if let Err(error) = session.env.notify(event, true) {
        say(&format!(
            "the event {} cannot be listened to: {error}",
            event.name
        ));
    }
}

/// `VMDeath`: no event after this one. Waits for callbacks and dumps under way, then makes the last dump.
pub(crate) fn vm_death(session: &Session, jni: &mut Jni<'_>) {
    if let Some(cpu) = &session.profiles.cpu_samples {
        cpu.stop();
    }
    session.gate.close();
    session.dump_queue.close();
    session.profiles.stop(jni);
    if session.options.dump_on_exit && session.has_outlet() {
        // Nobody is left whom a pause would hold up.
        let options = Options {
            huge_pages: false,
            ..session.options.clone()
        };
        session.dump(jni, &options);
    }
    if let Some(net) = &session.net {
        net.end();
    }
}
