//! One short, safe function an event: facts in, table rows out. No I/O, no lock held across a JVM call.
//!
//! Until a dump is asked for, the agent keeps counts and nothing else: a tag or a weak reference
//! per class would cost every garbage collection a little, on 8 and 11 inside the pause.

mod allocation;
mod class;
mod dump_request;
mod life_cycle;
mod monitor;
mod out_of_memory;
mod thread;
mod tracker;

pub(crate) use allocation::{sampled_object_alloc, Allocation};
pub(crate) use class::{class_load, class_prepare};
pub(crate) use dump_request::data_dump_request;
pub(crate) use life_cycle::{vm_death, vm_init};
pub(crate) use monitor::{
    contended_enter, contended_entered, monitor_wait, monitor_waited, OfMonitor,
};
pub(crate) use out_of_memory::resource_exhausted;
pub(crate) use thread::{thread_end, thread_start};
pub(crate) use tracker::{
    class_file_load_hook, garbage_collection_finish, method_enter, method_exit, mount, new_array,
    new_arrays, object_init, unmount, ClassFileEvent,
};
