//! Facts about objects that are known before HotSpot dumps them.

use std::collections::HashMap;
use tables::{ClassId, TraceId};

/// A known fact about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// The object is the mirror of this class.
    Class(ClassId),
    /// This trace allocated the object.
    Allocated(TraceId),
    /// The object is a thread with these names.
    Thread(ThreadNames),
    /// The object is the thread that makes the dump.
    OwnThread,
    /// The object is the agent's own, and does not belong in a dump.
    Agents,
}

/// The known facts, by the JNI global reference to the object in HotSpot's file.
pub type KnownByReference = HashMap<u64, Known>;

/// A thread's name and the names of its groups, in modified UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadNames {
    /// Empty for a thread without a name, as most virtual threads are.
    pub name: Vec<u8>,
    /// Name of its group; empty for a thread that has ended and so has none.
    pub group: Vec<u8>,
    /// Name of the group's parent; empty if it has no parent.
    pub parent_group: Vec<u8>,
}
