//! Heap dumps: catalogue (classes, stacks) → roots → walk → file.
//!
//! [`dump`] leads; [`catalogue`] asks the JVM what classes there are, before the walk; [`portable`] walks
//! the heap inside the pause; [`threads`], [`stacks`] and [`methods`] make traces of what the walk and the
//! JVM tell of threads; [`stack_room`] shortens the pause where stacks are many and deep.

use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::jvmti::object::Object;
use crate::message::say;
use crate::options::{Engine, Format, Options, SnapshotBy, StopTheWorld};

mod allocation_traces;
mod anonymous_names;
mod catalogue;
mod class_records;
mod dump;
mod error;
mod heap_room;
mod hotspot;
mod memory_left;
mod methods;
mod object_sizes;
mod plain_facts;
mod portable;
mod roots;
mod stack_room;
mod stacks;
mod threads;
mod tried;
mod unlinked;
mod virtual_threads;
mod walk_dump;

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
    unlinked::link(env, jni, &loaded);
    if options.engine != Engine::Portable {
        hotspot::prepare(env, jni, loaded);
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
    if let Err(why) = hotspot::look_at_heap(object) {
        say(&format!(
            "a heap dump will stop the application, for one to two seconds per million objects, as {why}: where that matters, HotSpot's own (jcmd PID GC.heap_dump) takes a fraction of it"
        ));
    }
}
