//! Heap dumps: catalogue (classes, stacks) → roots → walk → file.
//!
//! [`dump`] leads; [`catalogue`] asks the JVM what classes there are, before the walk; [`portable`] walks
//! the heap inside the pause; [`threads`], [`stacks`] and [`methods`] make traces of what the walk and the
//! JVM tell of threads; [`stack_room`] shortens the pause where stacks are many and deep.

use crate::jvmti::env::Env;
use crate::jvmti::jni::Jni;
use crate::options::{Engine, Format, Options};

mod allocation_traces;
mod catalogue;
mod class_records;
mod dump;
mod error;
mod heap_room;
mod hotspot;
mod memory_left;
mod methods;
mod object_sizes;
mod portable;
mod roots;
mod stack_room;
mod stacks;
mod threads;
mod unlinked;
mod virtual_threads;

pub(crate) use dump::{dump, Known};

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
    unlinked::link(env, jni, &loaded);
    if options.engine != Engine::Portable {
        hotspot::prepare(env, jni, loaded);
    }
}
