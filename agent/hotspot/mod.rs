//! HotSpot's own structures, and what the agent reads from them while the application runs: the calling thread's stack;
//! and HotSpot's own heap dumper. (We read the heap in a copy of the process: [`crate::heap`].)
//!
//! No specification promises any of this. So every user has another way, compares both ways now and then, and gives
//! this one up for good if they differ.
//!
//! Each read is `unsafe`; its comment says what keeps the memory mapped.
#![allow(unsafe_code)]

mod call_arguments;
pub(crate) mod call_trace;
mod chunk_layout;
mod code_cache;
mod exported;
pub(crate) mod flags;
mod interpreter;
mod interrupted;
mod java_frames;
mod local_references;
mod management;
mod memory;
mod method_names;
mod oop_maps;
mod passed_frames;
mod place;
mod return_address;
pub(crate) mod sampler;
mod scopes;
mod stack_chunks;
mod stack_walk;
mod standing_stacks;
mod tag_words;
mod thread_handles;
mod thread_list;
mod upcalls;
pub(crate) mod vm_structs;
mod walk_filter;
mod weak_slots;

pub(crate) use chunk_layout::{ChunkEnd, ChunkFields};
pub(crate) use interrupted::{Interrupted, Registers};
pub(crate) use java_frames::{JavaFrames, JavaStack};
pub(crate) use management::Management;
pub(crate) use memory::Readable;
pub(crate) use scopes::JavaFrame;
pub(crate) use stack_walk::{JavaCode, StackWalk};
pub(crate) use standing_stacks::{HeldInChunks, Reference, StandingStacks};
pub(crate) use tag_words::TagWords;
pub(crate) use thread_handles::ThreadHandles;
pub(crate) use walk_filter::{Variables, WalkFilter};
pub(crate) use weak_slots::WeakSlots;
