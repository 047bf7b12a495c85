//! The snapshot engine for HotSpot: the process forks, the application runs on, the copy is read and written.
//!
//! In the parent: [`parent`] leads, [`answers`] talks with the child, [`known_objects`] are what the check needs, [`pause`] makes the
//! pause short, [`forker`] forks in HotSpot's callback and notes the roots. In the child: [`child`] leads, [`child_file`] writes its
//! part of the file, [`crew`] has its threads, and the `snapshot` crate reads the heap. Between them: [`message`], which ends with
//! what was [written](message::Written) or why there is [`NoSnapshot`]. [`process`] is what concerns processes, [`fork_handlers`] what
//! libraries do in a fork.
//!
//! Unsafe code is in [`careful_reads`], [`childs_memory`], [`fork_handlers`], [`own_thread`], [`process`] and [`pause`], and where the
//! child gives itself leave to read.
#![allow(unsafe_code)]

mod answers;
mod careful_reads;
mod child;
mod child_file;
mod childs_memory;
mod crew;
mod fork_handlers;
mod forker;
mod known_objects;
mod message;
mod no_snapshot;
mod own_thread;
mod parent;
mod pause;
mod process;
mod silence;
mod virtual_thread_fields;
mod vm_structs;

pub(super) use no_snapshot::NoSnapshot;
pub(super) use parent::{look_at_heap, SnapshotDump};
pub(super) use process::{Child, Ending};
