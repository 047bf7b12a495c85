//! Facts: what both engines ask the JVM outside of the walk over its heap: classes, threads, stacks, methods, and what profiles know.

pub(super) mod allocation_traces;
mod anonymous_names;
pub(super) mod catalogue;
mod heap_room;
pub(super) mod kept_objects;
pub(super) mod methods;
pub(super) mod plain_facts;
pub(super) mod roots;
mod stack_room;
mod stacks;
pub(super) mod threads;
pub(super) mod unlinked;
pub(super) mod virtual_threads;
