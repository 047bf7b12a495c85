//! Heap dumps: facts (classes, stacks) → roots → objects → file.
//!
//! [`dump`] chooses one of three ways, and says how it went ([`outcome`], [`error`]). [`fork`] has a forked copy read, [`walk`] stops the
//! application for a walk over the heap; neither knows the other, and [`facts`] are what both ask the JVM.

use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::message::say;
use crate::options::{Engine, Format, Options, SnapshotBy, StopTheWorld};

mod dump;
mod error;
mod facts;
mod fork;
mod memory_left;
mod object_sizes;
mod outcome;
mod request;
mod tried;
mod walk;

pub(crate) use dump::{dump, is_dumping_here, Known};

/// Makes what dumps need of the heap while it has room: a dump itself takes none. In `VMInit`, on any thread with a local frame.
///
/// What cannot be had is made by each dump.
pub(crate) fn prepare<'f>(env: &'f Env, jni: &'f Jni<'f>, options: &Options) {
    if options.format == Format::Text {
        object_sizes::measure(env, jni);
    }
    let Ok(loaded) = env.loaded_classes(jni) else {
        return;
    };
    if let Some(class) = loaded.first() {
        tell_of_pauses(options, class);
    }
    facts::unlinked::link(env, jni, &loaded);
    if options.engine != Engine::Portable {
        facts::kept_objects::prepare(env, jni, loaded);
    }
}

/// Says at the start what a user would learn from the first dump: that the application will not run on meanwhile. `object` is any
/// object.
fn tell_of_pauses(options: &Options, object: &Object<'_>) {
    let may_choose = options.engine != Engine::Portable && options.snapshot == SnapshotBy::Auto;
    if !(options.heap_dump && options.verbose && may_choose) {
        return;
    }
    if options.stop_the_world == StopTheWorld::Never {
        return;
    }
    if let Err(why) = fork::look_at_heap(object) {
        say(&format!(
            "a heap dump will stop the application, for one to two seconds per million objects, as {why}: where that matters, HotSpot's own (jcmd PID GC.heap_dump) takes a fraction of it"
        ));
    }
}
