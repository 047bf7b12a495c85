//! The snapshot engine for HotSpot: the process forks, the application runs on, the copy is read and written.
//!
//! In the parent: [`snapshot_dump`] leads, [`answers`] talks with the child, [`kept_objects`] and [`known_objects`] are what the check
//! needs, [`huge_pages`] and [`unused_heap`] make the pause short, [`forker`] forks in HotSpot's callback and notes the roots. In the
//! child: [`child`] leads, [`child_file`] writes its part of the file, [`crew`] has its threads, and the `snapshot` crate reads the heap.
//! Between them: [`message`]. [`process`] is what concerns processes, [`fork_handlers`] what libraries do in a fork.
//!
//! Unsafe code is in [`careful_reads`], [`childs_memory`], [`fork_handlers`], [`huge_pages`], [`own_thread`], [`process`] and
//! [`unused_heap`], and where the child gives itself leave to read.
#![allow(unsafe_code)]

mod answers;
mod careful_reads;
mod child;
mod child_file;
mod childs_memory;
mod crew;
mod fork_handlers;
mod forker;
mod huge_pages;
mod kept_objects;
mod known_objects;
mod message;
mod no_snapshot;
mod own_thread;
mod process;
mod silence;
mod snapshot_dump;
mod unused_heap;
mod virtual_thread_fields;
mod vm_structs;

pub(super) use kept_objects::{prepare, KeptObjects, AGENTS_TAG};
pub(super) use no_snapshot::NoSnapshot;
pub(super) use process::{Child, Ending};
pub(super) use snapshot_dump::{look_at_heap, SnapshotDump};
