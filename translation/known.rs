//! What is known of objects before HotSpot dumps them.

use std::collections::HashMap;
use tables::{ClassId, TraceId};

/// What is known of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is the mirror of this class.
    Class(ClassId),
    /// This trace allocated it.
    Allocated(TraceId),
    /// It is a thread of these names.
    Thread(ThreadNames),
    /// It is the thread that makes the dump.
    OwnThread,
    /// It is the agent's own, and does not belong in a dump.
    Agents,
}

/// What is known, by the JNI global reference that led to the object, as HotSpot's file has it.
pub type KnownByReference = HashMap<u64, Known>;

/// A thread's name and the names of its groups, in modified UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadNames {
    /// Empty for a thread without a name, as most virtual threads are.
    pub name: Vec<u8>,
    /// Name of its group; empty for a thread that has ended, which has none.
    pub group: Vec<u8>,
    /// Name of the group's parent; empty for the topmost group.
    pub parent_group: Vec<u8>,
}
