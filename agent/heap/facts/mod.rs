//! Facts: what is read from the JVM besides its heap: classes, threads, stacks, methods, profiles.

pub(super) mod allocation_traces;
pub(super) mod catalogue;
pub(super) mod jvm_words;
pub(super) mod kept_objects;
pub(super) mod memory_reserve;
pub(super) mod methods;
pub(super) mod own_room;
pub(super) mod plain_facts;
pub(super) mod roots;
mod stack_room;
pub(super) mod stacks;
pub(super) mod threads;
pub(super) mod told_methods;
pub(super) mod unlinked;
