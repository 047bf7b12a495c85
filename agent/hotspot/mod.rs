//! What HotSpot tells of its own structures, and what is read from them while the application runs: the calling thread's
//! stack; and its own heap dumper. (We read the heap in a copy of the process: [`crate::heap`].)
//!
//! Nobody promises any of it. Whoever uses it has another way, asks the JVM now and then whether both ways answer the
//! same, and leaves this one for good when they do not.
//!
//! Each read is behind `unsafe`, answered by what keeps the memory there.
#![allow(unsafe_code)]

pub(crate) mod call_trace;
mod code_cache;
mod exported;
pub(crate) mod flags;
mod interpreter;
mod interrupted;
mod management;
mod memory;
mod place;
pub(crate) mod sampler;
mod stack_walk;
mod tag_words;
pub(crate) mod vm_structs;
mod weak_slots;

pub(crate) use interrupted::{Interrupted, Registers};
pub(crate) use management::Management;
pub(crate) use stack_walk::{JavaCode, StackWalk};
pub(crate) use weak_slots::WeakSlots;
