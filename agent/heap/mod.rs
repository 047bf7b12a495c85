//! Heap dumps: facts (classes, stacks) → roots → objects → file.
//!
//! [`dump`] chooses one of two ways and reports the result ([`outcome`], [`error`]). [`fork`] reads
//! a forked copy; [`dumper`] has HotSpot dump the heap, and copies its file. Neither knows the
//! other, and [`facts`] are read from the JVM.

use crate::message::say;
use hotspot::flags;
use jvm::env::Env;
use jvm::java_version::java_version;
use jvm::jni::Jni;
use jvm::object::Object;
use options::{OnOutOfMemory, Options, StopTheWorld};

pub(crate) mod cause;
mod count;
mod dump;
mod dumper;
mod error;
mod facts;
mod fork;
mod left;
mod object_sizes;
mod outcome;
mod request;
mod stop_bound;
mod text_dump;
mod tried;

use error::DumpError;

pub(crate) use count::count;
pub(crate) use dump::{dump, is_dumping_here};
pub(crate) use facts::allocation_traces::Profiled;
pub(crate) use facts::memory_reserve::{give_up as give_up_reserve, hold_off_collections};
pub(crate) use request::Request;

/// Makes the objects that dumps need, while the heap has room: a dump itself then allocates
/// nothing. Runs in `VMInit`, on any thread with a local frame.
///
/// If something cannot be made here, each dump makes it.
pub(crate) fn prepare<'f>(env: &'f Env, jni: &'f Jni<'f>, options: &Options) {
    object_sizes::measure(env, jni);
    let Ok(loaded) = env.loaded_classes(jni) else {
        return;
    };
    if let Some(class) = loaded.first() {
        tell_of_pauses(options, class);
    }
    facts::unlinked::link(env, jni, &loaded);
    let name = dumper::prepared_name();
    facts::kept_objects::prepare(env, jni, loaded, name.as_deref());
}

/// Makes the reserve where it may be needed: at the first OutOfMemoryError, or to hold collections
/// off. Runs in `VMInit` of any session, on any thread with a local frame.
pub(crate) fn prepare_end(env: &Env, jni: &Jni<'_>, options: &Options) {
    if options.oom == OnOutOfMemory::Nothing && !may_collection_wait(env) {
        return;
    }
    if let Ok(loaded) = env.loaded_classes(jni) {
        facts::memory_reserve::make(env, jni, &loaded);
    }
}

/// Whether a collection may wait for ever at the JVM's end, and with it all that needs a safepoint:
/// the dump, and that end. HotSpot 8 ends the concurrent threads of G1 before VMDeath. The next
/// collection may start a cycle of theirs, and the one after that waits for its first step.
pub(crate) fn may_collection_wait(env: &Env) -> bool {
    java_version(env) == 0 && flags::is_on("UseG1GC") == Some(true)
}

/// Tells the user at startup, rather than at the first dump, that dumps will stop the application,
/// or that there will be none, as nothing can be left out. `object` is any object.
fn tell_of_pauses(options: &Options, object: &Object<'_>) {
    if options.heap_dump && options.leaves_out_values() {
        if let Some(why) = fork::never_copied(object) {
            let why = DumpError::NoRedaction(why);
            say(&format!("there will be no dump unless this changes: {why}"));
        }
        return;
    }
    let may_stop = matches!(
        options.stop_the_world,
        StopTheWorld::IfNeeded | StopTheWorld::Allowed
    );
    if !(options.heap_dump && options.verbose && may_stop) {
        return;
    }
    if let Some(why) = fork::never_copied(object) {
        say(&format!(
            "a heap dump will stop the application for as long as HotSpot's own (jcmd PID GC.heap_dump) does, because {why}"
        ));
    }
}
