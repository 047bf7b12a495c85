//! What no specification of HotSpot promises: its structures, what the agent and the forked copy
//! read from them, its function for profilers, and its own heap dumper.
//!
//! So every user of what is read while the application runs has another way.
//!
//! Each read is `unsafe`; its comment says what keeps the memory mapped.
#![allow(unsafe_code)]

mod anchor;
pub mod anonymous_names;
mod call_arguments;
pub mod call_trace;
pub mod chance;
mod chunk_layout;
mod code_cache;
mod dump_structs;
pub mod escape_barrier;
mod exported;
pub mod flags;
mod interrupted;
mod java_frames;
mod layouts;
mod local_references;
mod management;
mod memory;
mod memory_areas;
mod method_names;
mod oop_maps;
mod passed_frames;
mod place;
mod reference;
mod reserved_heap;
mod return_address;
pub mod sampler;
mod scopes;
mod shared_heap;
mod stack_chunks;
mod standing_stacks;
mod tag_words;
mod thread_handles;
mod thread_list;
mod unused_heap;
mod upcalls;
pub mod vm_structs;
mod walk_filter;
mod weak_slots;
mod zgc;

pub use chunk_layout::{ChunkEnd, ChunkFacts, ChunkFields};
pub use dump_structs::VmStructs;
pub use interrupted::{Interrupted, Registers};
pub use java_frames::{JavaFrames, JavaStack};
pub use management::{stopped_by, Management};
pub use memory::Readable;
pub use memory_areas::MemoryAreas;
pub use reference::Reference;
pub use reserved_heap::{without, ReservedHeap};
pub use scopes::JavaFrame;
pub use shared_heap::{Mapped, SharedHeap, Uncopied};
pub use standing_stacks::{HeldInChunks, StandingStacks};
pub use tag_words::TagWords;
pub use thread_handles::ThreadHandles;
pub use unused_heap::UnusedHeap;
pub use walk_filter::{Variables, WalkFilter};
pub use weak_slots::WeakSlots;
