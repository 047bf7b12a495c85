//! Heap dumps: catalogue (classes, stacks) → roots → walk → file.
//!
//! [`dump`] leads; [`catalogue`] asks the JVM what classes there are, before the walk; [`portable`] walks
//! the heap inside the pause; [`threads`], [`stacks`] and [`methods`] make traces of what the walk and the
//! JVM tell of threads; [`stack_room`] shortens the pause where stacks are many and deep.

mod allocation_traces;
mod catalogue;
mod class_records;
mod dump;
mod error;
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
