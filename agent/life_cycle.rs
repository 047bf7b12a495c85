//! VMInit and VMDeath: what the agent does at the JVM's start and end.

use crate::dump_queue::Request;
use crate::ending;
use crate::heap;
use crate::message::{listen, say};
use crate::other_switches;
use crate::session::Session;
use crate::thrown::Thrower;
use jvm::event::{
    CLASS_LOAD, CLASS_PREPARE, DATA_DUMP_REQUEST, RESOURCE_EXHAUSTED, THREAD_END, THREAD_START,
};
use jvm::jni::Jni;
use jvm::last_hook::LastHook;
use jvm::os::descriptor::keep_reserve;
use jvm::os::process_end::{at_exit, QuitIgnored};
use jvm::os::{children, command, map_reserve};
use jvm::tracker::Natives;
use options::OnOutOfMemory;
use std::time::Duration;

/// How long the JVM's end waits for an OutOfMemoryError whose command may have asked for it. The
/// thread that threw it needs a turn on a processor.
const LATE_ERROR: Duration = Duration::from_secs(1);

/// `VMInit`: makes the objects that dumps need while the heap has room, switches events on, and
/// counts what exists already.
pub(crate) fn vm_init(session: &'static Session, jni: &mut Jni<'_>) {
    // If there is no memory for a local frame, there is none for objects.
    let _ = jni.with_frame(|jni| heap::prepare_end(&session.env, jni, &session.options));
    // With a socket, a heap dump can be requested in any session.
    let is_forked = session.options.heap_dump || session.options.on.is_some();
    if is_forked || session.net.is_some() {
        // If there is no memory for a local frame, there is none for objects: each dump makes them
        // then.
        let _ = jni.with_frame(|jni| heap::prepare(&session.env, jni, &session.options));
    }
    if session.options.dump_on_signal {
        listen(&session.env, DATA_DUMP_REQUEST);
    }
    for event in [THREAD_START, THREAD_END, CLASS_LOAD, CLASS_PREPARE] {
        listen(&session.env, event);
    }
    let serve = |jni: &mut Jni<'_>, request: &Request| session.serve(jni, request);
    let let_go = |by| {
        if by == Thrower::Java {
            return true;
        }
        // HotSpot prints a line on stdout for each such event as long as an agent listens.
        let _ = session.env.notify(RESOURCE_EXHAUSTED, false);
        session.options.oom != OnOutOfMemory::DumpAndExit
    };
    session.dump_queue.start(&session.env, jni, let_go, serve);
    if session.options.oom != OnOutOfMemory::Nothing {
        keep_reserve();
        other_switches::tell();
        listen(&session.env, RESOURCE_EXHAUSTED);
    }
    at_exit(|| process_ends(session));
    if let Some(net) = &session.net {
        net.start(session, jni);
    }
    if let Some(triggers) = &session.triggers {
        let request = |cause| session.dump_queue.request_for(cause);
        let jvm = (session.vm, &session.env);
        triggers.start(jvm, &session.options, jni, &session.gate, request);
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
    if session.profiles.injection.is_some() {
        other_switches::tell_of_training();
    }
    let natives = (Natives::of::<Session>(), LastHook::of::<Session>());
    session
        .profiles
        .start(session.vm, &session.env, jni, natives);
    if session.options.oom != OnOutOfMemory::Nothing {
        map_reserve::hold();
        listen_for_java_errors(session, jni, natives.0);
    }
    if counted.is_none() {
        say("the threads and classes that existed before the agent are not counted: no memory");
    }
}

/// Has the constructors of OutOfMemoryErrors report what Java code throws.
fn listen_for_java_errors(session: &Session, jni: &mut Jni<'_>, natives: Natives) {
    let hooks = session.profiles.injection.is_some();
    let started = session.java_errors.start(&session.env, jni, natives, hooks);
    if let Err(why) = started {
        say(&format!(
            "an OutOfMemoryError that Java code throws (Direct buffer memory) will make no dump: {why}"
        ));
    }
}

/// Dropped as the last: ends the commands whose dumps were given up, and removes their files.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        writer::remove_unfinished();
        command::end_all();
    }
}

/// The process ends by `exit(3)`. If the JVM has not announced its end, nothing else waits for a
/// running dump or reports that there is none. That happens when the heap is too full for the last
/// thread's object.
fn process_ends(session: &Session) {
    let _ended = Ended;
    if ending::has_begun() {
        return;
    }
    ending::begin();
    tell_whether_done(session.dump_queue.close(ending::SILENCE_LIMIT, false));
    if session.options.dump_on_exit && session.has_outlet() {
        say("no dump at the end: the process ended without the JVM's own shutdown (VMDeath), as when the heap is full or native code calls exit");
    }
}

/// Whether an OutOfMemoryError has perhaps ended the JVM before HotSpot reports it: HotSpot runs
/// the command of `-XX:OnOutOfMemoryError` first, and the request to end is a signal.
fn may_error_follow(session: &Session, jni: &Jni<'_>) -> bool {
    let env = &session.env;
    let is_signal = || {
        let thread = env.current_thread(jni);
        let names = thread.and_then(|thread| env.thread_names(jni, &thread));
        // As the JDK names the thread that runs the handler of a signal.
        names.is_ok_and(|names| names.name.starts_with(b"SIG") && names.name.ends_with(b" handler"))
    };
    session.options.oom != OnOutOfMemory::Nothing
        && other_switches::has_command_at_error()
        && children::has_one_ended()
        && is_signal()
}

/// Tells of a dump that nothing waits for any more.
fn tell_whether_done(is_done: bool) {
    if !is_done {
        say("the dump in progress is given up: it makes no progress, and the JVM is shutting down");
    }
}

/// `VMDeath`: no event follows. Waits for callbacks and running dumps, then for the last dump. Each
/// wait has a limit, since the JVM may not answer the calls of a dump any more.
pub(crate) fn vm_death(session: &Session, jni: &mut Jni<'_>) {
    ending::begin();
    // Until this function ends: from here on, a thread dump would crash the JVM.
    let _ignored = QuitIgnored::begin();
    session.profiles.stop(jni);
    if heap::may_collection_wait(&session.env) {
        heap::hold_off_collections(jni);
    }
    if let Some(net) = &session.net {
        net.connection.hurry();
    }
    if let Some(cpu) = &session.profiles.cpu_samples {
        cpu.stop();
    }
    if may_error_follow(session, jni) {
        session.dump_queue.await_error(LATE_ERROR);
    }
    let limit = Duration::from_secs(u64::from(session.options.timeout_s));
    let last = session.options.dump_on_exit && session.has_outlet();
    let is_done = session.gate.close(limit) && session.dump_queue.close(limit, last);
    tell_whether_done(is_done);
    if !is_done {
        // It may hold the connection.
        return;
    }
    if last && !session.dump_queue.is_served() {
        session.serve(jni, &Request::Last);
    }
    if let Some(net) = &session.net {
        net.end();
    }
}
